"""Encoding and decoding of many rows at once, on NumPy arrays."""
