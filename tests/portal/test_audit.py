from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from rowkey.portal.audit import AuditLog

if TYPE_CHECKING:
    from pathlib import Path


def test_entries_of_many_writers_are_whole(tmp_path: Path) -> None:
    """Entries that several threads append at once are each one line."""
    path = tmp_path / "state" / "audit.jsonl"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: AuditLog(path).append("ann", "save", f"file {n}"), range(40)))
    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {f"file {n}" for n in range(40)} == {entry["target"] for entry in entries}
    assert 0o600 == path.stat().st_mode & 0o777


def test_the_newest_entries_come_first(tmp_path: Path) -> None:
    """The log is read from its end; a line that a crash has cut is left out."""
    log = AuditLog(tmp_path / "audit.jsonl")
    assert [] == log.read_newest(3)
    for number in range(5):
        log.append("ann", "save", str(number))
    with log.path.open("a", encoding="utf-8") as file:
        file.write('{"time_ms": 1, "user"')
    assert ["4", "3", "2"] == [entry["target"] for entry in log.read_newest(3)]


def test_a_value_cannot_write_an_entry(tmp_path: Path) -> None:
    """A name with a line feed, or a very long one, stays within its entry."""
    log = AuditLog(tmp_path / "audit.jsonl")
    log.append("ann", "save", 'x\n{"user":"eve"}', text="y" * 10_000)
    (line,) = log.path.read_text("utf-8").splitlines()
    assert (len(line) < 1_000, "ann") == (True, json.loads(line)["user"])
