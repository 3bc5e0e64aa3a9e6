"""Whether the inference is right: an oracle, relations, and a suite of the language."""
