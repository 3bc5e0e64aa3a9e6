"""What an edit asks is a tensor for every value that can arrive there: a generated family."""
