"""Figures as a person reads them: loads, shares, counts, lengths of time and of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.render.page.words import Words


def times(value: float | None) -> str:
    """A load as a multiple, without its sign.

    >>> times(8.0), times(1.0499), times(12.34), times(None)
    ('8.00', '1.05', '12.3', '–')
    """
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}"


def share(value: float) -> str:
    """A share in per cent.

    >>> share(0.0625), share(1.0), share(0.0004)
    ('6.2%', '100%', '0.04%')
    """
    if value >= 0.1 or not value:
        return f"{value:.0%}"
    return f"{value:.1%}" if value >= 0.001 else f"{value:.2%}"


def count(value: float | None) -> str:
    """A number of things; one decimal where it is small and not whole.

    >>> count(16.0), count(1.24), count(12345.6), count(None)
    ('16', '1.2', '12,346', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.1f}"


def width(least: int, most: int | None, words: Words) -> str:
    """A length in bytes, or from one to another.

    >>> from rowkey.render.page.words import Words
    >>> width(1, 1, Words("en")), width(8, 8, Words("en")), width(3, None, Words("en"))
    ('1 byte', '8 bytes', '3 bytes or more')
    """
    if most is None:
        return words("key.bytes_from", least=f"{least:,}")
    if least == most:
        return words("key.bytes_one" if least == 1 else "key.bytes_exact", least=f"{least:,}")
    return words("key.bytes_from_to", least=f"{least:,}", most=f"{most:,}")


def offset(least: int, most: int | None) -> str:
    """Where a part begins.

    >>> offset(0, 0), offset(2, 41), offset(2, None)
    ('0', '2–41', '2+')
    """
    if most is None:
        return f"{least:,}+"
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def measured(value: float) -> str:
    """A figure of a measure: counts whole, means with as many decimals as tell them apart.

    >>> measured(16.0), measured(1.126), measured(53.84), measured(2896.1), measured(0.0004)
    ('16', '1.13', '53.8', '2,896', '0.00')
    """
    if value == int(value) or value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def size(value: float) -> str:
    """A number of bytes.

    >>> size(131.0), size(22_054_191), size(5.2e9)
    ('131 B', '22.1 MB', '5.20 GB')
    """
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= length:
            return f"{measured(value / length)} {unit}"
    return f"{value:,.0f} B"
