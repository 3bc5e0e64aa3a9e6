"""`python -m samedevice`: the command line of this very interpreter, as editors start it."""

from .cli import main

if __name__ == "__main__":
    main()
