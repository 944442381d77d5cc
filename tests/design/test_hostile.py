from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import run
from design import designs
from design.measurement import measure_yard_s
from rowkey import Design
from rowkey.design.toml_scanner import MAX_DESIGN_BYTES
from rowkey.errors import InvalidDesign

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
MEASURE = Path(__file__).with_name("measurement.py")
MOST_YARDS = 20
"""Times what Python's own reader takes for a file of the greatest size, for any file at all.

The slowest take 8 to 12 where nothing else runs, and more where the other tests do.
"""
TRIES = 3
MOST_MEGABYTES = 200
BASE = designs.SOUND
TOP, REST = BASE.split("\n\n", 1)


def _set_key_part(part: str) -> str:
    """Return the valid file with another first part of its key."""
    return BASE.replace("[bucket(host, 16)]", part)


def _set_splits(value: str) -> str:
    """Return the valid file with other splits."""
    return BASE.replace('"per_bucket"', value)


def _add_field(words: str) -> str:
    """Return the valid file with one more field."""
    return BASE.replace("[families.d]", f"more = {words}\n\n[families.d]")


def _set_field_name(name: str) -> str:
    """Return the valid file with a field of another name."""
    return BASE.replace("[families.d]", f'{name} = "u8"\n\n[families.d]')


def _set_servers(value: str) -> str:
    """Return the valid file with another number of servers."""
    return BASE.replace("servers = 4", f"servers = {value}")


def _format_keys(count: int, width: int) -> str:
    """Return a list of ascending split keys as TOML."""
    return "[" + ",".join(f'"{number:0{width}}"' for number in range(count)) + "]"


