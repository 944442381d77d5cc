"""Parsed rows are kept beside a sample, and are found for the same content and options only."""

from __future__ import annotations

import gzip
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import run
from rowkey.errors import SampleError
from rowkey.workload import RecordedSample, SkippedRows, allow_sample_cache, record_sample
from rowkey.workload import sample_cache as module
from rowkey.workload.formats.csv import CsvFormat

HOSTS = [f"host{n % 7}" for n in range(3_000)]
ROWS = [{"ts": 1_700_000_000 + n, "host": host, "n": n} for n, host in enumerate(HOSTS)]
CSV = "ts;host;n\n" + "".join(f"{r['ts']};{r['host']};{r['n']}\n" for r in ROWS) + "a;b\n"
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
LOG = "".join(
    f'10.0.0.{n % 9} - - [10/Oct/2024:13:{n // 60 % 60:02d}:{n % 60:02d} +0000] "GET /{n} HTTP/1.1"'
    f" 200 {n}\n"
    for n in range(3_000)
)
COLUMNS = "".join(f"{r['ts']}   {r['host']}   {r['n']}\n" for r in ROWS)
FILES: dict[str, tuple[str, dict[str, Any] | None]] = {
    "rows.csv": (CSV, None),
    "rows.jsonl": (LINES, None),
    "rows.json": (f"[{','.join(LINES.splitlines())}]", None),
    "access.log": (LOG, None),
    "rows.txt": (COLUMNS, {"kind": "columns", "names": ["ts", "host", "n"]}),
}
PADDED = "".join(CSV.replace(";", "; ").splitlines(keepends=True)[:200])
OPTIONS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "rows.csv": (
        PADDED,
        [
            {"kind": "csv"},
            {"kind": "csv", "delimiter": ";"},
            {"kind": "csv", "delimiter": ","},
            {"kind": "csv", "nulls": ["host1"]},
            {"kind": "csv", "names": ["a", "b", "c"]},
            {"kind": "csv", "skip_lines": 1, "names": ["a", "b", "c"]},
            {"kind": "csv", "encoding": "utf-16-le"},
            {"kind": "csv", "join": {"a": ["ts", "host"], "b": ["host", "n"]}},
            {"kind": "csv", "join": {"b": ["host", "n"], "a": ["ts", "host"]}},
            {"kind": "csv", "times": {"ts": "epoch_s"}, "numbers": {"n": "1,234.56"}},
            {"kind": "columns"},
        ],
    ),
    "rows.log": (
        "".join(LOG.splitlines(keepends=True)[:200]),
        [
            {"kind": "log"},
            {"kind": "log", "pattern": "common"},
            {"kind": "log", "pattern": "{host:word} {text}"},
            {"kind": "log", "pattern": "{host:word} {}"},
        ],
    ),
}


@pytest.fixture(autouse=True)
def _small_files_are_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the rows of files of any size."""
    monkeypatch.setattr(module, "MIN_ENTRY_BYTES", 1)
    with allow_sample_cache(is_allowed=True):
        yield


def read_all(
    path: Path, options: Mapping[str, Any] | None = None, columns: Sequence[str] | None = None
) -> tuple[list[dict[str, Any]], int, list[str], list[str]]:
    """Return the rows of a file, what was skipped of it, what is assumed, and its columns."""
    sample = record_sample(path, options)
    skipped = SkippedRows()
    rows = [row for batch in sample.read_batches(columns, skipped) for row in batch.to_pylist()]
    assert len(rows) == sample.row_count
    assumed = [str(one) for one in sample.format.assumptions]
    return (
        rows,
        skipped.count,
        skipped.format_problems() + assumed,
        list(sample.read_column_names() or ()),
    )


def forbid_parsing(patch: pytest.MonkeyPatch) -> None:
    """Let every pass over a sample file fail."""

    def fail(*_: object) -> Iterator[object]:
        raise AssertionError("the file is parsed")

    patch.setattr(RecordedSample, "_read_file", fail)


def list_kept(folder: Path) -> list[Path]:
    """Return what is kept of the samples of a folder."""
    return sorted((folder / module.CACHE_FOLDER).glob("*.rows"))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "packed"])
def test_cached_rows_equal_those_of_the_file(tmp_path: Path, name: str, *, is_packed: bool) -> None:
    """Rows, skipped ones, assumptions and columns are the same, without another parse."""
    text, options = FILES[name]
    path = tmp_path / (f"{name}.gz" if is_packed else name)
    path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    with allow_sample_cache(is_allowed=False):
        expected = read_all(path, options)
    assert expected == read_all(path, options)
    with pytest.MonkeyPatch.context() as patch:
        forbid_parsing(patch)
        assert expected == read_all(path, options)
        some = read_all(path, options, expected[3][1:2])[0]
    assert [{expected[3][1]: row[expected[3][1]]} for row in expected[0]] == some


def test_columns_missing_in_the_cache_are_added(tmp_path: Path) -> None:
    """A command that needs others keeps them as well, and later ones need none of the file."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    for columns in (["host"], ["n"]):
        read_all(path, columns=columns)
    with pytest.MonkeyPatch.context() as patch:
        forbid_parsing(patch)
        assert 3_000 == len(read_all(path, columns=["n", "host"])[0])
        with pytest.raises(AssertionError, match="is parsed"):
            read_all(path)


