"""The smallest programs of causes: what `fix` does to them, and what it should do.

`cases.toml` says what should happen to each folder of `programs/`; what does not happen yet stands
there with its cause, under `pending`. `python -m tests.cases` shows it.
"""
