"""Convert families and regions to and from happybase's dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowkey.cells import FOREVER_S, Family, bind_family
from rowkey.happybase.arguments import WrongArgumentType, build_type_error, to_text
from rowkey.hbase import RegionLocation
from rowkey.messages import format_value

FAMILY_DEFAULTS: dict[str, Any] = {
    "max_versions": 3,
    "compression": "NONE",
    "in_memory": False,
    "bloom_filter_type": "NONE",
    "bloom_filter_vector_size": 0,
    "bloom_filter_nb_hashes": 0,
    "block_cache_enabled": False,
    "time_to_live": -1,
}
"""Every option of a family and its default. Source: Hbase.thrift, ColumnDescriptor."""


def parse_family(name: object, options: Mapping[str, Any]) -> Family:
    """Convert happybase's options of a column family to a `Family`.

    Args:
        name: the family's name, with or without a trailing colon.

    Raises:
        WrongArgumentType: an option is unknown or has the wrong type.
        InvalidDesign: HBase does not accept the value of an option.

    Source: ThriftUtilities.colDescFromThrift.
    """
    family = to_text("families", name).removesuffix(":")
    if not hasattr(options, "items"):
        raise build_type_error(f"families.{family}", options, "a dictionary, or None")
    for key in options:
        if key not in FAMILY_DEFAULTS:
            what = f"{format_value(key)} is not an option of a family"
            allowed = f"one of {', '.join(FAMILY_DEFAULTS)}"
            raise WrongArgumentType(f"families.{family}", what, allowed)
    values = {**FAMILY_DEFAULTS, **options}
    ttl = values["time_to_live"]
    is_forever = isinstance(ttl, int) and ttl <= 0
    return bind_family(
        family,
        {
            "versions": values["max_versions"],
            "compression": to_text("compression", values["compression"]).upper(),
            "in_memory": bool(values["in_memory"]),
            "bloom": to_text("bloom_filter_type", values["bloom_filter_type"]),
            "block_cache": bool(values["block_cache_enabled"]),
            "ttl": FOREVER_S if is_forever else ttl,
        },
    )


def to_family_dict(family: Family) -> dict[str, Any]:
    """Convert a column family to a dictionary, as `Table.families` returns it.

    Source: ThriftUtilities.columnDescFromHbase.
    """
    return {
        "name": family.name.encode() + b":",
        "max_versions": family.versions,
        "compression": family.compression.encode(),
        "in_memory": family.in_memory,
        "bloom_filter_type": family.bloom.partition("(")[0].encode(),
        "bloom_filter_vector_size": 0,
        "bloom_filter_nb_hashes": 0,
        "block_cache_enabled": family.block_cache,
        "time_to_live": family.ttl_s,
    }


def to_region_dict(region: RegionLocation) -> dict[str, Any]:
    """Convert a region to a dictionary, as `Table.regions` returns it.

    Source: ThriftHBaseServiceHandler.getTableRegions.
    """
    return {
        "start_key": region.start,
        "end_key": region.stop,
        "id": region.region_id,
        "name": region.name,
        "version": 1,
        "server_name": region.server.host.encode(),
        "port": region.server.port,
    }
