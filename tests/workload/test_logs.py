"""Log formats agree with parsers written here, and stay fast on hostile lines."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.errors import InvalidArgument, SampleError
from rowkey.workload import FORMATS, SkippedRows, open_sample
from rowkey.workload.logs.known_logs import build_known_log
from rowkey.workload.logs.line_pattern import LinePattern
from rowkey.workload.values.time_layouts import DirectiveLayout

Values = list[str | None]


def read_text(path: Path, text: str, **words: Any) -> tuple[list[Values], int]:
    """Return the values of each row of a text in a format, and the number of skipped lines."""
    path.write_bytes(text.encode())
    left_out = SkippedRows()
    rows: list[Values] = []
    for batch in FORMATS[words["kind"]](words).read_batches(path, None, left_out):
        rows += [list(row.values()) for row in batch.to_pylist()]
    return rows, left_out.count


# Apache


APACHE = {"kind": "log", "pattern": "apache"}
COLUMNS = build_known_log("apache").columns
LINE_LENGTH = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 30_000
JUNK = "junk\n"
ENTRY = '1.2.3.4 - - [29/Jan/2025:04:00:01 +0000] "GET / HTTP/1.1" 200 5\n'


@pytest.mark.parametrize("text", [ENTRY, JUNK + ENTRY, JUNK * 3 + ENTRY * 4])
def test_invalid_lines_may_precede_the_first_valid_line_of_an_apache_log(
    tmp_path: Path, text: str
) -> None:
    """Invalid lines may come before the first valid line of a log."""
    path = tmp_path / "access.log"
    path.write_text(text)
    assert list(COLUMNS) == FORMATS["log"](APACHE).read_column_names(path)


def test_an_empty_log_has_no_columns(tmp_path: Path) -> None:
    """An empty file has no columns, and a file without a valid line is refused."""
    path = tmp_path / "access.log"
    path.write_text("")
    assert FORMATS["log"](APACHE).read_column_names(path) is None
    path.write_text(JUNK * 3)
    with pytest.raises(SampleError, match="lines of the form apache"):
        list(FORMATS["log"](APACHE).read_batches(path, None, SkippedRows()))


class Scanner:
    """Reads a line from left to right."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0

    def expect(self, text: str) -> None:
        """Pass over a required text."""
        if not self.line.startswith(text, self.at):
            raise ValueError(text)
        self.at += len(text)

    def word(self) -> str:
        """Return the characters up to the next white space, at least one."""
        start = self.at
        while self.at < len(self.line) and not self.line[self.at].isspace():
            self.at += 1
        if start == self.at:
            raise ValueError("no word")
        return self.line[start : self.at]

    def until(self, end: str) -> str:
        """Return the characters before the next given one, and pass over that."""
        stop = self.line.index(end, self.at)
        found, self.at = self.line[self.at : stop], stop + 1
        return found

    def quoted(self) -> str:
        """Return the text between two quotes, where a backslash keeps the next character."""
        self.expect('"')
        start = self.at
        while (one := self.line[self.at : self.at + 1]) != '"':
            self.at += 2 if one == "\\" else 1
            if self.at > len(self.line) or not one:
                raise ValueError("no end")
        self.at += 1
        return self.line[start : self.at - 1]


APACHE_TIME = re.compile(
    r"\d{1,2}/(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/\d{4}:\d{1,2}:\d\d:\d\d +[+-]\d{4}"
)


def parse_apache_line(line: str) -> Values | None:
    """Return the values of a line of an access log, None if the line is invalid."""
    scan = Scanner(line)
    try:
        found: list[str] = []
        for _ in range(3):
            found.append(scan.word())
            scan.expect(" ")
        scan.expect("[")
        time = scan.until("]")
        if not APACHE_TIME.fullmatch(time):
            return None
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
    values = [*found, time, *request, status, size, *_read_referer_and_agent(scan)]
    return [None if value == "-" else value for value in values]


def _read_referer_and_agent(scan: Scanner) -> list[str]:
    """Return the referer and the agent, if both are there."""
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
LOG_LINES = st.one_of(COMMON, COMBINED, st.builds("{} 0.2 x".format, COMBINED))


@st.composite
def draw_lines(draw: st.DrawFn) -> str:
    """Draw a line of a log, sometimes with a lost, doubled or changed character."""
    line = draw(LOG_LINES)
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


@given(log=st.lists(draw_lines(), min_size=1, max_size=8))
def test_apache_logs_are_read_as_by_a_scanner_written_for_the_test(
    path: Path, log: list[str]
) -> None:
    """Nested quotes, IPv4 and IPv6 and broken lines are read as by the scanner."""
    expected = [parse_apache_line(line) for line in log]
    good = [values for values in expected if values is not None]
    assume(2 * len(good) >= len(log))
    assert (good, len(log) - len(good)) == read_text(path, "\n".join(log), **APACHE)


