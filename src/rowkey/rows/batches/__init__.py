"""The same for many rows at once: all of this needs NumPy, and is loaded when it is asked for."""
