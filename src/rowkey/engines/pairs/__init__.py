"""Cells as RocksDB stores them: pairs of keys and values, written, read and parsed."""