def test_the_scanner_of_the_test_reads_a_line_of_each_shape() -> None:
    """The scanner of this file reads a line of each shape."""
    line = '2001:db8::1 - frank [01/Feb/2020:10:00:00 +0000] "GET /a?b=\\"c\\" HTTP/1.1" 200 5'
    values = parse_apache_line(f'{line} "-" "Mozilla \\"x\\""')
    assert values is not None
    assert ("2001:db8::1", '/a?b=\\"c\\"', None, 'Mozilla \\"x\\"') == tuple(
        values[n] for n in (0, 5, 9, 10)
    )
    assert parse_apache_line(line.replace("Feb", "Fob")) is None


# Tokens

FIXED = st.text(st.sampled_from("ab |("), min_size=1, max_size=3)
LINE = st.text(st.sampled_from("ab |(x"), max_size=24)


def split_line(pattern: str, line: str) -> list[str] | None:
    """Return the values of a line in the order of a pattern; None if it does not follow."""
    [values] = LinePattern(pattern).parse_lines(pa.array([line])).to_pylist()
    return None if values is None else list(dict(values).values())


def cut_with_regex(pattern: list[str], line: str) -> list[str] | None:
    """Return what a regular expression makes of a pattern; for small inputs only."""
    head, *between = map(re.escape, pattern)
    text = head + "".join(f"(.*?){piece}" for piece in between)
    if not pattern[-1]:
        text += "$"
    found = re.match(text, line)
    return None if found is None else list(found.groups())


@given(head=st.sampled_from(["", "a", "(b"]), between=st.lists(FIXED, max_size=4), line=LINE,
       is_open=st.booleans())  # fmt: skip
def test_a_pattern_matches_as_a_lazy_regular_expression(
    head: str, between: list[str], line: str, *, is_open: bool
) -> None:
    """A name takes as little text as the following fixed text allows, as in a lazy group."""
    pieces = [head, *between, *([""] if is_open or not between else [])]
    names = iter(range(len(pieces)))
    pattern = pieces[0] + "".join(f"{{f{next(names)}}}{piece}" for piece in pieces[1:])
    assert cut_with_regex(pieces, line) == split_line(pattern, line)


