"""Rows as CSV: exact for `load`, escaped on a terminal, or guarded for a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rowkey.errors import InvalidArgument
from rowkey.messages import escape_text, pluralize

FORMULA_STARTS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""First characters of a cell that a spreadsheet may run as a formula; the last four are the
full-width forms of the first four.

Source: OWASP, CSV Injection.
"""

_NEEDS_QUOTES = re.compile(r'[,"\r\n]').search
"""Finds a character that would end a cell without quotes."""


class CsvEncoder:
    """Encodes rows as lines of CSV, and counts the cells that a spreadsheet may run as formulas.

    Args:
        names: the columns, in order.
        text_columns: those of them that hold text; numbers and times are no formulas.
        guards_formulas: whether a cell that may run gets a ' in front.
        escapes_controls: whether characters that do not print are written as escapes.

    >>> encoder = CsvEncoder(["a", "n"], {"a"}, guards_formulas=True, escapes_controls=False)
    >>> print("".join(encoder.encode_lines([{"a": "=1+1", "n": -5}])), encoder.n_formulas)
    a,n
    '=1+1,-5
     1
    """

    def __init__(
        self,
        names: Sequence[str],
        text_columns: Iterable[str],
        *,
        guards_formulas: bool,
        escapes_controls: bool,
    ) -> None:
        self._names = list(names)
        self._text_columns = [self._names.index(name) for name in text_columns]
        self._guards_formulas = guards_formulas
        self._escapes_controls = escapes_controls
        self.n_formulas = 0

    def encode_lines(self, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
        """Yield the header line, then a CSV line for each row.

        Raises:
            InvalidArgument: the only column has a null, which CSV would write as an empty line.
        """
        yield self._encode_line([*self._names], range(len(self._names)))
        for row in rows:
            yield self._encode_line([row[name] for name in self._names], self._text_columns)

    def format_notes(self) -> list[str]:
        """Return a note about cells that a spreadsheet may run as formulas, if there are any."""
        if not self.n_formulas:
            return []
        cells = pluralize(self.n_formulas, "text cell")
        if self._guards_formulas:
            return [
                f"a ' is put before {cells} that look like formulas; do not load the file again"
            ]
        begins = "begins" if self.n_formulas == 1 else "begin"
        what = f"{cells} {begins} with =, +, -, @, a tab or a line end"
        risk = "which a spreadsheet may run as a formula"
        return [f"{what}, {risk}; write CSV for a spreadsheet with --spreadsheet"]

    def _encode_line(self, cells: list[Any], text_columns: Iterable[int]) -> str:
        """Return cells as one CSV line; count and guard cells that look like formulas.

        Raises:
            InvalidArgument: the only cell of a line is null, which CSV cannot show.
        """
        for at in text_columns:
            text = cells[at]
            if text and text[0] in FORMULA_STARTS:
                self.n_formulas += 1
                if self._guards_formulas:
                    cells[at] = f"'{text}"
        if self._escapes_controls:
            cells = [cell if cell is None else escape_text(_format_value(cell)) for cell in cells]
        line = ",".join(map(_encode_cell, cells))
        if not line:
            what = "a CSV file with only one column cannot have a null"
            remedy = "Use another format, such as -f jsonl."
            raise InvalidArgument(self._names[0], what, remedy=remedy)
        return f"{line}\n"


def _encode_cell(value: Any) -> str:
    """Return a value as CSV: nothing for null, two quotes for an empty text."""
    if value is None:
        return ""
    text = _format_value(value)
    if text and not _NEEDS_QUOTES(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _format_value(value: Any) -> str:
    """Return a value as text, with true and false in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)
