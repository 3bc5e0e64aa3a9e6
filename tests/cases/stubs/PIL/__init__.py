"""As much of Pillow as the programs use."""
