"""Codecs: how the internal forms of a field become bytes, and back."""