FILES: dict[str, tuple[str | bytes, str]] = {
    # sizes, depth and counts
    "comment": (
        "# " + "x" * 300_000,
        "the design file has 300,002 bytes; expected at most 262,144",
    ),
    "fifty_megabytes": (b"#" * 50_000_000, "the design file has 50,000,000 bytes"),
    "brackets": ("splits = " + "[" * 100_000, "lists and tables are nested too deeply"),
    "closed_brackets": (_set_splits("[" * 100_000 + "]" * 100_000), "nested too deeply"),
    "braces": (_set_splits("{a = " * 40_000), "nested too deeply"),
    "fields": (
        BASE + "[f]\n" + "".join(f"f{n} = 'u8'\n" for n in range(100_000)),
        "the design file has 1,38",
    ),
    "many_fields": (
        BASE + "".join(f"[fields.f{n}]\ntype='u8'\n" for n in range(9_000)),
        "fields: the value has 9,003 entries; expected at most 1,000 entries",
    ),
    "many_words": (
        BASE + "".join(f"[f.a{n}]\n" for n in range(21_000)),
        "the file has too many keys and list entries; expected at most 20,000",
    ),
    "unknown_words": (
        "".join(f"w{n} = 1\n" for n in range(15_000 if IS_LONG else 3_000)),
        "more mistakes are not",
    ),
    "unknown_options": (
        _add_field("{" + ",".join(f"nulable{n} = 1" for n in range(12_000)) + "}"),
        "more mistakes are not listed",
    ),
    "dotted_word": (BASE + "a" + ".a" * 100_000 + " = 1", "a key has too many dots"),
    "dotted_table": (BASE + "[a" + ".a" * 100_000 + "]", "a key has too many dots"),
    "reads": (BASE + "[[reads]]\nname='x'\n" * 300, "reads: the value has 301 entries"),
    "splits": (_set_splits(_format_keys(100_001, 6)), "bytes; expected at most 262,144"),
    "many_splits": (_set_splits(_format_keys(21_000, 5)), "too many keys and list entries"),
    "descending_splits": (
        _set_splits('["b","a"' + ',"a"' * (9_000 if IS_LONG else 2_000) + "]"),
        "splits[1]: the split key b'a' sorts before the previous split key",
    ),
    "choices": (
        _add_field("{type='choice', of=[" + ",".join(f"'{n:x}'" for n in range(65_537)) + "]}"),
        "bytes; expected at most 262,144",
    ),
    "newlines": ("\n" * 262_000, "table: the design lacks this option"),
    "returns": ("\r" * 262_000, "the file is not valid TOML"),
    "quotes": (BASE + '"""' * 50_000, "the file is not valid TOML"),
    "open_string": ('x = "' + "\\" * 200_000, "the file is not valid TOML"),
    "open_long_string": ('x = """' + '\\""' * 60_000, "the file is not valid TOML"),
    # numbers
    "digits": (_set_servers("1" * 4_301), "a value without quotes has 4,301 characters"),
    "hex_digits": (_set_servers("0x" + "f" * 60), "a value without quotes has 62 characters"),
    "underscored": (_set_servers("1" + "_1" * 30), "a value without quotes has 61 characters"),
    "wide_number": (
        _set_servers("9" * 39),
        "cluster.servers: a number of 130 bits is out of range",
    ),
    "float": (_set_servers("1e400"), "cluster.servers: inf is not valid"),
    "endless_mean": (_add_field("{type='u8', mean_bytes=1e400}"), "inf is out of range"),
    "no_mean": (_add_field("{type='u8', mean_bytes=nan}"), "nan is out of range"),
    "bucket_0": (_set_key_part("[bucket(host, 0)]"), "key[0].bucket.n: 0 is out of range"),
    "bucket_minus": (_set_key_part("[bucket(host, -1)]"), "'-1' has a sign"),
    "bucket_65537": (
        _set_key_part("[bucket(host, 65537)]"),
        "65537 is out of range; expected 1..65536",
    ),
    "bucket_billion": (_set_key_part("[bucket(host, 1000000000)]"), "1000000000 is out of range"),
    "bucket_exponent": (_set_key_part("[bucket(host, 1e400)]"), "'1e400' is not a number"),
    "bucket_digits": (
        _set_key_part(f"[bucket(host, {'1' * 4_301})]"),
        "a number has 4,301 digits",
    ),
    "regions": (
        _set_splits("{algorithm='uniform', regions=1000000000}"),
        "splits.regions: 1000000000 is out of range; expected 1..100,000",
    ),
    "ttl_text": (
        BASE.replace("30d", "9" * 18 + "d"),
        "families.d.ttl: 999999999999999999d is out of range",
    ),
    "ttl_number": (
        BASE.replace('"30d"', "9" * 20),
        "families.d.ttl: 99999999999999999999 is not a valid value",
    ),
    "width": (
        _add_field("{type='digits', width=2147483648}"),
        "width: 2147483648 is out of range",
    ),
    "max_bytes": (
        _add_field("{type='text', max_bytes=2147483648}"),
        "max_bytes: 2147483648 is out",
    ),
    "share": (
        BASE + "[sample]\nof = 'events'\nshare = '100%'",
        "1.0 is out of range; expected a number above 0 and below 1",
    ),
    "fixed": (_set_key_part("[host:fixed(2147483648)]"), "2147483648 is not a number of bytes"),
    # names
    "family_colon": (BASE + "[families.'a:b']", "'a:b' contains ':'"),
    "family_slash": (BASE + "[families.'../etc']", "'../etc' contains '/'"),
    "family_quotes": (BASE + "[families.\"'; drop 't\"]", 'contains "\'"'),
    "family_control": (
        BASE + '[families."a\\u0000b"]',
        "contains characters that cannot be printed",
    ),
    "family_long": (BASE + f"[families.{'a' * 300}]", "has 300 bytes"),
    "table_names": (BASE.replace('"logs"', '"a/b:c"'), "'a/b' contains '/'"),
    "field_control": (_set_field_name('"a\\u0007b"'), "'a\\x07b' cannot be written in a key"),
    "field_quote": (_set_field_name("'a\"b'"), "cannot be written in a key"),
    "field_backslash": (_set_field_name("'a\\b'"), "cannot be written in a key"),
    "field_empty": (_set_field_name("''"), "the name of a field is empty"),
    "field_long": (_set_field_name("a" * 100_000), "has 100,000 characters; expected at most 200"),
    "field_decomposed": (
        _set_field_name("'e\u0301'"),
        "expected composed characters. Write \u00e9.",
    ),
    "type_long": (_add_field('"' + "u8" * 40_000 + '"'), "is not a field type"),
    # characters and other text that is no text
    "empty": ("", "table: the design lacks this option"),
    "mark_alone": ("\ufeff", "table: the design lacks this option"),
    "mark_twice": ("\ufeff\ufeff" + BASE, "the file is not valid TOML"),
    "chosen_twice": (
        _add_field(
            "{type='choice', of=[" + ",".join(f"'{n:x}'" for n in range(19_000)) + ",'4a37']}"
        ),
        "of: '4a37' is listed twice",
    ),
    "nul": (_add_field("'a\0b'"), "the file is not valid TOML"),
    "not_utf_8": (BASE.encode() + b"x = '\xff\xfe'", ":23:6: the byte ff"),
    "utf_16": (BASE.encode("utf-16"), ":1:1: the byte ff at offset 0 is not UTF-8"),
    "surrogate": (_add_field('"\\ud800"'), "the file is not valid TOML"),
    "surrogate_bytes": (BASE.encode() + b"x = '\xed\xa0\x80'", "is not UTF-8"),
    "twice": (BASE.replace("ts   =", 'host = "u8"\nts   ='), "a key is given twice"),
    "table_twice": (BASE + "[fields]\nx = 'u8'", "a table is declared twice: '[fields]'"),
    "date_as_name": (BASE.replace('"logs"', "1979-05-27"), "table: 1979-05-27 is not valid"),
    "date_as_type": (
        BASE.replace('"timestamp_ms"', "1979-05-27T07:32:00Z"),
        "fields.ts: 1979-05-27T07:32:00+00:00 is not valid",
    ),
    # keys and conditions
    "deep_key": (
        _set_key_part("[" + "desc(" * 3_000 + "ts" + ")" * 3_000 + "]"),
        "calls are nested too deeply",
    ),
    "long_key": (_set_key_part("[host]" * 20_000), "characters; expected at most 20,000"),
    "key_of_parts": (_set_key_part("[host]" * 65), "the key has too many parts"),
    "key_of_mistakes": (
        _set_key_part(
            "[bucket("
            + ",".join(["bucket(" + ",".join(["hosst"] * 60) + ",4)"] * (30 if IS_LONG else 10))
            + ",4)]"
        ),
        "there is no field 'hosst'",
    ),
    "key_of_spaces": (
        _set_key_part("[" + " " * 19_000 + "%"),
        "a key cannot contain the operator '%'",
    ),
    "key_of_maxima": (_set_key_part("[" + "MAX " * 4_000 + "]"), "found 'MAX' instead of ]"),
    "key_of_hashes": (_set_key_part("[" + "hash" * 4_500), "key: "),
    "where_of_quotes": (BASE.replace("host = ?", "'" * 3_999), "reads[0].where: "),
    "where_of_tests": (BASE.replace("host = ?", " and ".join(["host = ?"] * 65)), "too many"),
    "duration": (BASE.replace("30d", "1" * 60_000 + "d"), "is not a length of time"),
}


