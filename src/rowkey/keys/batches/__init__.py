"""Many rows at once: the values of a column, and the bytes of a part."""
