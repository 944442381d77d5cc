"""Groups neighbouring regions whose keys begin with the same values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowkey.errors import InvalidArgument
from rowkey.keys import Key


@dataclass(frozen=True, slots=True)
class PrefixGroups:
    """Regions grouped by the first bytes of their keys.

    Args:
        groups: the group of each region, from 0 and in key order.
        prefixes: what the keys of each group begin with; empty for a group from the first row on.
    """

    groups: Sequence[int]
    prefixes: Sequence[bytes]


def group_by_prefix(key: Key, starts: Sequence[bytes]) -> PrefixGroups:
    """Return the regions grouped by as many leading parts of the key as tell some of them apart.

    A region belongs to the values with which its first possible key begins; it may end within
    later ones.

    Args:
        starts: the first possible key of each region in ascending order; the first is empty.
    """
    found = PrefixGroups([0] * len(starts), [b""])
    for count in range(1, len(key.parts) + 1):
        if len(found.prefixes) > 1:
            break
        found = _group(key, starts, count)
    return found


def _group(key: Key, starts: Sequence[bytes], count: int) -> PrefixGroups:
    """Return the regions grouped by the first parts of the key."""
    groups: list[int] = []
    prefixes: list[bytes] = []
    for start in starts:
        prefix = _find_prefix(key, start, count)
        # No key is before one that begins with zeros, which all keys of the first region then do.
        continues = len(prefixes) == 1 and not prefixes[0] and not prefix.strip(b"\0")
        if not prefixes or (prefix != prefixes[-1] and not continues):
            prefixes.append(prefix)
        elif continues:
            prefixes[0] = prefix
        groups.append(len(prefixes) - 1)
    return PrefixGroups(groups, prefixes)


def _find_prefix(key: Key, start: bytes, count: int) -> bytes:
    """Return the bytes of the first parts of a key, or all of it if it ends within these."""
    at = 0
    for part in key.parts[:count]:
        try:
            at = part.find_end(start, at)
        except InvalidArgument:
            return start
    return start[:at]
