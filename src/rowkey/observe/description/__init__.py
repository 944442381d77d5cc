"""Describe a live table as a design file, from its attributes and a sample of its rows."""

from rowkey.observe.description.table_description import TableDescription, describe_table

__all__ = ["TableDescription", "describe_table"]
