"""Processes that write a catalog of files, for tests that run several at once or kill them.

`allocate DIRECTORY PROCESSES COUNT` forks processes of which each gives ids to so many values and
prints `value id` for each; every second one to some at a time. `rewrite DIRECTORY` forks, for each
line of its input, a child that writes the entry again and again and prints `wrote VERSION` once it
is written; the parent prints `forked PID`, and `gone PID` once the child is dead. `race URL` reads
the entry, prints `read VERSION`, waits for a line of its input, replaces it, prints `won VERSION`
or `lost`, waits for a line, and begins again.
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
VALUES = 340
"""Values that all allocators use, so that they collide."""
AT_ONCE = 20
"""The number of values that are learnt together."""


def allocate(directory: str, processes: int, count: int) -> int:
    """Fork processes that allocate ids, and return how many of them failed."""
    children = []
    for seed in range(processes):
        if not (child := os.fork()):
            allocate_ids(directory, seed, count)
            sys.exit()
        children.append(child)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


def allocate_ids(directory: str, seed: int, count: int) -> None:
    """Allocate the ids of random values and print them."""
    dictionary = CatalogDictionary(open_catalog(f"file:{directory}"), "logs", DESIGN.fields)
    values = Random(seed).sample([f"host-{number}" for number in range(VALUES)], count)
    for start in range(0, count, AT_ONCE):
        block = values[start : start + AT_ONCE]
        if seed % 2:
            dictionary.assign_ids({"host": block})
        for value in block:
            sys.stdout.write(f"{value} {dictionary.assign_id('host', value)}\n")


def rewrite(directory: str) -> None:
    """Fork a writer for each line of the input."""
    for _ in sys.stdin:
        if (child := os.fork()) == 0:
            write_forever(directory)
        print("forked", child, flush=True)
        os.waitpid(child, 0)
        print("gone", child, flush=True)


def build_entry(version: int) -> CatalogEntry:
    """Return the entry of a version, whose declaration, splits and ids depend on the version."""
    reads = [{"name": f"r{version}", "where": "host = ?"}]
    design = Design("logs", str(DESIGN.key), fields={"host": "text", "n": "u64"}, reads=reads)
    splits = [version.to_bytes(4, "big") + number.to_bytes(28, "big") for number in range(300)]
    return replace(
        CatalogEntry.from_design(design, splits, version), codes={"host": list_values(version)}
    )


def list_values(version: int) -> tuple[str, ...]:
    """Return the values that have ids in a version: each version has one more."""
    return tuple(f"host-{number}" for number in range(version))


def write_forever(directory: str) -> None:
    """Write the entry with the next version again and again."""
    catalog = open_catalog(f"file:{directory}")
    while True:
        entry = catalog.read("logs")
        before = None if entry is None else entry.version
        version = catalog.write("logs", build_entry((before or 0) + 1), before)
        print("wrote", version, flush=True)


def race_writes(url: str) -> None:
    """Read the entry, wait for a line, and replace the entry, until the input ends."""
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
        sys.exit(allocate(where, *map(int, numbers)))
    elif verb == "race":
        race_writes(where)
    else:
        rewrite(where)
