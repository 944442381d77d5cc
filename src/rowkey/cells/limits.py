"""What HBase refuses to store, as numbers."""

from __future__ import annotations

MAX_ROW_BYTES = 32_767
"""Longest row key; the shortest is 1. Source: HConstants.MAX_ROW_LENGTH, 2 bytes on disk."""

MAX_FAMILY_BYTES = 127
"""Longest name of a family. Source: a 1-byte signed length in KeyValue, Byte.MAX_VALUE."""

MAX_CELL_BYTES = 10_485_760
"""Largest cell by default, all its parts. Source: hbase.server.keyvalue.maxsize, 10 MiB."""

MAX_READ_ROW_BYTES = 1_073_741_824
"""Largest row one read returns by default. Source: hbase.table.max.rowsize, 1 GiB."""

MAX_TABLE_NAME_BYTES = 255
"""Longest namespace or table qualifier: each is one directory.

Source: HDFS dfs.namenode.fs-limits.max-component-length.
"""

MAX_JAVA_INT = 2_147_483_647
"""Greatest value of an attribute that Java keeps as an int. Source: Integer.MAX_VALUE."""

FOREVER_S = MAX_JAVA_INT
"""The time to live that never ends, in seconds. Source: HConstants.FOREVER."""

META_ROW_OVERHEAD_BYTES = 49
"""Bytes that a region's row in hbase:meta has beside table and start key.

Two commas, 13 digits of time, two points and a dash-less hash: `table,start,time.md5.` is
1 + 1 + 13 + 1 + 32 + 1. Source: RegionInfo.createRegionName; measured on 2.6.4.
"""
