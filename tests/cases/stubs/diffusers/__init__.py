"""As much of diffusers as the programs use."""
