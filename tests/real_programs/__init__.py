"""Real programs of public repositories, run before and after ``samedevice fix``.

``python -m tests.real_programs --corpus DIR`` needs checkouts of the repositories that
``programs.toml`` names, as ``DIR/<owner>+<name>``. Nothing of theirs is kept here.
"""
