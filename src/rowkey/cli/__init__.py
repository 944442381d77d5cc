"""The command `rowkey`: one verb a file, found by folder."""

from rowkey.cli.group import main

__all__ = ["main"]
