"""Patterns of log lines, such as `{client} [{time:%d/%b/%Y:%H:%M:%S %z}] {}`.

A pattern is fixed text and names in braces. It becomes a regular expression of RE2, whose time is
linear in the line, whatever the pattern is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument
from rowkey.messages import suggest_name
from rowkey.workload.values.time_layouts import (
    COUNT_LAYOUTS,
    UNCERTAIN_ZONES,
    ZONE,
    CountLayout,
    DirectiveLayout,
    TimeLayout,
    build_pattern,
)

MAX_TOKENS = 64
MAX_PATTERN_CHARACTERS = 4_096
_TOKEN = re.compile(r"\{([^{}]*)\}")
_COLUMN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KINDS = {"word": "[^ ]+", "int": "[0-9]+", "quoted": r'(?:[^"\\]|\\.)*', "spaces": " +"}
"""Kinds of values that a name may have after a colon, with their regular expressions."""
_ZONE_GROUP = "0zone"
"""The name of the zone in a probe, which no column can have."""
_ZONE_PROBE = rf" ?(?P<{_ZONE_GROUP}>{ZONE}|{'|'.join(UNCERTAIN_ZONES)})(?:[^0-9A-Za-z:.,]|$)"
_IS_UTC = "^(?:Z|UTC|GMT|WET|[+-]00:?(?:00)?)$"
_TIME_GROUP = re.compile(r"\?P<\w>")


@dataclass(frozen=True, slots=True)
class _Token:
    """A name in braces.

    Args:
        name: the column; empty for text that is skipped.
        layout: the layout of a time, or None.
        expression: its regular expression; empty for any text up to what follows.
    """

    name: str
    layout: TimeLayout | None
    expression: str


class LinePattern:
    """Splits lines of one shape into columns.

    Args:
        text: fixed text and names in braces.

    Raises:
        InvalidArgument: the text is no pattern.
    """

    def __init__(self, text: str) -> None:
        pieces = _TOKEN.split(text)
        head, raw_names, separators = pieces[0], pieces[1::2], pieces[2::2]
        _check_pattern(text, raw_names)
        tokens = [_parse_token(name) for name in raw_names]
        is_open = [not token.expression for token in tokens]
        for number, separator in enumerate(separators[:-1]):
            if not separator and is_open[number] and is_open[number + 1]:
                raise InvalidArgument(
                    "pattern",
                    "two names follow each other without text between them",
                    "fixed text between names, such as {host} {path}",
                )
        self.columns = [token.name for token in tokens if token.name]
        for name in self.columns:
            if self.columns.count(name) > 1:
                raise InvalidArgument(
                    "pattern", f"the name {name!r} occurs twice", "each name once"
                )
        self.time_layouts = {t.name: t.layout for t in tokens if t.layout is not None and t.name}
        expression = re.escape(head)
        self._zone_probes: dict[str, str] = {}
        """By a column of times without a zone: finds the zone that follows, in RE2."""
        self._signed_columns: set[str] = set()
        """Columns of times before another column, to which a number with a sign belongs."""
        for number, (token, separator) in enumerate(zip(tokens, separators, strict=True)):
            is_last = number == len(tokens) - 1 and not separator
            expression += _build_group(token, is_last=is_last)
            if _has_clock_without_zone(token.layout):
                if not separator.strip() and any(one.name for one in tokens[number + 1 :][:1]):
                    self._signed_columns.add(token.name)
                self._zone_probes[token.name] = f"(?s)^{expression}{_ZONE_PROBE}"
            expression += re.escape(separator)
        self._expression = f"(?s)^{expression}{'$' if not separators[-1] else ''}"

    def parse_lines(self, lines: pa.Array) -> pa.Array:
        """Return the columns of lines as a struct; null where a line does not follow."""
        return pc.extract_regex(lines, self._expression)

    def find_unread_zone(self, lines: pa.Array) -> tuple[str, str] | None:
        """Return a column of times after which most lines have a zone that is not read, and one.

        Zones that are UTC do not count, for times without a zone are read so.
        """
        for column, probe in self._zone_probes.items():
            zones = pc.struct_field(pc.extract_regex(lines, probe), _ZONE_GROUP).drop_null()
            others = zones.filter(pc.invert(pc.match_substring_regex(zones, _IS_UTC)))
            if column in self._signed_columns:
                others = others.filter(pc.invert(pc.match_substring_regex(others, "^[+-]")))
            if 2 * len(others) > len(lines):
                return column, str(others[0].as_py())
        return None


def _has_clock_without_zone(layout: TimeLayout | None) -> bool:
    """Return whether a layout has a time of day, and no zone that it is of."""
    if not isinstance(layout, DirectiveLayout):
        return False
    return "z" not in layout.directives and bool({"H", "I"} & set(layout.directives))


@dataclass(frozen=True, slots=True)
class LogLayout:
    """The shapes that lines of a log may have; the first that a line follows splits it.

    Args:
        columns: all columns, in order.
        has_dashes: whether `-` stands for null.
        has_requests: whether a column `request` is split into a method, a path and a protocol.
        level: what the column `level` must match for a line to count as one of the log, in RE2;
            empty if it may be any word.
    """

    patterns: tuple[LinePattern, ...]
    columns: tuple[str, ...]
    has_dashes: bool = False
    has_requests: bool = False
    level: str = ""

    @property
    def time_layouts(self) -> Mapping[str, TimeLayout]:
        """Return the layouts of the columns that are times."""
        return {name: one for p in self.patterns for name, one in p.time_layouts.items()}

    def find_unread_zone(self, lines: pa.Array) -> tuple[str, str] | None:
        """Return a column of times that most lines follow with a zone that is not read, and one."""
        return next(filter(None, (one.find_unread_zone(lines) for one in self.patterns)), None)

    def count_lines(self, lines: pa.Array) -> int:
        """Return how many lines show that they are of the log."""
        batch, is_valid = self.parse_lines(lines)
        if not self.level:
            return int(is_valid.sum())
        return int(pc.sum(pc.match_substring_regex(batch["level"], self.level)).as_py() or 0)

    def parse_lines(self, lines: pa.Array) -> tuple[pa.RecordBatch, np.ndarray[Any, Any]]:
        """Return the columns of the lines that follow, and which lines do."""
        columns: dict[str, Any] = {}
        is_valid = np.zeros(len(lines), np.bool_)
        for pattern in self.patterns:
            if is_valid.all():
                break
            found = pattern.parse_lines(lines)
            is_new = found.is_valid().to_numpy(zero_copy_only=False) & ~is_valid
            for name in pattern.columns:
                values = pc.if_else(pa.array(is_new), pc.struct_field(found, name), None)
                columns[name] = pc.coalesce(columns[name], values) if name in columns else values
            is_valid |= is_new
        if self.has_requests and "request" in columns:
            columns |= _split_requests(columns["request"])
        nothing = pa.nulls(len(lines), pa.string())
        arrays = [columns.get(name, nothing) for name in self.columns]
        if self.has_dashes:
            arrays = [pc.if_else(pc.equal(one, "-"), None, one) for one in arrays]
        batch = pa.RecordBatch.from_arrays(arrays, names=list(self.columns))
        return batch.filter(pa.array(is_valid)), is_valid


def _check_pattern(text: str, names: list[str]) -> None:
    """Raise if a pattern has no names, too many, or a line break."""
    if not names or len(names) > MAX_TOKENS or len(text) > MAX_PATTERN_CHARACTERS:
        raise InvalidArgument(
            "pattern",
            f"the pattern has {len(names)} names in braces, {len(text):,} characters",
            f"1..{MAX_TOKENS} names and at most {MAX_PATTERN_CHARACTERS:,} characters",
        )
    if "\n" in text or "\r" in text:
        raise InvalidArgument(
            "pattern", "the pattern contains a line break", "a pattern without line breaks"
        )


def _parse_token(raw_name: str) -> _Token:
    """Return what stands in braces: a name, and after a colon a kind or the layout of a time.

    Raises:
        InvalidArgument: the name, the kind or the layout is not valid.
    """
    name, _, kind = raw_name.partition(":")
    if name and not _COLUMN_NAME.fullmatch(name):
        raise InvalidArgument("pattern", f"{name!r} is not a valid name", "letters, digits and _")
    if not kind:
        return _Token(name, None, "")
    if kind in _KINDS:
        return _Token(name, None, _KINDS[kind])
    if kind in COUNT_LAYOUTS:
        return _Token(name, CountLayout(kind), r"[0-9]+(?:\.[0-9]+)?")
    if "%" not in kind:
        what = f"{kind!r}, after the colon of a name, is not a time format or a kind of value"
        allowed = f"directives, such as {{ts:%Y-%m-%d}}, or one of {', '.join(_KINDS)}"
        raise InvalidArgument("pattern", what, allowed, suggest_name(kind, _KINDS))
    try:
        layout = DirectiveLayout(kind)
    except InvalidArgument as refusal:
        mistake = refusal.mistake
        raise InvalidArgument(
            "pattern", mistake.problem, mistake.expected, mistake.remedy
        ) from None
    return _Token(name, layout, _TIME_GROUP.sub("?:", build_pattern(kind)))


def _build_group(token: _Token, *, is_last: bool) -> str:
    """Return the regular expression of a name."""
    expression = token.expression or (".*" if is_last else ".*?")
    return f"(?P<{token.name}>{expression})" if token.name else f"(?:{expression})"


def _split_requests(requests: pa.Array) -> dict[str, Any]:
    """Return the method, path and protocol of requests such as `GET /a HTTP/1.1`.

    A path may contain spaces; a request of one or two words has no protocol.
    """
    spaces = pc.count_substring(requests, " ")
    pieces = pc.extract_regex(requests, r"(?s)^(?P<head>[^ ]*)(?: (?P<rest>.*))?$")
    rest = pc.struct_field(pieces, "rest")
    ends = pc.extract_regex(rest, r"(?s)^(?P<path>.*) (?P<protocol>[^ ]*)$")
    is_whole = pc.greater_equal(spaces, 2)
    return {
        "method": pc.struct_field(pieces, "head"),
        "path": pc.if_else(
            is_whole,
            pc.struct_field(ends, "path"),
            pc.if_else(pc.equal(spaces, 1), rest, None),
        ),
        "protocol": pc.if_else(is_whole, pc.struct_field(ends, "protocol"), None),
    }
