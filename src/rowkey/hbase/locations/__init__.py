"""Which server holds a row: the regions of each table, kept until an error says otherwise."""

from rowkey.hbase.locations.locations import Locations
from rowkey.hbase.locations.region import Region

__all__ = ["Locations", "Region"]
