"""Columnar files: the sizes they declare are checked before they are used."""
