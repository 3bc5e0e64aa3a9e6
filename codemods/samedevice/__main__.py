"""The command line, as `samedevice` and as `python -m samedevice`.

`python -m` puts the working directory first on the path. It is taken off before anything else is
imported, since the project there may be hostile.
"""

from .outside.python import leave_folder


def main() -> None:
    """Run the command line."""
    leave_folder()
    from .cli import main as run

    run()


if __name__ == "__main__":
    main()
