"""As much of Accelerate as the programs use."""

from __future__ import annotations


class Accelerator:
    """It decides the device of what it prepares; nothing is prepared here."""
