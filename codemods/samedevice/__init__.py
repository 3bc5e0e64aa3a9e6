"""A type checker for where PyTorch tensors live, and a codemod that repairs what it finds."""

__version__ = "0.1.0"
