"""Logs against parsers written here character by character, and patterns against hostile lines."""

from __future__ import annotations

import ast
import inspect
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument, SampleError
from rowkey.workload import FORMATS, SkippedRows
from rowkey.workload.formats import apache as apache_module
from rowkey.workload.formats import tokens as tokens_module
from rowkey.workload.formats.apache import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Values = list[str | None]


def read(path: Path, text: str, **words: Any) -> tuple[list[Values], int]:
    """What a format makes of a text: the values of each row, and how many lines are left out."""
    path.write_bytes(text.encode())
    left_out = SkippedRows()
    rows: list[Values] = []
    for batch in FORMATS[words["kind"]](words).read_batches(path, None, left_out):
        rows += [list(row.values()) for row in batch.to_pylist()]
    return rows, left_out.count


# Apache


JUNK = "junk\n"
ENTRY = '1.2.3.4 - - [29/Jan/2025:04:00:01 +0000] "GET / HTTP/1.1" 200 5\n'


@pytest.mark.parametrize("text", [ENTRY, JUNK + ENTRY, JUNK * 3 + ENTRY * 4])
def test_columns_of_apache_are_known_once_a_line_is_one(tmp_path: Path, text: str) -> None:
    """Lines that are none may stand before the first."""
    path = tmp_path / "access.log"
    path.write_text(text)
    assert list(COLUMNS) == FORMATS["apache"]({}).read_column_names(path)


def test_a_log_without_a_line_has_no_columns(tmp_path: Path) -> None:
    """Of an empty file nothing is told; one without a line that fits is no log."""
    path = tmp_path / "access.log"
    path.write_text("")
    assert FORMATS["apache"]({}).read_column_names(path) is None
    path.write_text(JUNK * 3)
    with pytest.raises(SampleError, match="lines of an Apache access log"):
        FORMATS["apache"]({}).read_column_names(path)


SCRAPS = st.lists(
    st.sampled_from([*"0123456789", "29", "Jan", "Feb", "/", ":", " ", "+", "-", "Z"])
)


@given(st.integers(0, 26), st.integers(0, 4), SCRAPS)
def test_times_of_apache_are_read_as_python_reads_them(at: int, gone: int, came: list[str]) -> None:
    """Whatever stands in a line's time, the quick way and Python's own come to the same."""
    text = "29/Jan/2025:04:00:01 +0000"
    text = text[:at] + "".join(came[:3]) + text[at + gone :]
    assert apache_module._parse_time(text) == apache_module._parse_instant(text)


