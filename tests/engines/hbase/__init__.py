"""The real HBase among the engines under test: its tables, its time, and the steps taken on it."""