LOGS = {
    "log4j": (
        "{ts:%Y-%m-%d %H:%M:%S,%f} {} [{thread}] {name}",
        {},
        "2024-05-01 10:00:00,123 INFO [main] a.B: up\n2024-05-01 10:00:01,004 WARN [io 7] a.C: x",
        [["2024-05-01T10:00:00.123", "main", "a.B: up"],
         ["2024-05-01T10:00:01.004", "io 7", "a.C: x"]],
    ),
    "mysql": (
        "{ts:%Y-%m-%d %H:%M:%S} {n} {}",
        {},
        "2024-05-01 10:00:00 7 [Note] x\n2024-05-01 10:00 7 [Note] x\n2024-05-01 10:00:09 8 y",
        [["2024-05-01T10:00:00.000", "7"], ["2024-05-01T10:00:09.000", "8"]],
    ),
    "syslog": (
        "{ts:%b %d %H:%M:%S} {host} {program}[{}]: {}",
        {"year": 2024},
        "Feb 29 00:00:00 c cron[2]:  y\nOct  1 13:00:00 a sshd[1]: x\n"  # noqa: ISC004 - a text
        "Jan 11 13:00:00 b cron[2]: y\nDec 31 23:59:59 b cron[2]: late",
        [["2024-02-29T00:00:00.000", "c", "cron"], ["2024-10-01T13:00:00.000", "a", "sshd"],
         ["2025-01-11T13:00:00.000", "b", "cron"], ["2024-12-31T23:59:59.000", "b", "cron"]],
    ),
    "zone": (
        "{ts:%d/%b/%Y:%H:%M:%S %z}: {rest}",
        {},
        "01/May/2024:10:00:00 +02:00: a\n01/May/2024:10:00:00 -0230: b",
        [["2024-05-01T08:00:00.000", "a"], ["2024-05-01T12:30:00.000", "b"]],
    ),
    "last": (
        "{n} {ts:%Y-%m-%d %H:%M}", {}, "1 2024-05-01 10:00", [["1", "2024-05-01T10:00:00.000"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_a_time_format_with_a_space_is_read_to_its_end(path: Path, name: str) -> None:
    """A time format with a space is read to its end, also before a space."""
    pattern, more, text, expected = LOGS[name]
    path.write_text(text)
    words = {"kind": "log", "pattern": pattern, **more}
    names = LinePattern(pattern).columns
    fields = {one: "timestamp_ms" if one == "ts" else "text" for one in names}
    design = Design("t", "[ts]", fields=fields)
    sample = open_sample(path, design.fields, None, words)
    rows = []
    for events in sample.read_events():
        columns = [column.to_pylist() for column in events.rows.columns]
        columns[names.index("ts")] = [
            one.replace(tzinfo=None).isoformat(timespec="milliseconds")
            for one in columns[names.index("ts")]
        ]
        rows += list(map(list, zip(*columns, strict=True)))
    assert (expected, len(text.splitlines()) - len(expected)) == (rows, sample.skipped_rows.count)


DATES = ["Ymd", "ybd", "YBd", "Yj"]
CLOCKS = ["", "HMS", "HMSf", "IpM", "HMz"]


@given(
    parts=st.tuples(
        st.sampled_from(DATES), st.sampled_from(CLOCKS), st.sampled_from(["", "a", "A"])
    )
    .map("".join)
    .flatmap(st.permutations),
    between=st.lists(
        st.sampled_from([" ", "-", ":", " at ", "%%", "  ", "é."]), min_size=9, max_size=9
    ),
    behind=st.sampled_from([" ", ":", " - ", "|", "-", ""]),
    instant=st.datetimes(
        datetime(1971, 1, 2),  # noqa: DTZ001 - the zone is below
        datetime(2068, 12, 30),  # noqa: DTZ001
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7.5))]),
    ),
)
def test_a_formatted_log_time_is_parsed_as_by_python(
    parts: list[str], between: list[str], behind: str, instant: datetime
) -> None:
    """A time that a format writes is read as Python reads it, also before text that it contains."""
    pieces = [f"%{part}{text}" for part, text in zip(parts, [*between[: len(parts) - 1], ""],
                                                     strict=True)]  # fmt: skip
    form = "".join(pieces)
    written = instant.strftime(form)
    pattern = f"{{x}}|{{ts:{form}}}{behind}{{rest}}" if behind else f"{{x}}|{{rest}}|{{ts:{form}}}"
    line = f"a|{written}{behind}b {written}" if behind else f"a|b {written}|{written}"
    assert sorted(["a", written, f"b {written}"]) == sorted(split_line(pattern, line) or [])
    expected = datetime.strptime(written, form)  # noqa: DTZ007 - the zone follows
    expected = expected if expected.tzinfo else expected.replace(tzinfo=UTC)
    times = DirectiveLayout(form).parse_column(pa.array([written]))
    found = datetime.fromtimestamp(int(times.seconds[0]), UTC)
    assert times.is_valid[0]
    assert expected == found.replace(microsecond=int(times.nanoseconds[0]) // 1_000)


@pytest.mark.parametrize(
    ("pattern", "more", "path", "what"),
    [
        ("{ts:%b %d %H:%M:%S} {host}", {}, "pattern", "has no year"),
        ("{ts:%Y %d} {host}", {}, "pattern", "has no month"),
        ("{ts:%H:%M} {host}", {}, "pattern", "has no day"),
        ("{ts:%Y-%m-%d %I} {host}", {}, "pattern", "%I or %p alone"),
        ("{ts:%Y %y %m %d} {host}", {}, "pattern", "has the year twice"),
        ("{ts:wrd} {host}", {}, "pattern", "is not a time format or a kind of value"),
        ("{ts} {ts}", {}, "pattern", "the name 'ts' occurs twice"),
        ("apach", {}, "pattern", "'apach' is not a known log"),
        ("{ts:%b %d} {host}", {"year": 0}, "year", "0 is out of range"),
        ("{ts:%b %d} {host}", {"year": "2024"}, "year", "has the type str"),
        ("{ts} {host}\n", {}, "pattern", "the pattern contains a line break"),
        ("{ts:%Y\r%d} {host}", {}, "pattern", "the pattern contains a line break"),
    ],
)
def test_a_pattern_with_a_time_without_a_year_is_refused(
    pattern: str, more: dict[str, Any], path: str, what: str
) -> None:
    """A time without a year, or with a line end, is refused when it is declared."""
    with pytest.raises(InvalidArgument) as caught:
        FORMATS["log"]({"kind": "log", "pattern": pattern, **more})
    assert path == caught.value.mistake.path
    assert what in caught.value.mistake.problem


@given(form=st.text(st.sampled_from("%%%aAbBdfHIjmMpSyYzZcxXUqs(*+)[ -:"), min_size=1, max_size=12),
       text=st.text(st.sampled_from("0123456789 :+-JanMonAPM"), max_size=20))  # fmt: skip
def test_an_invalid_time_format_is_refused_when_it_is_declared(form: str, text: str) -> None:
    """A wrong time format is refused when it is declared, never while lines are read."""
    assume(not {"{", "}"} & set(form))
    with suppress(InvalidArgument):
        times = DirectiveLayout(form).parse_column(pa.array([text, None]))
        assert not times.is_valid[1]
        assert abs(int(times.seconds[0])) < 2**40 or not times.is_valid[0]


@pytest.mark.parametrize("tail", ['"', '"\\' * 9, " " * 9, "\\" * 9, '" "', "[" * 9])
@pytest.mark.parametrize("unit", ["a", " ", '"', "\\", '\\"', "[", '" "', "- "])
def test_no_hostile_line_of_a_log_is_slow(path: Path, unit: str, tail: str) -> None:
    """Long hostile lines are read or skipped in one pass."""
    begin = 'h - - [01/Feb/2020:10:00:00 +0000] "'
    text = "\n".join(head + unit * (LINE_LENGTH // len(unit)) + tail for head in ("", begin))
    good = [parse_apache_line(line) for line in text.splitlines()]
    rows: list[Values] = []
    with suppress(SampleError):
        rows, _ = read_text(path, text, **APACHE)
    assert [values for values in good if values] == rows
