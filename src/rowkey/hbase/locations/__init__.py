"""Finds the server of each row, and caches the regions until an error invalidates them."""

from rowkey.hbase.locations.region_locator import RegionLocator
from rowkey.hbase.locations.region_map import RegionLocation

__all__ = ["RegionLocation", "RegionLocator"]
