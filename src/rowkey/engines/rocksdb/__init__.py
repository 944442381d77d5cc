"""The organs of the engine `rocks`: how cells, regions and descriptions lie in RocksDB."""

from rowkey.engines.rocksdb.locking import lock_directory
from rowkey.engines.rocksdb.mending import Mended, mend
from rowkey.engines.rocksdb.options import check_codecs
from rowkey.engines.rocksdb.store import RocksStore
from rowkey.engines.rocksdb.tables import OpenTable

__all__ = ["Mended", "OpenTable", "RocksStore", "check_codecs", "lock_directory", "mend"]
