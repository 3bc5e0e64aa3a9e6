"""It registers environments with gym; the programs that are run here use others."""
