"""The commands of `rowkey`: one file each, with a click command named `command`."""
