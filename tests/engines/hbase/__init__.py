"""The real HBase as an engine under test: its tables, its clock, and the steps on it."""
