"""The values of a sample: converted to the types of their fields, or rejected."""
