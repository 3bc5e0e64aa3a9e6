"""Many repositories -> one record each, on processes or on Ray."""
