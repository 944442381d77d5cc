"""Parts of the engine `rocks`: how RocksDB stores cells, regions and descriptions."""

from rowkey.engines.rocksdb.open_table import OpenTable
from rowkey.engines.rocksdb.options import check_codecs
from rowkey.engines.rocksdb.store import RocksStore

__all__ = ["OpenTable", "RocksStore", "check_codecs"]
