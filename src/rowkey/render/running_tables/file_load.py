"""What `create` and `load` did, as lines of text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rowkey.messages import Message

if TYPE_CHECKING:
    from rowkey.table import FileLoadResult


def format_load_result(result: FileLoadResult) -> Iterator[str]:
    """Yield what a load wrote, and what it assumed."""
    yield Message("load.written", "{rows} written", rows=format_row_count(result.row_count))
    if result.repeat_count:
        rows = format_row_count(result.repeat_count)
        if not result.is_exact_count:
            rows = Message("load.about", "about {rows}", rows=rows)
        yield Message(
            "load.repeated",
            "{rows} with the row key of another row of the file; of rows with the same key, the "
            "last written is read",
            rows=rows,
        )
    if result.absent_fields:
        names = ", ".join(result.absent_fields)
        yield Message("load.absent", "the file has no column for {names}: left null", names=names)
    for one in result.assumptions:
        yield Message("load.assumed", "assumed: {sentence}", sentence=one)


def format_left_out_rows(result: FileLoadResult) -> Iterator[str]:
    """Yield how many rows of a file were left out, and the first of them with the reasons."""
    if not result.left_out.count:
        return
    yield Message("load.left_out", "{rows} left out:", rows=format_row_count(result.left_out.count))
    for problem in result.problems:
        yield f"  {problem}"
    if hidden_count := result.left_out.count - len(result.problems):
        yield Message("load.more", "  and {count} more", count=f"{hidden_count:,}")


def format_created_table(name: str, region_count: int, families: Iterable[str]) -> str:
    """Return the line about a table that was created.

    Args:
        families: the names of its families.

    >>> format_created_table("logs", 16, ["d"])
    'logs: created with 16 regions, families d'
    """
    regions = (
        Message("count.region", "1 region")
        if region_count == 1
        else Message("count.regions", "{number} regions", number=f"{region_count:,}")
    )
    return Message(
        "load.created",
        "{name}: created with {regions}, families {families}",
        name=name,
        regions=regions,
        families=", ".join(families),
    )


def format_row_count(count: int) -> Message:
    """Return a number of rows as a message.

    >>> format_row_count(1), format_row_count(2_000)
    ('1 row', '2,000 rows')
    """
    if count == 1:
        return Message("count.row", "1 row")
    return Message("count.rows", "{number} rows", number=f"{count:,}")
