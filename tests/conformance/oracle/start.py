"""Start `observe` under a name of its own: the programs that it runs may have any other."""

import importlib.util
import sys
from pathlib import Path

NAME = "samedevice_oracle"
HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    del sys.path[0]
    spec = importlib.util.spec_from_file_location(
        NAME, HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    assert spec is not None and spec.loader is not None
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])
    importlib.import_module(f"{NAME}.observe").main(sys.argv[1:])