@given(place=st.integers(0, len(CSV) - 2), character=st.characters(codec="ascii"))
def test_a_changed_file_is_read_again_despite_the_cache(
    tmp_path_factory: pytest.TempPathFactory, place: int, character: str
) -> None:
    """Another byte at any place, with the same size and time, is another content."""
    path = tmp_path_factory.mktemp("changed") / "rows.csv"
    path.write_text(CSV)
    read_all(path)
    times = path.stat()
    changed = CSV[:place] + character + CSV[place + 1 :]
    path.write_bytes(changed.encode())
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def read() -> object:
        try:
            return read_all(path)
        except Exception as refusal:  # noqa: BLE001 - the same in both cases, whatever it is
            return repr(refusal)

    with allow_sample_cache(is_allowed=False):
        expected = read()
    assert expected == read()
    assert expected == read()


def test_options_that_decide_the_rows_have_cached_rows_of_their_own(tmp_path: Path) -> None:
    """Options that decide which rows there are find their own rows; layouts share them."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    for options in ({}, {"skip_lines": 5, "names": ["a", "b", "c"]}, {"nulls": ["host1"]}):
        read_all(path, {"kind": "csv", **options})
    assert 3 == len(list_kept(tmp_path))
    with pytest.MonkeyPatch.context() as patch:
        forbid_parsing(patch)
        assert 2_996 == len(read_all(path, {"kind": "csv", "skip_lines": 5, "names": [*"abc"]})[0])
        read_all(path, {"kind": "csv", "times": {"ts": "epoch_s"}, "max_skipped": 0.5})


@given(data=st.data())
def test_cached_rows_do_not_change_the_answer_under_other_options(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """What one command keeps does not show in the answer of one that declares other options."""
    name = data.draw(st.sampled_from(sorted(OPTIONS)))
    text, choices = OPTIONS[name]
    path = tmp_path_factory.mktemp("options") / name
    path.write_text(text)

    def read(options: Mapping[str, Any]) -> object:
        try:
            return read_all(path, options)
        except SampleError as refusal:
            return str(refusal)

    for options in data.draw(st.lists(st.sampled_from(choices), min_size=1, max_size=3)):
        with allow_sample_cache(is_allowed=False):
            expected = read(options)
        assert expected == read(options)
        assert expected == read(options)


def test_rows_of_a_format_of_another_package_are_not_cached(tmp_path: Path) -> None:
    """A format of another package may change without a trace that rowkey knows."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    other_format = type("OtherFormat", (CsvFormat,), {"name": "csv", "__module__": "others.csv"})
    list(RecordedSample(path, other_format({})).read_batches(None, SkippedRows()))
    assert [] == list_kept(tmp_path)


