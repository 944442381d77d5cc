"""Lets `python -m rowkey` be the command where `rowkey` is not on the path."""

from rowkey.cli import main

if __name__ == "__main__":
    main()
