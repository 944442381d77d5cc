"""The fault matrix: each file of a table directory, each type of fault, each probe."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from reliability.faults import AT_REST
from reliability.places import classify_file, list_files
from reliability.probes import PROBES, probe_all
from rowkey.cli.pandas_guard import skip_pandas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

CRASHED = "crashed"
NEEDLESS = frozenset({"LOG", "OPTIONS", "t/IDENTITY", "t/high-water", "t/rocksdict-config.json"})
"""Types of files that a table is read without."""


@dataclass
class Outcome:
    """The result of the faults of one type in the files of one type.

    Args:
        state: the state of the undamaged directory.
        file: the type of the files.
        fault: the type of fault.
        faults: the number of faults.
        verdicts: by probe, the number of right, refused and wrong answers, and of crashes.
        wrong: the wrong answers.
    """

    state: str
    file: str
    fault: str
    faults: int = 0
    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[str] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        """Return how many answers had a verdict."""
        return sum(counts[verdict] for counts in self.verdicts.values())

    def document(self) -> dict[str, Any]:
        """The outcome as JSON."""
        verdicts = {probe: dict(self.verdicts[probe]) for probe in PROBES}
        return {
            "state": self.state, "file": self.file, "fault": self.fault, "faults": self.faults,
            "verdicts": verdicts, "wrong": self.wrong,
        }  # fmt: skip


def damage_files(
    place: Path,
    work: Path,
    state: str,
    counts: Mapping[str, int],
    progress: Callable[[int], None] = lambda _: None,
) -> list[Outcome]:
    """Damage every file of a directory in every way, and run all probes on each damaged copy.

    A child process reads the copies; if it crashes, another one continues.

    Args:
        place: an undamaged directory.
        work: a folder to work in.
        state: the state of the directory.
        counts: the number of faults of each type for a file.
        progress: called with the number of faults tried.
    """
    outcomes: dict[tuple[str, str], Outcome] = {}
    note, first = work / "notes.jsonl", 0
    tasks = [(classify_file(path), fault) for path, fault, _ in _list_faults(place, counts)]
    context = multiprocessing.get_context("spawn")
    while first < len(tasks):
        note.unlink(missing_ok=True)
        process = context.Process(
            target=_try_faults, args=(place, work, state, counts, first, note)
        )
        process.start()
        process.join()
        told = note.read_text("utf-8").splitlines() if note.exists() else []
        for line in told:
            found = json.loads(line)
            outcome = _get_outcome(outcomes, state, *tasks[first])
            outcome.faults += 1
            outcome.wrong += found["wrong"]
            for probe, verdicts in found["verdicts"].items():
                outcome.verdicts[probe].update(verdicts)
            first += 1
            progress(first)
        if process.exitcode != 0:
            outcome = _get_outcome(outcomes, state, *tasks[first])
            outcome.faults += 1
            outcome.verdicts["open"][CRASHED] += 1
            outcome.wrong.append(f"fault {first}: the process ended with {process.exitcode}")
            first += 1
    return list(outcomes.values())


def _get_outcome(
    outcomes: dict[tuple[str, str], Outcome], state: str, file: str, fault: str
) -> Outcome:
    return outcomes.setdefault((file, fault), Outcome(state, file, fault))


def _list_faults(place: Path, counts: Mapping[str, int]) -> Iterator[tuple[Path, str, Any]]:
    """Yield all faults in a fixed order: file, type, and the function that damages a copy.

    With one fault of each type, the first file of a type gets two, and the others get one, as do
    files that no answer depends on.
    """
    ordinals: Counter[str] = Counter()
    for position, path in enumerate(list_files(place)):
        type_ = classify_file(path)
        ordinal = ordinals[type_]
        ordinals[type_] += 1
        is_first = not ordinal and type_ not in NEEDLESS
        for number, (kind, count) in enumerate(counts.items()):
            is_passed_over = (position - number) % len(counts) > is_first
            if max(counts.values()) == 1 and is_passed_over:
                continue
            random = Random(f"{path} {kind}")
            for damage in AT_REST[kind](place / path, count, random):
                yield path, kind, damage


def _try_faults(
    place: Path, work: Path, state: str, counts: Mapping[str, int], first: int, note: Path
) -> None:
    """Try the faults from a number on, and note each result."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    copy = work / "copy"
    with skip_pandas(), note.open("a", encoding="utf-8") as notes:
        for number, (path, kind, damage) in enumerate(_list_faults(place, counts)):
            if number < first:
                continue
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(place, copy)
            damage(copy / path)
            verdicts: dict[str, Counter[str]] = defaultdict(Counter)
            wrong = [f"{path}, {kind} {number}: {one}" for one in probe_all(copy, state, verdicts)]
            json.dump({"verdicts": verdicts, "wrong": wrong}, notes)
            notes.write("\n")
            notes.flush()
