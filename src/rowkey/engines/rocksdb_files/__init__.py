"""Reads and checks the files of a RocksDB database and of a table without RocksDB."""
