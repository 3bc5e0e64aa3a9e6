"""Execution as the oracle of the inference."""
