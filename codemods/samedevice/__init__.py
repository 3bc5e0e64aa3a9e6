"""A type checker for where PyTorch tensors live, and a codemod that repairs what it finds."""

# It imports nothing: a module of Python's own could come from the working directory here.
__version__ = "0.1.0"

_LIVE = ("excepthook", "load_ipython_extension", "unload_ipython_extension")


def __getattr__(name: str) -> object:
    """Return what programs and notebooks use; it is loaded when an error asks for it."""
    if name in _LIVE:
        import importlib

        return getattr(importlib.import_module("samedevice.live"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
