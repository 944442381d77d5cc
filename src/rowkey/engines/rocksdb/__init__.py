"""The parts of the engine `rocks`: how cells, regions and descriptions lie in RocksDB."""

from rowkey.engines.rocksdb.open_table import OpenTable
from rowkey.engines.rocksdb.options import check_codecs
from rowkey.engines.rocksdb.store import RocksStore

__all__ = ["OpenTable", "RocksStore", "check_codecs"]