LARGE = {
    "rests_of_rests": _set_key_part("[bucket(16, over=rest)]" * 22),
    "rests_of_all": _set_key_part("[bucket(65536, over=rest)]" * 60),
    "letters": _set_key_part("[bucket(host, 65536, as=letters)]" * 60),
    "nested_buckets": _set_key_part(
        "[bucket(" + ",".join(["bucket(" + ",".join(["bucket(ts, 65536)"] * 20) + ", 65536)"] * 50)
        + ", 65536)]"
    ),
    "deep_buckets": _set_key_part("[" + "bucket(" * 16 + "ts" + ", 65536)" * 16 + "]"),
    "wide_buckets": _set_key_part("[bucket(host, 65536)]"),
    "many_reads": _set_key_part("[bucket(host, 65536)]") + "".join(
        f"[[reads]]\nname = 'r{number}'\nwhere = 'ts = {number}'\norder = 'ts'\n"
        for number in range(190 if IS_LONG else 40)
    ),
    "searched_reads": _set_key_part("[bucket(host, 65536)]") + "".join(
        f"[[reads]]\nname = 'r{number}'\nwhere = 'ts = {number}'\n" for number in range(15)
    ),
    "long_lists": BASE.replace(
        "host = ?", "ts in (" + ", ".join(map(str, range(700))) + ") and host in (?, ?)"
    ),
}  # fmt: skip
"""Files of less than 20 kB with large numbers or counts; some are valid."""


