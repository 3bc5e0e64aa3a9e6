"""Models."""

from . import detection as detection
