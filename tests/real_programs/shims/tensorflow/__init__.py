"""Stands in for TensorFlow 1, of which PyTorch programs of that time borrowed a data reader.

Only with ``REAL_PROGRAMS_TENSORFLOW`` set: other libraries look whether TensorFlow is there.
"""

import os

if not os.environ.get("REAL_PROGRAMS_TENSORFLOW"):
    raise ImportError("no tensorflow here")