class Scanner:
    """Reads a line from left to right."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0

    def expect(self, text: str) -> None:
        """Go past a text that must stand here."""
        if not self.line.startswith(text, self.at):
            raise ValueError(text)
        self.at += len(text)

    def word(self) -> str:
        """The characters up to the next white space, at least one."""
        start = self.at
        while self.at < len(self.line) and not self.line[self.at].isspace():
            self.at += 1
        if start == self.at:
            raise ValueError("no word")
        return self.line[start : self.at]

    def until(self, end: str) -> str:
        """The characters before the next of this one, which is passed."""
        stop = self.line.index(end, self.at)
        found, self.at = self.line[self.at : stop], stop + 1
        return found

    def quoted(self) -> str:
        """What stands between two quotes; a backslash keeps the character behind it."""
        self.expect('"')
        start = self.at
        while (one := self.line[self.at : self.at + 1]) != '"':
            self.at += 2 if one == "\\" else 1
            if self.at > len(self.line) or not one:
                raise ValueError("no end")
        self.at += 1
        return self.line[start : self.at - 1]


def naive_apache(line: str) -> Values | None:
    """The values of a line of an access log, None if it is none."""
    scan = Scanner(line)
    try:
        found: list[str] = []
        for _ in range(3):
            found.append(scan.word())
            scan.expect(" ")
        scan.expect("[")
        time = datetime.strptime(scan.until("]"), "%d/%b/%Y:%H:%M:%S %z").isoformat()
        scan.expect(" ")
        words = scan.quoted().split(" ")
        scan.expect(" ")
        status = scan.word()
        scan.expect(" ")
        size = scan.word()
    except ValueError:
        return None
    padded = [*words, "-", "-"][:3] if len(words) < 3 else words
    request = [padded[0], " ".join(padded[1:-1]), padded[-1]]
    values = [*found, time, *request, status, size, *_behind(scan)]
    return [None if value == "-" else value for value in values]


def _behind(scan: Scanner) -> list[str]:
    """The referer and the agent, where both are there."""
    try:
        scan.expect(" ")
        referer = scan.quoted()
        scan.expect(" ")
        return [referer, scan.quoted()]
    except ValueError:
        return ["-", "-"]


HOSTS = st.one_of(
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(str),
    st.sampled_from(["h1", "a.b", "-"]),
)
QUOTED = st.text(st.sampled_from("aZ/ -?=[]é"), max_size=12).flatmap(
    lambda text: st.sampled_from([text, f'{text}\\"x\\"', f"{text}\\\\", f"\\x16{text}", "-", ""])
)
REQUESTS = st.one_of(
    QUOTED,
    st.builds("{} {} {}".format, st.sampled_from(["GET", "POST"]), QUOTED, st.just("HTTP/2")),
)
TIMES = st.builds(
    "{:%d/%b/%Y:%H:%M:%S} {}".format,
    st.datetimes(datetime(1971, 1, 2), datetime(2100, 1, 1)),  # noqa: DTZ001 - the zone is written
    st.sampled_from(["+0000", "-0730", "+1200"]),
)
SIZES = st.one_of(st.integers(0, 10**9).map(str), st.just("-"))
COMMON = st.builds(
    '{} - {} [{}] "{}" {} {}'.format,
    HOSTS, st.sampled_from(["-", "frank"]), TIMES, REQUESTS, st.integers(100, 599), SIZES,
)  # fmt: skip
COMBINED = st.builds('{} "{}" "{}"'.format, COMMON, QUOTED, QUOTED)
GOOD = st.one_of(COMMON, COMBINED, st.builds("{} 0.2 x".format, COMBINED))


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line of a log, now and then with a character lost, doubled or of another kind."""
    line = draw(GOOD)
    if draw(st.integers(0, 2)) == 0:
        at = draw(st.integers(0, len(line) - 1))
        line = (
            line[:at]
            + draw(st.sampled_from(["", line[at] * 2, '"', "\\", "]", " "]))
            + line[at + 1 :]
        )
    return line


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that all examples write."""
    return tmp_path_factory.mktemp("logs") / "a.log"


@given(log=st.lists(lines(), min_size=1, max_size=8))
def test_apache_logs_are_read_as_by_hand(path: Path, log: list[str]) -> None:
    """Quotes within quotes, addresses of both kinds and broken lines are read as by a scanner."""
    expected = [naive_apache(line) for line in log]
    good = [values for values in expected if values is not None]
    assume(2 * len(good) >= len(log))
    assert (good, len(log) - len(good)) == read(path, "\n".join(log), kind="apache")


def test_a_log_is_mostly_read_by_the_scanner_too() -> None:
    """The scanner is no parser that refuses everything: it reads a line of each shape."""
    line = '2001:db8::1 - frank [01/Feb/2020:10:00:00 +0000] "GET /a?b=\\"c\\" HTTP/1.1" 200 5'
    values = naive_apache(f'{line} "-" "Mozilla \\"x\\""')
    assert values is not None
    assert ("2001:db8::1", '/a?b=\\"c\\"', None, 'Mozilla \\"x\\"') == tuple(
        values[n] for n in (0, 5, 9, 10)
    )
    assert naive_apache(line.replace("Feb", "Fob")) is None


# Tokens

FIXED = st.text(st.sampled_from("ab |("), min_size=1, max_size=3)
LINE = st.text(st.sampled_from("ab |(x"), max_size=24)


def naive_cut(pattern: list[str], line: str) -> list[str] | None:
    """What a regular expression makes of the same pattern; small inputs only."""
    head, *between = map(re.escape, pattern)
    text = head + "".join(f"(.*?){piece}" for piece in between)
    if not pattern[-1]:
        text += "$"
    found = re.match(text, line)
    return None if found is None else list(found.groups())


@given(head=st.sampled_from(["", "a", "(b"]), between=st.lists(FIXED, max_size=4), line=LINE,
       is_open=st.booleans())  # fmt: skip
def test_a_pattern_cuts_as_its_regular_expression_would(
    head: str, between: list[str], line: str, *, is_open: bool
) -> None:
    """A name takes as little as the fixed text behind it allows; the last takes all if none is."""
    pieces = [head, *between, *([""] if is_open or not between else [])]
    names = iter(range(len(pieces)))
    pattern = pieces[0] + "".join(f"{{f{next(names)}}}{piece}" for piece in pieces[1:])
    cutter: Any = FORMATS["tokens"]({"kind": "tokens", "pattern": pattern})
    assert naive_cut(pieces, line) == cutter.split_line(line)


class Watched(str):
    """A text that counts the characters that are looked at to find others in it."""

    __slots__ = ("looked_at",)
    looked_at: int

    def find(self, text: str, start: Any = 0, end: Any = None) -> int:
        """As `str` does."""
        found = super().find(text, start, end)
        last = len(self) if end is None else min(end, len(self))
        self.looked_at += max((last if found < 0 else found + len(text)) - start, 0)
        return found


@pytest.mark.parametrize("line", ["a" * 50_000, "ab" * 25_000, "a" * 49_999 + "!", ""])
@pytest.mark.parametrize("between", ["a", "aa", "aaab", "b!"])
def test_no_character_is_looked_at_twice(between: str, line: str) -> None:
    """Whatever the pattern, all its searches together pass over a line once."""
    pattern = between.join(f"{{f{n}}}" for n in range(64)) + "!"
    cutter: Any = FORMATS["tokens"]({"kind": "tokens", "pattern": pattern})
    watched = Watched(line)
    watched.looked_at = 0
    cutter.split_line(watched)
    assert len(line) >= watched.looked_at


def _calls_of_re(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re":
                yield node


def test_no_text_of_a_user_becomes_a_regular_expression() -> None:
    """The module of patterns compiles only what stands in its own source."""
    calls = list(_calls_of_re(ast.parse(inspect.getsource(tokens_module))))
    assert {"compile"} == {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
    assert all(isinstance(call.args[0], ast.Constant) for call in calls)


LOGS = {
    "log4j": (
        "{ts:%Y-%m-%d %H:%M:%S,%f} {} [{thread}] {name}",
        {},
        "2024-05-01 10:00:00,123 INFO [main] a.B: up\n2024-05-01 10:00:01,004 WARN [io 7] a.C: x",
        [["2024-05-01T10:00:00.123000", "main", "a.B: up"],
         ["2024-05-01T10:00:01.004000", "io 7", "a.C: x"]],
    ),
    "mysql": (
        "{ts:%Y-%m-%d %H:%M:%S} {n} {}",
        {},
        "2024-05-01 10:00:00 7 [Note] x\n2024-05-01 10:00 7 [Note] x\n2024-05-01 10:00:09 8 y",
        [["2024-05-01T10:00:00", "7"], ["2024-05-01T10:00:09", "8"]],
    ),
    "syslog": (
        "{ts:%b %d %H:%M:%S} {host} {program}[{}]: {}",
        {"year": 2024},
        "Oct  1 13:00:00 a sshd[1]: x\nOct 11 13:00:00 b cron[2]: y\nFeb 29 00:00:00 c cron[2]:  y",
        [["2024-10-01T13:00:00", "a", "sshd"], ["2024-10-11T13:00:00", "b", "cron"],
         ["2024-02-29T00:00:00", "c", "cron"]],
    ),
    "zone": (
        "{ts:%d/%b/%Y:%H:%M:%S %z}: {rest}",
        {},
        "01/May/2024:10:00:00 +02:00: a\n01/May/2024:10:00:00 +0200: b",
        [["2024-05-01T10:00:00+02:00", "a"], ["2024-05-01T10:00:00+02:00", "b"]],
    ),
    "last": ("{n} {ts:%Y-%m-%d %H:%M}", {}, "1 2024-05-01 10:00", [["1", "2024-05-01T10:00:00"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_times_may_hold_what_stands_behind_them(path: Path, name: str) -> None:
    """A time with spaces before a space is read to its end, in the logs that most people have."""
    pattern, more, text, expected = LOGS[name]
    rows, left_out = read(path, text, kind="tokens", pattern=pattern, **more)
    assert (expected, len(text.splitlines()) - len(expected)) == (rows, left_out)


PARTS = "aAbBdfHIjmMpSyYz"


@given(
    parts=st.lists(st.sampled_from(PARTS), min_size=1, max_size=5, unique=True),
    between=st.lists(
        st.sampled_from([" ", "-", ":", " at ", "%%", "  ", "é."]), min_size=4, max_size=4
    ),
    behind=st.sampled_from([" ", ":", " - ", "|", "-", ""]),
    instant=st.datetimes(
        datetime(1971, 1, 1),  # noqa: DTZ001 - the zone is below
        datetime(2068, 12, 31),  # noqa: DTZ001
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7.5))]),
    ),
)
def test_a_time_that_is_written_is_read(
    parts: list[str], between: list[str], behind: str, instant: datetime
) -> None:
    """What a form writes it reads, whatever of the text behind it stands in the time itself."""
    assume({"y", "Y"} & set(parts))
    pieces = [f"%{part}{text}" for part, text in zip(parts, [*between, ""], strict=False)]
    form = "".join(pieces).strip()
    written = instant.strftime(form)
    pattern = f"{{x}}|{{ts:{form}}}{behind}{{rest}}" if behind else f"{{x}}|{{rest}}|{{ts:{form}}}"
    line = f"a|{written}{behind}b {written}" if behind else f"a|b {written}|{written}"
    cutter: Any = FORMATS["tokens"]({"kind": "tokens", "pattern": pattern})
    read_back = datetime.strptime(written, form).isoformat()  # noqa: DTZ007 - as it stands
    assert sorted(["a", read_back, f"b {written}"]) == sorted(cutter.split_line(line) or [])


@pytest.mark.parametrize(
    ("pattern", "more", "path", "what"),
    [
        ("{ts:%b %d %H:%M:%S} {host}", {}, "pattern", "has no year"),
        ("{ts:%Y %b %d} {host}", {"year": 2024}, "year", "no time format lacks a year"),
        ("{ts} {host}", {"year": 2024}, "year", "no time format lacks a year"),
        ("{ts:%b %d} {host}", {"year": 0}, "year", "0 is out of range"),
        ("{ts:%b %d} {host}", {"year": "2024"}, "year", "does not fit"),
        ("{ts} {host}\n", {}, "pattern", "the pattern contains a line end"),
        ("{ts:%Y\r%d} {host}", {}, "pattern", "the pattern contains a line end"),
    ],
)
def test_a_pattern_that_no_line_can_follow_is_refused(
    pattern: str, more: dict[str, Any], path: str, what: str
) -> None:
    """A time without a year, or the end of a line within one, is refused where it is declared."""
    with pytest.raises(InvalidArgument) as caught:
        FORMATS["tokens"]({"kind": "tokens", "pattern": pattern, **more})
    assert path == caught.value.mistake.path
    assert what in caught.value.mistake.problem


@pytest.mark.parametrize("line", ["a" * 50_000, " " * 50_000, "2024-05-01 " * 5_000, ""])
def test_a_time_is_tried_at_few_ends(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the text behind a time stands in a line, few ends of the time are tried."""
    cutter: Any = FORMATS["tokens"]({"kind": "tokens", "pattern": "{ts:%Y-%m-%d %H:%M:%S} {x}"})
    tried: list[int] = []
    instant = cutter.time_parsers[0]._parse_instant

    def counted(text: str) -> Any:
        tried.append(len(text))
        return instant(text)

    monkeypatch.setattr(cutter.time_parsers[0], "_parse_instant", counted)
    watched = Watched(line)
    watched.looked_at = 0
    assert cutter.split_line(watched) is None
    assert len(tried) <= tokens_module.MAX_EXTRA_TIME_CHARACTERS + 1
    assert max(tried, default=0) <= 100
    assert watched.looked_at <= 200


