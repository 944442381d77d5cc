"""Formats figures for people: loads, shares, counts, durations and sizes."""

from __future__ import annotations

from rowkey.render.languages import Translator


def format_load(value: float | None) -> str:
    """Return a load as a multiple of the fair share, without the × sign.

    >>> format_load(8.0), format_load(1.0499), format_load(12.34), format_load(None)
    ('8.00', '1.05', '12.3', '–')
    """
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}"


def format_share(value: float) -> str:
    """Return a share as a percentage.

    >>> format_share(0.0625), format_share(1.0), format_share(0.0004)
    ('6.2%', '100%', '0.04%')
    """
    if value >= 0.1 or not value:
        return f"{value:.0%}"
    return f"{value:.1%}" if value >= 0.001 else f"{value:.2%}"


def format_count(value: float | None) -> str:
    """Return a count as text, with one decimal if it is small and not whole.

    >>> format_count(16.0), format_count(1.24), format_count(12345.6), format_count(None)
    ('16', '1.2', '12,346', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.1f}"


def format_width(least: int, most: int | None, translator: Translator) -> str:
    """Return the length of a key part in bytes, or the range of its lengths.

    >>> from rowkey.render.languages import Translator
    >>> en = Translator("en")
    >>> format_width(1, 1, en), format_width(8, 8, en), format_width(3, None, en)
    ('1 byte', '8 bytes', '3 bytes or more')
    """
    if most is None:
        return translator("key.bytes_from", least=f"{least:,}")
    if least == most:
        return translator("key.bytes_one" if least == 1 else "key.bytes_exact", least=f"{least:,}")
    return translator("key.bytes_from_to", least=f"{least:,}", most=f"{most:,}")


def format_offset(least: int, most: int | None) -> str:
    """Return the byte offset of a key part, or the range of its offsets.

    >>> format_offset(0, 0), format_offset(2, 41), format_offset(2, None)
    ('0', '2–41', '2+')
    """
    if most is None:
        return f"{least:,}+"
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def format_measure(value: float) -> str:
    """Return a figure as text: counts whole, means with up to two decimals.

    >>> format_measure(16.0), format_measure(1.126), format_measure(53.84)
    ('16', '1.13', '53.8')
    >>> format_measure(2896.1), format_measure(0.0004)
    ('2,896', '0.00')
    """
    if value == int(value) or value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def format_size(value: float) -> str:
    """Return a number of bytes with a unit.

    >>> format_size(131.0), format_size(22_054_191), format_size(5.2e9)
    ('131 B', '22.1 MB', '5.20 GB')
    """
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= length:
            return f"{format_measure(value / length)} {unit}"
    return f"{value:,.0f} B"
