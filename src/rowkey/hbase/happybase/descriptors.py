"""Families and regions in the words of happybase, which are those of Thrift's structures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import FOREVER_S, bind_family
from rowkey.errors import shown
from rowkey.hbase.happybase.arguments import WrongType, as_text, wrong_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.cells import Family
    from rowkey.hbase.locations import Region

OPTIONS: dict[str, Any] = {
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


def as_family(name: object, options: Mapping[str, Any]) -> Family:
    """A family by happybase's options.

    Args:
        name: with or without a colon behind it.
        options: by happybase's words.

    Raises:
        WrongType: an option is unknown, or of another type.
        DeclarationError: HBase does not take a value.

    Source: ThriftUtilities.colDescFromThrift.
    """
    family = as_text("families", name).removesuffix(":")
    if not hasattr(options, "items"):
        raise wrong_type(f"families.{family}", options, "a dictionary, or None")
    for word in options:
        if word not in OPTIONS:
            raise WrongType(f"families.{family}", f"{shown(word)} is unknown", ", ".join(OPTIONS))
    told = {**OPTIONS, **options}
    live = told["time_to_live"]
    lives = isinstance(live, int) and live <= 0
    return bind_family(
        family,
        {
            "versions": told["max_versions"],
            "compression": as_text("compression", told["compression"]).upper(),
            "in_memory": bool(told["in_memory"]),
            "bloom": as_text("bloom_filter_type", told["bloom_filter_type"]),
            "block_cache": bool(told["block_cache_enabled"]),
            "ttl": FOREVER_S if lives else live,
        },
    )


def family_dict(family: Family) -> dict[str, Any]:
    """A family as `Table.families` tells it. Source: ThriftUtilities.columnDescFromHbase."""
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


def region_dict(region: Region) -> dict[str, Any]:
    """A region as `Table.regions` tells it. Source: ThriftHBaseServiceHandler.getTableRegions."""
    return {
        "start_key": region.start,
        "end_key": region.stop,
        "id": region.region_id,
        "name": region.name,
        "version": 1,
        "server_name": region.server.host.encode(),
        "port": region.server.port,
    }