@given(data=st.data())
def test_damaged_cached_rows_are_ignored(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A bit flip, a truncation, another file's rows, a folder or a pipe in their place."""
    path = tmp_path_factory.mktemp("damaged") / "rows.jsonl"
    path.write_text(LINES)
    expected = read_all(path)
    (kept,) = list_kept(path.parent)
    content = bytearray(kept.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    match data.draw(st.sampled_from(["other", "flip", "cut", "empty", "folder", "pipe"])):
        case "other":
            other = path.with_name("other") / data.draw(st.sampled_from(["rows.jsonl", "x.jsonl"]))
            other.parent.mkdir()
            other.write_text(LINES.replace("host1", "node1"))
            read_all(other)
            list_kept(other.parent)[0].replace(kept)
        case "flip":
            content[place] ^= 1 << data.draw(st.integers(0, 7))
            kept.write_bytes(content)
        case "cut":
            kept.write_bytes(content[:place])
        case "empty":
            kept.write_bytes(b"")
        case "folder":
            kept.unlink()
            kept.mkdir()
        case _:
            kept.unlink()
            os.mkfifo(kept)
    assert expected == read_all(path)


def test_a_file_that_changes_while_it_is_read_is_not_cached(tmp_path: Path) -> None:
    """Rows of a file that grew while it was read belong to no content."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    batches = record_sample(path).read_batches(None, SkippedRows())
    next(batches)
    with path.open("a") as file:
        file.write("1;host;2\n")
    list(batches)
    assert [] == list_kept(tmp_path)


def test_an_interrupted_command_caches_nothing(tmp_path: Path) -> None:
    """A command that is interrupted keeps nothing."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    batches = record_sample(path).read_batches(None, SkippedRows())
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert [] == list_kept(tmp_path)


def test_the_least_recently_used_rows_leave_the_cache_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder keeps a bounded number of bytes, of what was used last."""
    sizes = []
    for number in range(6):
        path = tmp_path / f"rows{number}.csv"
        path.write_text(CSV.replace("host1", f"node{number}"))
        read_all(path)
        for age, kept in enumerate(
            sorted(list_kept(tmp_path), key=lambda one: one.stat().st_mtime)
        ):
            os.utime(kept, (age, age))
        sizes.append(sum(one.stat().st_size for one in list_kept(tmp_path)))
        monkeypatch.setattr(module, "MAX_FOLDER_BYTES", 3 * sizes[0])
    assert [1, 2, 3, 3, 3, 3] == [round(size / sizes[0]) for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        forbid_parsing(patch)
        read_all(tmp_path / "rows5.csv")
        with pytest.raises(AssertionError, match="is parsed"):
            read_all(tmp_path / "rows0.csv")


def test_cached_rows_are_readable_only_by_their_user(tmp_path: Path) -> None:
    """The rows of a private file are not given to others."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    read_all(path)
    (kept,) = list_kept(tmp_path)
    assert (0o600, 0o700) == tuple(stat.S_IMODE(one.stat().st_mode) for one in (kept, kept.parent))


@pytest.mark.parametrize("owner", ["another", "a link"])
def test_a_cache_folder_writable_by_others_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    """Who may write to a folder of samples may not plant rows, or lead rowkey to other files."""
    path, folder = tmp_path / "rows.csv", tmp_path / module.CACHE_FOLDER
    path.write_text(CSV)
    read_all(path)
    if owner == "another":
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to("elsewhere")
    for file in folder.iterdir():
        file.write_bytes(b"planted")
    with pytest.MonkeyPatch.context() as patch:
        forbid_parsing(patch)
        with pytest.raises(AssertionError, match="is parsed"):
            read_all(path)
    read_all(path)
    assert {b"planted"} == {file.read_bytes() for file in folder.iterdir()}


def test_a_cache_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """A file stands where the rows would be kept."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    (tmp_path / module.CACHE_FOLDER).write_text("")
    assert read_all(path) == read_all(path)


def test_only_commands_cache_rows_and_print_the_same_without_a_cache(tmp_path: Path) -> None:
    """A command prints the same with and without what is kept, and --no-cache keeps nothing."""
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    arguments = ["init", path, "-o", "-"]
    with allow_sample_cache(is_allowed=False):
        read_all(path)
        plain = run(*arguments, "--no-cache")
        assert not (tmp_path / module.CACHE_FOLDER).exists()
        assert plain == run(*arguments)
        assert [] != list_kept(tmp_path)
        with pytest.MonkeyPatch.context() as patch:
            forbid_parsing(patch)
            assert plain == run(*arguments)
            with pytest.raises(AssertionError, match="is parsed"):
                read_all(path)
    assert 0 == plain.code


def test_rows_of_standard_input_are_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its copy is removed at the end of the command, so no command will look for its rows."""
    written: list[object] = []
    monkeypatch.setattr(module.SampleCache, "_write", lambda *_: written.append(1))
    text = CSV.encode()
    assert 0 == run("init", "-", "--sample-format", "csv", "-o", "-", stdin=text).code
    assert [] == written
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    assert 0 == run("init", path, "-o", "-").code
    assert [1] == written
