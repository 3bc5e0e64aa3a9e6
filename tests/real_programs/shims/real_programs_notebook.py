"""Execute a notebook from top to bottom and print what its cells print."""

from __future__ import annotations

import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def main(path: str) -> int:
    """Run the notebook at ``path``; 1 where a cell raises."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=None, kernel_name="python3")
    status = 0
    try:
        client.execute()
    except CellExecutionError as error:
        # A cell that leaves with status 0 ends the program, as at the end of its budget.
        if (error.ename, error.evalue) != ("SystemExit", "0"):
            status = 1
        print(str(error)[-3000:], file=sys.stderr)
        print(f"{error.ename}: {error.evalue}", file=sys.stderr)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stdout":
                print(output.text, end="")  # one stream may arrive in several parts
            elif output.output_type in ("execute_result", "display_data"):
                print(output.data.get("text/plain", ""))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
