"""Stands in for a module that TensorFlow 1 had."""