@given(form=st.text(st.sampled_from("%%%aAbBdfHIjmMpSyYzZcxXUqs(*+)[ -:"), min_size=1, max_size=12),
       text=st.text(st.sampled_from("0123456789 :+-JanMonAPM"), max_size=20))  # fmt: skip
def test_any_form_of_a_time_is_refused_or_read(form: str, text: str) -> None:
    """A form is wrong when it is declared, and never while lines are read."""
    assume(not {"{", "}"} & set(form))
    cutter: Any = None
    with suppress(InvalidArgument):
        cutter = FORMATS["tokens"]({"kind": "tokens", "pattern": f"{{ts:{form}}}"})
    found = cutter and cutter.split_line(text)
    assert not found or datetime.fromisoformat(found[0]).year >= 1


@pytest.mark.parametrize("tail", ['"', '"\\' * 9, " " * 9, "\\" * 9, '" "', "[" * 9])
@pytest.mark.parametrize("unit", ["a", " ", '"', "\\", '\\"', "[", '" "', "- "])
def test_no_line_of_a_log_is_slow(path: Path, unit: str, tail: str) -> None:
    """Long lines made to send a parser back and forth are read, or left out, in one pass."""
    begin = 'h - - [01/Feb/2020:10:00:00 +0000] "'
    text = "\n".join(head + unit * (100_000 // len(unit)) + tail for head in ("", begin))
    good = [naive_apache(line) for line in text.splitlines()]
    rows: list[Values] = []
    with suppress(SampleError):
        rows, _ = read(path, text, kind="apache")
    assert [values for values in good if values] == rows
