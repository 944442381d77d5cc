"""Cells as RocksDB keeps them: pairs of keys and values, written, read and taken apart."""
