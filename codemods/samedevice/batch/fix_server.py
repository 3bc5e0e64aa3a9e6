"""Imported by the process that the fixes are forked from, and by nothing else."""

from .fix import warm_up

warm_up()
