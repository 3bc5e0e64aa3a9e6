"""As much of matplotlib as the programs use."""
