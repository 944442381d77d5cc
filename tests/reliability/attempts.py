"""Tries one fault of one object in processes of its own, and judges what each call did."""

from __future__ import annotations

import json
import os
import pkgutil
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import rowkey
from oracles.build import OracleUnavailable
from reliability.faults import DamagedFile, FaultAtRest, FaultInUse, SecondFault
from reliability.scenarios.contract import (
    AS_STORED,
    CRASHED,
    REFUSED,
    REPAIRED,
    UNAFFECTED,
    WRONG,
    ReadAsStored,
)
from reliability.shim import Shim

if TYPE_CHECKING:
    from reliability.faults import Fault
    from reliability.scenarios import Scenario, StoredObject

TIME_LIMIT_S = 20.0
"""Seconds after which a process hangs. Each call ends within a second on an idle machine."""
MEMORY_LIMIT_BYTES = 2 << 30
"""Address space that a process may have more than at its start."""
GROUP = 10
"""Faults at rest that one process tries. A new process needs 15 ms, and longer until it is warm."""


@dataclass
class Attempt:
    """What became of each call under one fault.

    Args:
        verdicts: by call.
        problems: what was wrong, by call.
        is_met: whether the fault happened at all.
    """

    verdicts: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    is_met: bool = True

    def note(self, call: str, verdict: str, problem: str = "") -> None:
        """Note what became of a call."""
        self.verdicts[call] = verdict
        if problem:
            self.problems[call] = problem


@dataclass
class FailingShim:
    """A fault in use that the shim makes, for the files of one object.

    Args:
        shim: the shim.
        fault: the fault.
        number: of the call that fails, from 1.
        is_sticky: whether later calls fail too.
        files: patterns of the files; none: all.
    """

    shim: Shim
    fault: FaultInUse
    number: int
    is_sticky: bool
    files: tuple[str, ...]
    hits: int = 0

    def start(self) -> None:
        """Let calls fail from now on."""
        parents = tuple(name.rpartition("/")[0] for name in self.files)
        files = (*self.files, *parents) if self.fault.calls in ("syncs", "kills") else self.files
        self.shim.fail(
            self.fault.calls, self.fault.error, self.number, is_sticky=self.is_sticky, files=files
        )

    def stop(self) -> None:
        """Let no call fail from now on."""
        self.hits = max(self.hits, self.shim.disarm())

    @property
    def is_met(self) -> bool:
        """Whether a call has failed."""
        return self.hits >= self.number


