"""Processes that write a catalog of files, for tests that run several at once or kill them.

`allocate DIRECTORY SEED_OPTION COUNT` gives ids to so many values and prints `value id` for each;
with an odd seed to some at a time. `rewrite DIRECTORY` forks, for each line of its input, a child
that writes the entry again and again and prints `wrote VERSION` once it is written; the parent
prints `forked PID`, and `gone PID` once the child is dead. `race URL` reads the entry, prints `read
VERSION`, waits for a line of its input, replaces it, prints `won VERSION` or `lost`, waits for a
line, and begins again.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from rowkey.catalog import CatalogDictionary, CatalogEntry, open_catalog
from rowkey.design import Design
from rowkey.errors import Conflict

DESIGN = Design("logs", "[code(host)][n]", fields={"host": "text", "n": "u64"})
VALUES = 700
"""Values that all allocators draw from, so that they meet."""
AT_ONCE = 20
"""Values that are learnt together."""


def allocate(directory: str, seed: int, count: int) -> None:
    """Ask for the ids of random values."""
    dictionary = CatalogDictionary(open_catalog(f"file:{directory}"), "logs", DESIGN.fields)
    values = Random(seed).sample([f"host-{number}" for number in range(VALUES)], count)
    for start in range(0, count, AT_ONCE):
        block = values[start : start + AT_ONCE]
        if seed % 2:
            dictionary.assign_ids({"host": block})
        for value in block:
            print(value, dictionary.assign_id("host", value))


def rewrite(directory: str) -> None:
    """Fork a writer for each line of the input."""
    for _ in sys.stdin:
        if (child := os.fork()) == 0:
            write_for_ever(directory)
        print("forked", child, flush=True)
        os.waitpid(child, 0)
        print("gone", child, flush=True)


def entry_at(version: int) -> CatalogEntry:
    """The entry that is written as a version: its declaration, splits and ids tell which it is."""
    reads = [{"name": f"r{version}", "where": "host = ?"}]
    design = Design("logs", str(DESIGN.key), fields={"host": "text", "n": "u64"}, reads=reads)
    splits = [version.to_bytes(4, "big") + number.to_bytes(28, "big") for number in range(300)]
    return replace(
        CatalogEntry.from_design(design, splits, version), codes={"host": values_at(version)}
    )


def values_at(version: int) -> tuple[str, ...]:
    """The values that have ids in a version: one more than in the one before."""
    return tuple(f"host-{number}" for number in range(version))


def write_for_ever(directory: str) -> None:
    """Write the entry with the next version, over and over."""
    catalog = open_catalog(f"file:{directory}")
    while True:
        entry = catalog.read("logs")
        before = None if entry is None else entry.version
        version = catalog.write("logs", entry_at((before or 0) + 1), before)
        print("wrote", version, flush=True)


def race(url: str) -> None:
    """Read the entry, wait for a line, replace it; again and again, until there is no line."""
    catalog = open_catalog(url)
    while True:
        entry = catalog.read("logs")
        assert entry is not None
        print("read", entry.version, flush=True)
        if not sys.stdin.readline():
            break
        try:
            print("won", catalog.write("logs", entry, entry.version), flush=True)
        except Conflict:
            print("lost", flush=True)
        sys.stdin.readline()
    catalog.close()


if __name__ == "__main__":
    verb, where, *numbers = sys.argv[1:]
    if verb == "allocate":
        allocate(where, *map(int, numbers))
    elif verb == "race":
        race(where)
    else:
        rewrite(where)
