"""A project -> what is wrong in it, and the project repaired: check, rewrite, check again."""
