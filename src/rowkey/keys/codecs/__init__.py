"""How held values of a field become bytes, and back."""
