"""A filter that wants an array or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def savgol_filter(x: Any, window_length: int, polyorder: int) -> np.ndarray[Any, Any]:
    return np.convolve(np.asarray(x, float), np.ones(window_length) / window_length, "same")
