"""Companions of a table: full copies with other keys, written and read together with it."""
