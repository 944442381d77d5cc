"""Encoding and decoding of many rows at once; needs NumPy, and is imported at first use."""
