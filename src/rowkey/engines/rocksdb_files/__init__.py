"""The files of a RocksDB and of a table, read and checked without RocksDB."""
