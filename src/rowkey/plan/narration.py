"""An explanation told in lines that a person reads in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.plan.explanation import Explanation

_ORDERS = {
    "forwards": "as asked; ranges are merged by what follows their prefixes",
    "backwards": "as asked; ranges are read backwards and merged by what follows their prefixes",
    "sorted": "sorted in memory",
}


def lines_of(found: Explanation, name: str = "") -> Iterator[str]:
    """An explanation as lines of text: a word of what is told, then what is.

    Args:
        found: the explanation.
        name: what the read is called, or an empty string.
    """
    yield _line("read", f"{name}: {_asked(found)}" if name else _asked(found))
    yield _line("key", found.key)
    yield _line("runs", _runs(found))
    for number, one in enumerate(found.ranges):
        yield _line("" if number else "ranges", one.words)
    if found.fan_out > len(found.ranges):
        yield _line("", f"… {found.fan_out:,} in all")
    if found.residual:
        yield _line("tests", f"{', '.join(found.residual)} of each row, after reading")
    if found.fan_out:
        yield from _order(found)
    if found.rows_read is not None:
        yield _line("reads", f"{_number(found.rows_read)} for each row of the answer")
    for warning in found.warnings:
        yield _line("note", f"{warning}.")
    yield from _proposal(found)


def _line(word: str, text: str) -> str:
    return f"{word:8}{text}"


def _asked(found: Explanation) -> str:
    """The read as it was asked."""
    text = " and ".join(found.conditions) or "all rows"
    if found.order:
        text += f", order {', '.join(found.order)}"
    return text if found.limit is None else f"{text}, limit {found.limit:,}"


def _runs(found: Explanation) -> str:
    """How many ranges are read, and what they are made of."""
    if found.runs == "nothing":
        return "not at all: no row can meet what is asked"
    what = "key" if found.runs == "get" else "range"
    text = f"as a {found.runs} of {found.fan_out:,} {what}{'' if found.fan_out == 1 else 's'}"
    if found.pinned:
        verb = "has" if len(found.pinned) == 1 else "have"
        text += f"; {', '.join(found.pinned)} {verb} constant bytes in each"
    return f"{text}; a stretch of {found.narrowed}" if found.narrowed else text


def _order(found: Explanation) -> Iterator[str]:
    if found.served in _ORDERS:
        yield _line("order", _ORDERS[found.served])
    elif found.comes_in and found.runs != "get":
        yield _line("order", f"none asked for; rows come by {', '.join(found.comes_in)}")


def _number(rows: float) -> str:
    count = f"{rows:,.0f}" if rows >= 10 else f"{rows:.2g}"
    return f"{count} row" if count == "1" else f"about {count} rows"


def _proposal(found: Explanation) -> Iterator[str]:
    """The key that would serve the read, and what it takes."""
    new = found.proposal
    if new is None:
        return
    ranges = f"{new.fan_out:,} range{'' if new.fan_out == 1 else 's'}"
    yield _line("propose", f"{new.key} would serve it from {ranges}")
    if new.moved:
        columns = "is a column" if len(new.moved) == 1 else "are columns"
        yield _line(
            "", f"{', '.join(new.moved)} {columns} now; declare nullable what rows may lack"
        )
    yield _line("", "see what it does to the other reads, and to the spread of the writes")