SPLITS_NAMES = [*FILES][:: 6 if IS_LONG else 12]
"""Files that `rowkey splits` reads too, which reads every file as `rowkey check` does."""
LONG_NAMES = {
    "unknown_options", "many_fields", "chosen_twice", "letters", "wide_buckets",
    "many_splits", "open_long_string", "deep_buckets", "searched_reads",
}  # fmt: skip
"""Files that take longest and resemble others: only `make test-long` reads them."""


SMALL_NAMES = {name for name, (text, _) in FILES.items() if len(text) < 6_000}
"""Files that only `make test-long` reads in a process each, whose time and memory it measures.

What the numbers in them allocate is measured by `test_limits.py`."""


def mark_long(names: Iterable[str], long_names: Iterable[str] = LONG_NAMES) -> list[Any]:
    """Return names as parameters, those that only `make test-long` tries marked."""
    return [
        pytest.param(name, marks=pytest.mark.long if name in long_names else ()) for name in names
    ]


@pytest.fixture(scope="module")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the measurements of `check` and `splits` by `command name`.

    What a small file makes `check` print is found in this process.
    """
    folder = tmp_path_factory.mktemp("hostile")
    for name, (text, _) in FILES.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, text in LARGE.items():
        assert len(text) < 20_000
        (folder / name).write_text(text, "utf-8")
    for name in () if IS_LONG else LONG_NAMES:
        (folder / name).unlink()
    other = tmp_path_factory.mktemp("splits")
    for name in (*SPLITS_NAMES, *LARGE):
        if (folder / name).exists():
            (other / name).write_bytes((folder / name).read_bytes())
    unmeasured = {}
    for name in () if IS_LONG else SMALL_NAMES:
        unmeasured[f"check {name}"] = asdict(run("check", folder / name))
        (folder / name).unlink()
    (folder / "directory").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "dangling").symlink_to(folder / "nothing")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "zeros").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
    command = [sys.executable, str(MEASURE), str(TRIES), "check", str(folder), "splits", str(other)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found | unmeasured


MORE_PROBLEMS = {
    "directory": "the path is not a regular file",
    "fifo": "the path is not a regular file",
    "dangling": "the file cannot be read: No such file or directory",
    "loop": "the file cannot be read: Too many levels of symbolic links",
    "zeros": "the path is not a regular file",
    "socket": "the path is not a regular file",
}
UNREADABLE = {"not_utf_8", "utf_16", "surrogate_bytes", *MORE_PROBLEMS}
MESSAGES = {**{name: message for name, (_, message) in FILES.items()}, **MORE_PROBLEMS}


@pytest.mark.parametrize("name", mark_long(MESSAGES))
def test_a_hostile_design_file_is_refused_by_check_with_sentences(
    name: str, measurements: dict[str, dict[str, Any]]
) -> None:
    """Checking a hostile file prints its mistakes as sentences; it exits with 2 if unreadable."""
    found = measurements[f"check {name}"]
    assert (2 if name in UNREADABLE else 1, "") == (found["code"], found["err"])
    assert MESSAGES[name] in found["out"]
    assert all(len(line) < 2_000 and line.isprintable() for line in found["out"].splitlines())


@pytest.mark.parametrize("name", mark_long(SPLITS_NAMES))
def test_other_commands_refuse_a_hostile_design_in_three_lines(
    name: str, measurements: dict[str, dict[str, Any]]
) -> None:
    """Other commands exit with 2, no output, and at most three lines of error."""
    found = measurements[f"splits {name}"]
    assert (2, "") == (found["code"], found["out"])
    assert "Traceback" not in found["err"]
    assert 1 <= found["err"].count("\n") <= 3


@pytest.mark.parametrize("name", mark_long(MESSAGES, LONG_NAMES | SMALL_NAMES))
def test_checking_a_hostile_design_takes_little_time_and_memory(
    name: str, measurements: dict[str, dict[str, Any]]
) -> None:
    """Either command takes less than 20 yards of processor time and 200 MB."""
    for verb in ("check", "splits") if name in SPLITS_NAMES else ("check",):
        found = measurements[f"{verb} {name}"]
        assert found["yards"] < MOST_YARDS
        assert found["megabytes"] < MOST_MEGABYTES


@pytest.mark.parametrize("name", mark_long(LARGE))
def test_no_small_design_file_is_slow_or_large_to_process(
    name: str, measurements: dict[str, dict[str, Any]]
) -> None:
    """No small file, valid or not, makes a command slow, large or fail."""
    for verb in ("check", "splits"):
        found = measurements[f"{verb} {name}"]
        assert "Traceback" not in found["err"]
        assert found["code"] in (0, 1, 2), found
        assert found["yards"] < MOST_YARDS
        assert found["megabytes"] < MOST_MEGABYTES


SPOILERS = [
    "",
    "\0",
    "\n",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\\",
    "é",
    "\ud800",
    "[[",
    "#",
    "'''",
    "9" * 50,
    "1e400",
    "-",
    "inf",
    "1979-05-27",
    "null",
    "\u2028",
    "\u202e",
]


@given(st.integers(0, 2**32), st.sampled_from(["sound", "wrong"]))
def test_a_randomly_changed_design_file_is_valid_or_has_mistakes(seed: int, which: str) -> None:
    """A randomly changed file is a design or has mistakes, quickly and without other errors."""
    chance = random.Random(seed)
    text = BASE if which == "sound" else MEASURE.with_name("wrong.toml").read_text("utf-8")
    text = re.sub(" +#!.*", "", text)
    for _ in range(40 if IS_LONG else 15):
        spoiled = text
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(spoiled))
            spoiled = spoiled[:at] + chance.choice(SPOILERS) + spoiled[at + chance.randrange(6) :]
        assert any(_measure_read(spoiled) < MOST_YARDS for _ in range(TRIES))


def _measure_read(text: str) -> float:
    """Return the processor time, in yards, of reading a text, valid or not."""
    start = process_time()
    try:
        assert Design.loads(text).table
    except InvalidDesign as problem:
        assert problem.mistakes  # noqa: PT017 - every refusal says why
    return (process_time() - start) / measure_yard_s()


@given(st.binary(max_size=200))
def test_a_design_file_of_random_bytes_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """A file of random bytes is refused with a message."""
    path = tmp_path_factory.mktemp("bytes") / "design.toml"
    path.write_bytes(data)
    with pytest.raises(InvalidDesign) as caught:
        Design.read(path)
    assert caught.value.mistakes


@pytest.mark.parametrize("text", ["\udce9fields = 1", BASE + "x = '\ud83d'", "# \udcff\n" + BASE])
def test_a_name_with_a_lone_surrogate_is_refused(text: str) -> None:
    """A name with a lone surrogate, from bytes that are not UTF-8, is refused."""
    with pytest.raises(InvalidDesign, match=r"'\\ud[c8]..'; expected text that UTF-8 can encode"):
        Design.loads(text)


def test_a_design_file_of_256_kib_is_read_and_a_larger_one_refused() -> None:
    """A file of 256 KiB is read, and one more byte is refused."""
    padded = BASE + "#" * (MAX_DESIGN_BYTES - len(BASE))
    assert Design.loads(BASE) == Design.loads(padded)
    with pytest.raises(InvalidDesign, match="262,145 bytes"):
        Design.loads(padded + "#")


def test_a_design_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """A file may begin with a byte order mark, as Windows editors write."""
    path = tmp_path / "design.toml"
    path.write_text(BASE.replace("\n", "\r\n"), "utf-8-sig", newline="")
    assert Design.loads(BASE) == Design.read(path)


def test_no_text_of_a_design_file_is_compiled_as_a_regular_expression(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []
    compile_ = re._compile  # type: ignore[attr-defined]

    def noted(pattern: Any, flags: Any) -> Any:
        compiled.append(str(pattern))
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "_compile", noted)
    marked = BASE.replace("host", "(a+)+b")
    with pytest.raises(InvalidDesign):
        Design.loads(marked)
    Design.loads(BASE.replace("host", "qqq").replace('"n"', '"(a+)+b"')).dumps()
    assert [] == [pattern for pattern in compiled if "(a+)+b" in pattern or "qqq" in pattern]


@pytest.mark.parametrize("name", ["events.csv", "events.JSONL", "access.log.gz"])
def test_a_sample_given_in_place_of_a_design_is_answered_with_init(
    tmp_path: Path, name: str
) -> None:
    """A file of events is no design, and the error says how to draft one from it."""
    path = tmp_path / name
    path.write_text("host,ts\na,1\n")
    with pytest.raises(InvalidDesign) as caught:
        Design.read(path)
    assert f"rowkey init {path} -o " in str(caught.value)
    assert "holds events, not a design" in str(caught.value)
