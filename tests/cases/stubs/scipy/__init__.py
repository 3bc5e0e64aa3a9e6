"""As much of SciPy as the programs use."""
