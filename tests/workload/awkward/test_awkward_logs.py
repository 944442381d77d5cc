"""Logs are recognized by their first lines, and their times are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkey.advise import draft_design
from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.workload import open_sample
from workload.awkward.files import find_options, get_refusal, read_rows

MARCH_2025_S = 1_741_000_000
LOGS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "common": (
        "apache",
        '10.0.0.1 - - [29/Jan/2025:04:00:01 +0100] "GET /a b HTTP/1.1" 200 5',
        "2025-01-29T03:00:01",
        {"client": "10.0.0.1", "path": "/a b", "protocol": "HTTP/1.1", "status": "200"},
    ),
    "combined": (
        "apache",
        'h - u [29/Jan/2025:04:00:01 +0000] "POST /x HTTP/2" 404 - "-" "M \\"x\\""',
        "2025-01-29T04:00:01",
        {"user": "u", "method": "POST", "agent": 'M \\"x\\"'},
    ),
    "apache-error": (
        "apache_error",
        "[Sun Dec 04 04:47:44 2005] [notice] workerEnv.init() ok /etc/httpd",
        "2005-12-04T04:47:44",
        {"level": "notice", "message": "workerEnv.init() ok /etc/httpd"},
    ),
    "apache-error-pid": (
        "apache_error",
        "[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 35:tid 43] [client 1.2.3.4] No: /x",
        "2011-09-09T10:42:29.902022",
        {"level": "core:error", "pid": "35:tid 43", "client": "1.2.3.4", "message": "No: /x"},
    ),
    "nginx-error": (
        "nginx_error",
        "2024/05/01 10:00:00 [error] 1234#0: *1 open() failed",
        "2024-05-01T10:00:00",
        {"level": "error", "pid": "1234", "message": "*1 open() failed"},
    ),
    "rfc3164": (
        "syslog",
        "Nov  3 12:00:01 combo sshd(pam_unix)[19939]: authentication failure; uid=0",
        "2025-11-03T12:00:01",
        {"host": "combo", "program": "sshd(pam_unix)", "pid": "19939"},
    ),
    "rfc3164-priority": (
        "syslog",
        "<34>Oct 11 22:14:15 mymachine su: 'su root' failed [1]",
        "2025-10-11T22:14:15",
        {"host": "mymachine", "program": "su", "message": "'su root' failed [1]"},
    ),
    "rfc5424": (
        "syslog_5424",
        '<165>1 2003-10-11T22:14:15.003Z host app - ID47 [x@32473 iut="3"] An event',
        "2003-10-11T22:14:15.003000",
        {"host": "host", "program": "app", "message_id": "ID47"},
    ),
    "rsyslog": (
        "syslog_iso",
        "2024-05-01T10:00:00.123456+02:00 web-1 sshd[411]: Accepted",
        "2024-05-01T08:00:00.123456",
        {"host": "web-1", "program": "sshd", "pid": "411"},
    ),
    "log4j": (
        "log4j",
        "2024-05-01 10:00:00,123 INFO  [main] a.B: up",
        "2024-05-01T10:00:00.123000",
        {"level": "INFO", "thread": "main", "logger": "a.B", "message": "up"},
    ),
    "zookeeper": (
        "log4j",
        "2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]:Fast@774] - Notification: 3200",
        "2015-07-29T17:41:44.747000",
        {"level": "INFO", "thread": "QuorumPeer[myid=1]:Fast@774"},
    ),
    "spring": (
        "log4j",
        "2024-05-01 10:00:00.123  INFO 1234 --- [main] c.e.App   : Started",
        "2024-05-01T10:00:00.123000",
        {"level": "INFO", "pid": "1234", "logger": "c.e.App", "message": "Started"},
    ),
    "python": (
        "log4j",
        "2024-05-01 10:00:00,123 - root - WARNING - low",
        "2024-05-01T10:00:00.123000",
        {"level": "WARNING", "logger": "root", "message": "low"},
    ),
    "bgl": (
        "bgl",
        "- 1117838570 2005.06.03 R02-M1 2005-06-03-15.42.50.363779 R02-M1 RAS KERNEL INFO cache",
        "2005-06-03T15:42:50.363779",
        {"node": "R02-M1", "component": "KERNEL", "level": "INFO", "message": "cache"},
    ),
    "thunderbird": (
        "thunderbird",
        "- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond[2915]: closed",
        "2005-11-09T20:01:01",
        {"host": "dn228", "message": "dn228/dn228 crond[2915]: closed"},
    ),
    "hdfs": (
        "hdfs",
        "081109 203518 143 INFO dfs.DataNode$DataXceiver: Receiving block",
        "2008-11-09T20:35:18",
        {"thread": "143", "level": "INFO", "logger": "dfs.DataNode$DataXceiver"},
    ),
    "spark": (
        "spark",
        "17/06/09 20:10:40 INFO executor.Backend: Registered signal handlers for [TERM, INT]",
        "2017-06-09T20:10:40",
        {"level": "INFO", "logger": "executor.Backend"},
    ),
    "android": (
        "android",
        "03-17 16:13:38.811  1702  2395 D WindowManager: opening app",
        "2025-03-17T16:13:38.811000",
        {"pid": "1702", "tid": "2395", "tag": "WindowManager"},
    ),
    "windows": (
        "windows",
        "2016-09-28 04:30:30, Info                  CBS    Loaded Servicing Stack",
        "2016-09-28T04:30:30",
        {"level": "Info", "component": "CBS", "message": "Loaded Servicing Stack"},
    ),
    "postgresql": (
        "postgresql",
        "2024-05-01 10:00:00.123 UTC [1234] LOG:  checkpoint starting",
        "2024-05-01T10:00:00.123000",
        {"pid": "1234", "level": "LOG"},
    ),
    "redis": (
        "redis",
        "1234:M 03 Nov 2025 12:00:01.123 * Ready to accept",
        "2025-11-03T12:00:01.123000",
        {"pid": "1234", "role": "M", "message": "Ready to accept"},
    ),
}
"""By name of a line the log that it is of, the line, its time, and some of its values."""
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: bytes(pa.Codec("zstd").compress(data, asbytes=True)),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_format_is_recognized_by_its_lines(tmp_path: Path, name: str) -> None:
    """Time and values are read; a year that is missing is given by the option of the error."""
    log, line, time, values = LOGS[name]
    packing = list(PACKERS)[list(LOGS).index(name) % len(PACKERS)]
    path = tmp_path / f"server.log{packing}"
    path.write_bytes(PACKERS[packing](f"{line}\n".encode() * 30 + b"\nbroken\n"))
    os.utime(path, (MARCH_2025_S, MARCH_2025_S))
    fields: dict[str, Any] = {"time": "timestamp_us"} | dict.fromkeys(values, "text")
    options = None
    if name in ("rfc3164", "rfc3164-priority", "android"):
        [options] = find_options(get_refusal(path, fields))
        assert {"kind": "log", "pattern": log, "year": 2025} == options
    assert [(time, *values.values())] * 30 == read_rows(path, fields, options)


def test_a_draft_names_and_declares_the_recognized_log_format(tmp_path: Path) -> None:
    """`init` names the log, and the design reads the file without a further option."""
    path = tmp_path / "server.log"
    path.write_text("".join(
        f"2024-05-01 10:{n // 60 % 60:02d}:{n % 60:02d},123 INFO [t-{n % 9}] a.B: took {n}\n"
        for n in range(600)
    ))  # fmt: skip
    draft = draft_design(path)
    assert {"kind": "log", "pattern": "log4j"} == draft.design.sample_format
    [said] = map(str, draft.assumptions)
    assert "server.log is read as a log of log4j: its first lines are of this form" == said
    assert "timestamp_ms" == draft.design.fields["time"].type.name


def test_log_times_without_a_year_continue_into_the_next_year(tmp_path: Path) -> None:
    """After December comes the January of the next year, and a late line is of the year before."""
    path = tmp_path / "messages.log"
    times = [
        "Dec 30 23:59:59", "Dec 31 23:59:59", "Jan  1 00:00:00", "Dec 31 23:59:58",
        "Jan  1 00:00:01", "Feb 29 10:00:00", "Dec 31 00:00:00", "Jan  1 00:00:00",
    ]  # fmt: skip
    path.write_text("".join(f"{time} host su: x\n" for time in times))
    options = {"kind": "log", "pattern": "syslog", "year": 2023}
    rows = read_rows(path, {"time": "timestamp_s"}, options)
    assert [
        "2023-12-30T23:59:59", "2023-12-31T23:59:59", "2024-01-01T00:00:00", "2023-12-31T23:59:58",
        "2024-01-01T00:00:01", "2024-02-29T10:00:00", "2024-12-31T00:00:00", "2025-01-01T00:00:00",
    ] == [time for (time,) in rows]  # fmt: skip


def test_an_unknown_log_is_refused_with_a_pattern_that_reads_it(tmp_path: Path) -> None:
    """The pattern of the error is an example of the grammar, and reads such a log."""
    path = tmp_path / "a.log"
    path.write_text("31.05.2024 10:00:00 all is well\n" * 9)
    fields = {"time": "timestamp_s", "message": "text"}
    [options] = find_options(get_refusal(path, fields))
    assert ("2024-05-31T10:00:00", "all is well") == read_rows(path, fields, options)[0]
    path.write_text("what is this\n" * 9)
    [options] = find_options(get_refusal(path, {"message": "text"}))
    assert [("what is this",)] * 9 == read_rows(path, {"message": "text"}, options)


def test_a_declared_pattern_reads_a_log(tmp_path: Path) -> None:
    """Fixed text, names, skipped text, times and kinds are used in one pattern."""
    pattern = (
        '{client} {} {} [{time:%d/%b/%Y:%H:%M:%S %z}] "{method} {path} {}" {status:int} {bytes}'
    )
    path = tmp_path / "a.log"
    path.write_text('1.2.3.4 - - [29/Jan/2025:04:00:01 +0000] "GET /a HTTP/1.1" 200 5\n' * 3)
    fields = {"client": "text", "time": "timestamp_s", "path": "text", "status": "u16"}
    rows = read_rows(path, fields, {"kind": "log", "pattern": pattern})
    assert [("1.2.3.4", "2025-01-29T04:00:01", "/a", 200)] * 3 == rows


def test_lines_that_do_not_follow_the_pattern_are_counted(tmp_path: Path) -> None:
    """Lines that follow no pattern are skipped and told, and many of them are refused."""
    path = tmp_path / "a.log"
    line = '1.2.3.4 - - [29/Jan/2025:04:00:01 +0000] "GET /a HTTP/1.1" 200 5\n'
    path.write_text(line * 99 + "broken\n")
    draft = draft_design(path)
    assert 1 == draft.skipped_rows.count
    assert "line 100 does not follow the format: 'broken'" == draft.skipped_rows.first_problem
    path.write_text(line * 300 + "broken\n" * 60)
    fields = {"client": "text"}
    with pytest.raises(SampleError, match="60 of 360 rows cannot be read as events"):
        read_rows(path, fields)
    options = {"kind": "log", "pattern": "apache", "max_skipped": 0.2}
    assert 300 == len(read_rows(path, fields, options))
    assert 60 == _count_skipped(path, fields, options)


def _count_skipped(path: Path, fields: dict[str, Any], options: dict[str, Any]) -> int:
    """Return how many rows of a sample are skipped."""
    from rowkey.design import Design

    design = Design("t", f"[{next(iter(fields))}]", fields=fields)
    sample = open_sample(path, design.fields, None, options)
    assert sum(map(len, sample.read_events()))
    return sample.skipped_rows.count


def test_a_line_that_does_not_fit_is_named_by_its_number_in_the_file(tmp_path: Path) -> None:
    """Empty lines count too where the line of a problem is named."""
    path = tmp_path / "a.log"
    lines = ["h 1", "", " ", "wrong", "h 2", "h 3"]
    path.write_text("\n".join(lines) + "\n")
    design = Design("t", "[host]", fields={"host": "text", "n": "u32"})
    sample = open_sample(path, design.fields, None, {"kind": "log", "pattern": "{host} {n}"})
    assert 3 == sum(map(len, sample.read_events()))
    assert ["line 4 does not follow the format: 'wrong'"] == sample.skipped_rows.format_problems()


def test_the_years_given_to_log_times_without_a_year_are_reported(tmp_path: Path) -> None:
    """A log of times without a year says which years its rows are of, where these are several."""
    path = tmp_path / "a.log"
    times = ["Dec 30 10:00:00", "Dec 31 10:00:00", "Jan  1 10:00:00"]
    path.write_text("".join(f"{time} web su[1]: x\n" for time in times))
    options = {"kind": "log", "pattern": "syslog", "year": 2023}
    design = Design("t", "[time]", fields={"time": "timestamp_s"})
    sample = open_sample(path, design.fields, None, options)
    assert 3 == sum(map(len, sample.read_events()))
    said = "the times of time have no year: by their order they are of 2023 to 2024"
    assert said in [str(one) for one in sample.assumptions]


IIS = "#Software: IIS 10\n#Version: 1.0\n#Fields: date time s-ip cs-method client\n" + "".join(
    f"2024-05-06 10:{n:02d}:00 10.1.1.1 GET 10.2.0.{n}\n" for n in range(60)
)
POSTGRES = "".join(
    f"2024-05-06 10:{n:02d}:00.{n:03d} CEST [{n}] user@db LOG:  took {n} ms\n" for n in range(60)
)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (POSTGRES, {"kind": "log", "pattern": "{time:%Y-%m-%d %H:%M:%S.%f %z} {message}"}),
        (
            IIS,
            {
                "kind": "columns",
                "names": ["date", "time", "s-ip", "cs-method", "client"],
                "skip_lines": 3,
            },
        ),
    ],
)
def test_a_log_with_a_zone_after_the_time_is_not_taken_for_log4j(
    tmp_path: Path, text: str, options: dict[str, Any]
) -> None:
    """A zone or an address after the time leaves it unrecognized, with options that read it."""
    path = tmp_path / "server.log"
    path.write_text(text)
    field = "message" if "pattern" in options else "client"
    assert [options] == find_options(get_refusal(path, {field: "text"}))
    assert 60 == len(read_rows(path, {field: "text"}, options))


@pytest.mark.parametrize("level", ["INFO", "warn", "[ERROR]", "D", "Information", "FATAL:"])
def test_log_levels_of_any_spelling_are_recognized(tmp_path: Path, level: str) -> None:
    """The log is recognized, and its level is read as it is written."""
    path = tmp_path / "server.log"
    path.write_text(f"2024-05-06 10:00:00,123 {level} all is well\n" * 9)
    assert {(level,)} == set(read_rows(path, {"level": "text"}))


ZONES = {
    "CEST": "{time:%Y-%m-%d %H:%M:%S} {text}",
    "PDT": "{time:%Y-%m-%d %H:%M:%S} {zone:word} {text}",
    "+0530": "{time:%Y-%m-%d %H:%M:%S} +0530 {text}",
}


@pytest.mark.parametrize("zone", ZONES)
def test_a_log_with_an_unread_time_zone_is_refused_with_a_pattern_that_reads_it(
    tmp_path: Path, zone: str
) -> None:
    """The refusal names a pattern that reads the zone; the times are never taken for UTC."""
    path = tmp_path / "app.log"
    path.write_text(f"2024-07-01 12:00:00 {zone} started\n" * 3)
    fields = {"time": "timestamp_s", "text": "text"}
    message = get_refusal(path, fields, {"kind": "log", "pattern": ZONES[zone]})
    assert f"the zone {zone} follows the times of time" in message
    [options] = find_options(message)
    hour = {"CEST": "10:00", "PDT": "19:00", "+0530": "06:30"}[zone]
    assert [(f"2024-07-01T{hour}:00", "started")] * 3 == read_rows(path, fields, options)


def test_an_ambiguous_time_zone_is_read_as_utc_with_a_note(tmp_path: Path) -> None:
    """CST is a zone of Chicago and of Shanghai: the times are UTC, and a note says so."""
    path = tmp_path / "app.log"
    path.write_text("2024-07-01 12:00:00 CST started\n" * 3)
    design = Design("t", "[time]", fields={"time": "timestamp_s", "text": "text"})
    options = {"kind": "log", "pattern": "{time:%Y-%m-%d %H:%M:%S} {text}"}
    sample = open_sample(path, design.fields, None, options)
    list(sample.read_events())
    [said] = sample.assumptions
    assert said.startswith("the times of time are read as UTC, though CST follows them")


@pytest.mark.parametrize("text", ["UTC", "INFO", "GETTING", "ESTABLISHED", "-", "+0000"])
def test_a_word_after_the_time_that_is_no_zone_is_accepted(tmp_path: Path, text: str) -> None:
    """A level or a method after a time is no zone, and UTC is how the times are read."""
    path = tmp_path / "app.log"
    path.write_text(f"2024-07-01 12:00:00 {text} a\n" * 3)
    options = {"kind": "log", "pattern": "{time:%Y-%m-%d %H:%M:%S} {text}"}
    rows = read_rows(path, {"time": "timestamp_s", "text": "text"}, options)
    assert [("2024-07-01T12:00:00", f"{text} a")] * 3 == rows


@pytest.mark.parametrize(
    ("pattern", "line", "value"),
    [
        ("{time:%Y-%m-%d %H:%M:%S} {text}", "2024-07-01 12:00:00 +12.5", "+12.5"),
        ("{time:%Y-%m-%d %H:%M:%S} {text:word} x", "2024-07-01 12:00:00 -05 x", "-05"),
        ("{time:%Y-%m-%d} {text}", "2024-07-01 -05", "-05"),
    ],
)
def test_a_signed_number_after_the_time_is_not_taken_for_a_zone(
    tmp_path: Path, pattern: str, line: str, value: str
) -> None:
    """What a column takes after a time is a value, such as a temperature."""
    path = tmp_path / "app.log"
    path.write_text(f"{line}\n" * 3)
    fields = {"time": "timestamp_s", "text": "text"}
    rows = read_rows(path, fields, {"kind": "log", "pattern": pattern})
    assert [value] * 3 == [text for _, text in rows]
