"""One package, so that two modules of one name in two folders are two."""