def import_everything() -> None:
    """Import all modules of rowkey and what they import late, so that no forked process has to."""
    for module in pkgutil.walk_packages(rowkey.__path__, "rowkey."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    design = rowkey.Design("t", "[id]", fields={"id": "u32"})
    with rowkey.open(design, "memory:") as table:
        table.put({"id": 1})
        assert [[{"id": 1}]] == [batch.to_pylist() for batch in table.scan().batches(1)]


class Bench:
    """The undamaged places of all scenarios, and a folder to try faults in.

    It forks a process for each attempt, so it runs in a process without threads.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        import_everything()
        self._built, self._work = folder / "built", folder / "work"
        self._work.mkdir(parents=True)
        self._servers = ExitStack()
        self._unavailable: set[type[Scenario]] = set()

    def close(self) -> None:
        """End the servers of the scenarios."""
        self._servers.close()

    def try_faults(
        self, target: StoredObject, fault: Fault, seeds: Iterable[int]
    ) -> Iterator[tuple[int, Attempt]]:
        """Yield each seed and what became of the fault that it decides; none without a server."""
        if not self._build_places(target.scenario):
            return
        if isinstance(fault, FaultAtRest):
            left = list(seeds)
            for first in range(0, len(left), GROUP):
                group = left[first : first + GROUP]
                yield from zip(group, self._try_at_rest(target, fault, group), strict=True)
            return
        for seed in seeds:
            trial = self._build_trial(target, fault, seed)
            if isinstance(fault, SecondFault):
                attempt = trial.try_second_fault(fault)
            else:
                assert isinstance(fault, FaultInUse)
                attempt = trial.try_in_use(fault, seed)
            yield seed, attempt
            shutil.rmtree(trial.place.parent)

    def _build_places(self, kind: type[Scenario]) -> bool:
        """Build the undamaged places of a scenario once; return whether it can be tried."""
        folder = self._built / kind.__name__
        if not folder.exists():
            folder.mkdir(parents=True)
            scenario = kind()
            try:
                self._servers.enter_context(scenario.start_server())
            except OracleUnavailable:
                self._unavailable.add(kind)
            else:
                error = run_in_process(lambda: scenario.build(folder))[1]
                assert not error, error
        return kind not in self._unavailable

    def _build_trial(self, target: StoredObject, fault: Fault, seed: int) -> Trial:
        """Return the trial of a fault that a seed decides, in a folder of its own."""
        folder = self._work / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        random = Random(f"{target.name} {fault.name} {seed}")
        built = self._built / target.scenario.__name__
        return Trial(target, target.scenario(), built, folder / "place", random)

    def _try_at_rest(
        self, target: StoredObject, fault: FaultAtRest, seeds: Sequence[int]
    ) -> Iterator[Attempt]:
        """Try faults one after the other in one process, which is forked and warmed once.

        If it hangs, dies or needs too much memory, each is tried again in a process of its own.
        """

        def try_all() -> list[dict[str, Any]]:
            results = []
            for seed in seeds:
                trial = self._build_trial(target, fault, seed)
                results.append(trial.try_at_rest(fault))
                shutil.rmtree(trial.place.parent, ignore_errors=True)
            return results

        results, problem, _ = run_in_process(try_all)
        if not problem:
            yield from (Attempt(**one) for one in results)
        elif len(seeds) == 1:
            yield Attempt({"open": CRASHED}, {"open": problem})
        else:
            for seed in seeds:
                yield from self._try_at_rest(target, fault, [seed])


def list_calls(target: StoredObject, fault: Fault) -> list[str]:
    """Return the calls in which a fault of an object is tried; none where it does not apply."""
    scenario = target.scenario
    if fault.name in target.skipped_faults:
        return []
    if isinstance(fault, FaultAtRest):
        return ["open", *scenario.calls, *scenario.recoveries]
    if isinstance(fault, SecondFault):
        return ["repair"] if scenario.can_repair else []
    return scenario.list_calls_in_use()


@dataclass
class Trial:
    """One fault of one object, in a fresh copy of a place."""

    target: StoredObject
    scenario: Scenario
    built: Path
    place: Path
    random: Random

    def __post_init__(self) -> None:
        """Choose the state of the place and the file."""
        files = [
            (state, path)
            for state in self.scenario.states
            for path in _list_files(self.built / state, self.target.files)
        ]
        full = [
            (state, path) for state, path in files if (self.built / state / path).stat().st_size
        ]
        self._state, self._path = self.random.choice(full or files)
        self._origin = self.built / self._state

    def _make_damaged_place(self, place: Path, fault: FaultAtRest, random: Random) -> bool:
        """Copy the undamaged place and damage it; return whether it has changed."""
        shutil.copytree(self._origin, place)
        earlier = [
            copy
            for folder in sorted(self.built.glob(f"{self._state}.earlier*"))
            for copy in self._find_copies(folder)
        ]
        other = self._find_copies(self.built / f"{self._state}.other")
        return fault.damage(DamagedFile(place / self._path, tuple(earlier), tuple(other)), random)

    def _find_copies(self, folder: Path) -> list[Path]:
        """Return the same file in a copy of the place, or those of its type if it is missing."""
        same = folder / self._path
        if same.exists():
            return [same]
        return [folder / path for path in _list_files(folder, self.target.files)]

    def try_at_rest(self, fault: FaultAtRest) -> dict[str, Any]:
        """Damage the file, open the place, run all calls, and repair another such place."""
        attempt, seed = Attempt(), self.random.random()
        second = self.place.with_name("repaired")
        if not self._make_damaged_place(self.place, fault, Random(seed)):
            return vars(Attempt(is_met=False))
        self._make_damaged_place(second, fault, Random(seed))
        scenario, session = self.scenario, None
        open_place = partial(scenario.open, self.place)
        if self._judge(attempt, "open", open_place) == UNAFFECTED:
            session = self._opened
            for call in scenario.calls:
                self._judge(attempt, call, partial(scenario.run, session, call))
            self._judge(attempt, "close", partial(scenario.close, session))
            if attempt.verdicts.pop("close") in (UNAFFECTED, REFUSED):
                attempt.problems.pop("close", None)
            else:
                attempt.note(scenario.calls[-1], CRASHED, attempt.problems.pop("close"))
        else:
            for call in scenario.calls:
                attempt.note(call, attempt.verdicts["open"])
        needs_repair = False
        for call in scenario.recoveries:
            verdict = self._judge(
                attempt, call, partial(scenario.recover, second, call, dict(attempt.verdicts))
            )
            needs_repair |= verdict == REFUSED
            if needs_repair and verdict == UNAFFECTED:
                attempt.note(call, REPAIRED)
        return vars(attempt)

    def _judge(self, attempt: Attempt, call: str, run: Callable[[], Any]) -> str:
        """Run a call and note its verdict, which is returned."""
        try:
            self._opened = problem = run()
        except self.scenario.refusals as error:
            names = self.scenario.list_names(self.place.parent, self._path)
            if any(name in str(error) for name in names):
                attempt.note(call, REFUSED)
            else:
                attempt.note(call, WRONG, f"refused without the name of the object: {error}")
        except ReadAsStored:
            attempt.note(call, AS_STORED)
        except Exception as error:  # noqa: BLE001 - whatever it is, it was not meant
            attempt.note(call, CRASHED, f"{type(error).__name__}: {error}"[:300])
        else:
            is_wrong = isinstance(problem, str) and problem
            attempt.note(call, WRONG if is_wrong else UNAFFECTED, problem if is_wrong else "")
        return attempt.verdicts[call]

    def try_in_use(self, fault: FaultInUse, seed: int) -> Attempt:
        """Let a call of the operating system fail, or kill the process at it, then compare."""
        calls = list_calls(self.target, fault)
        call, number = calls[seed % len(calls)], seed // len(calls) + 1
        is_sticky = fault.error != 0 and self.random.random() < 0.5
        files = self.target.files_in_use or self.target.files

        def use() -> dict[str, Any]:
            attempt = Attempt()
            shutil.copytree(self._origin, self.place)
            failing = FailingShim(Shim(self.place), fault, number, is_sticky, files)
            try:
                self._judge(
                    attempt, call, partial(self.scenario.try_call, self.place, call, failing)
                )
            finally:
                failing.stop()
            attempt.is_met = failing.is_met
            if attempt.is_met:
                self._check(attempt, call)
            return vars(attempt)

        result, problem, signal_number = run_in_process(use)
        if fault.error == 0 and signal_number == signal.SIGKILL:
            attempt = Attempt({call: REPAIRED})
            return Attempt(**_run_or_crash(lambda: self._check(attempt, call)))
        if problem:
            return Attempt({call: CRASHED}, {call: problem})
        return Attempt(**result)

    def _check(self, attempt: Attempt, call: str) -> dict[str, Any]:
        """Compare the place, now without a fault, with what was acknowledged."""
        verdict = attempt.verdicts[call]
        try:
            problem = self.scenario.check(self.place, call, is_acknowledged=verdict == UNAFFECTED)
        except Exception as error:  # noqa: BLE001 - whatever it is, it was not meant
            problem = f"afterwards: {type(error).__name__}: {error}"
        if problem and verdict != CRASHED:
            attempt.note(call, WRONG, problem[:300])
        return vars(attempt)

    def try_second_fault(self, fault: SecondFault) -> Attempt:
        """Damage the file, let the repair fail or die, and repair again."""
        first, second = self.random.choice(fault.first), self.random.choice(fault.second)
        number = int(1.3 ** self.random.uniform(0, 14))
        seed = self.random.random()

        def repair_under_fault() -> bool:
            if not self._make_damaged_place(self.place, first, Random(seed)):
                return False
            failing = FailingShim(Shim(self.place), second, number, False, ())
            try:
                failing.start()
                self.scenario.repair(self.place)
            except self.scenario.refusals:
                pass
            finally:
                failing.stop()
            return failing.is_met

        is_met, problem, signal_number = run_in_process(repair_under_fault)
        is_killed = second.error == 0 and signal_number == signal.SIGKILL
        if problem and not is_killed:
            return Attempt({"repair": CRASHED}, {"repair": problem})
        if not (is_met or is_killed):
            return Attempt(is_met=False)

        def repair_again() -> dict[str, Any]:
            attempt = Attempt()
            self._judge(attempt, "repair", partial(self.scenario.repair, self.place))
            if attempt.verdicts["repair"] == UNAFFECTED:
                attempt.note("repair", REPAIRED)
            return vars(attempt)

        return Attempt(**_run_or_crash(repair_again, "repair"))


def _list_files(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Return the files of a folder that match a pattern, by relative path, in a fixed order."""
    found = {path.relative_to(folder) for one in patterns for path in folder.glob(one)}
    return sorted(found)


def _run_or_crash(run: Callable[[], dict[str, Any]], call: str = "open") -> Mapping[str, Any]:
    """Return what a function returns in a process; if that dies or hangs, the call crashed."""
    result, problem, _ = run_in_process(run)
    return vars(Attempt({call: CRASHED}, {call: problem})) if problem else result


def run_in_process(run: Callable[[], Any]) -> tuple[Any, str, int]:
    """Run a function in a forked process.

    Returns:
        What it returned, a JSON value; why it did not return, or an empty text; and the signal that
        ended the process, 0 for none.
    """
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        _run_and_exit(run, writer)
    os.close(writer)
    content, end = b"", time.monotonic() + TIME_LIMIT_S
    is_hanging = False
    while True:
        left_s = end - time.monotonic()
        if left_s <= 0 or not select.select([reader], [], [], left_s)[0]:
            is_hanging = True
            os.kill(process, signal.SIGKILL)
            break
        piece = os.read(reader, 1 << 16)
        if not piece:
            break
        content += piece
    os.close(reader)
    status = os.waitpid(process, 0)[1]
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if is_hanging:
        return None, f"it hung for {TIME_LIMIT_S:g} s", 0
    if number or not content:
        return None, f"the process ended with status {status}", number
    kind, value = json.loads(content)
    return (value, "", 0) if kind == "result" else (None, value, 0)


def _run_and_exit(run: Callable[[], Any], writer: int) -> None:
    """Run a function in this forked process, write its result as JSON, and end the process."""
    status = Path("/proc/self/statm").read_text("ascii").split()
    limit = int(status[0]) * resource.getpagesize() + MEMORY_LIMIT_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    try:
        answer = ["result", run()]
    except BaseException as error:  # noqa: BLE001 - told to the parent
        answer = ["error", f"{type(error).__name__}: {error}"[:500]]
    text = json.dumps(answer).encode()
    while text:
        text = text[os.write(writer, text) :]
    os._exit(0)
