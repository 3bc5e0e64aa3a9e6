"""The command line, as `samedevice` and as `python -m samedevice`.

`python -m` has put the working directory first on the path. It goes before anything else is
imported: it may be a project that means harm.
"""

from .outside.python import leave_folder


def main() -> None:
    """Run the command line."""
    leave_folder()
    from .cli import main as run

    run()


if __name__ == "__main__":
    main()
