"""A small lab."""
