"""Finds the server of each row, and caches the regions until an error invalidates them."""

from rowkey.hbase.locations.region_location import RegionLocation
from rowkey.hbase.locations.region_locator import RegionLocator

__all__ = ["RegionLocation", "RegionLocator"]
