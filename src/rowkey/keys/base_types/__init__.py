"""Base classes of the field types in `fields`, and the values that each type has."""
