from .heads import Head
from .trunk import Trunk

__all__ = ["Head", "Trunk"]
