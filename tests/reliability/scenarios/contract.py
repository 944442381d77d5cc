"""A scenario: places with stored objects, and the calls that use them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from rowkey.errors import RowkeyError

UNAFFECTED, REPAIRED, REFUSED = "unaffected", "repaired", "refused"
AS_STORED, WRONG, CRASHED = "read as stored", "silent wrong", "crashed"
VERDICTS = (UNAFFECTED, REPAIRED, REFUSED, AS_STORED, WRONG, CRASHED)
"""What becomes of a call: the right answer, the right state after a recovery, an error that names
the object, `ReadAsStored`, another answer than the acknowledged one, or a traceback, a hang or a
dead process."""


class ReadAsStored(Exception):
    """The answer is wrong, and it is exactly what the damaged bytes say, which are valid.

    Only a checksum could tell, and the format, which rowkey did not define, has none.
    """


@dataclass(frozen=True)
class StoredObject:
    """An object of the matrix.

    Args:
        name: as the command line names it.
        title: as the page names it.
        scenario: the places that have it and the calls that use it.
        files: patterns of its files below a place; one of those that match is damaged.
        files_in_use: patterns of the files of which calls fail; `files` if there are none.
        skipped_faults: the names of faults that are not tried.
        weight: how often its faults are tried, compared with other objects.
        remark: why some faults are not tried, or cannot be told; for the page.
    """

    name: str
    title: str
    scenario: type[Scenario]
    files: tuple[str, ...]
    files_in_use: tuple[str, ...] = ()
    skipped_faults: tuple[str, ...] = ()
    remark: str = ""
    weight: float = 1.0


class FailingCalls(Protocol):
    """A fault of calls of the operating system."""

    def start(self) -> None:
        """Let calls fail from now on."""

    def stop(self) -> None:
        """Let no call fail from now on."""


class Scenario(ABC):
    """Places that have objects, and the calls that use them.

    A place is a folder that is copied for each fault. What is stored elsewhere, in a server or in a
    table, is a file of the place that `open` loads.
    """

    states: ClassVar[tuple[str, ...]] = ("closed",)
    """The states of undamaged places, each a folder that `build` makes."""
    calls: ClassVar[tuple[str, ...]]
    """The calls after `open` that use an open place."""
    recoveries: ClassVar[tuple[str, ...]] = ()
    """The calls that verify or repair a place that is not open, first to last."""
    can_repair: ClassVar[bool] = False
    """Whether there is `repair`, in which a second fault is tried."""
    extra_calls: ClassVar[tuple[str, ...]] = ()
    """Further calls in which only faults in use are tried; see `try_call`."""
    refusals: ClassVar[tuple[type[BaseException], ...]] = (RowkeyError,)
    """The errors by which a call may refuse."""

    @classmethod
    def start_server(cls) -> AbstractContextManager[object]:
        """Start the server that the places need, until the context ends.

        Raises:
            OracleUnavailable: its program is missing: no fault of the scenario is tried.
        """
        return nullcontext()

    @abstractmethod
    def build(self, folder: Path) -> None:
        """Make the undamaged places of all states in a folder.

        The place of a state may have copies as they were earlier, `STATE.earlier`,
        `STATE.earlier-2` …, and that of another one made alike, `STATE.other`.
        """

    @abstractmethod
    def open(self, place: Path) -> Any:
        """Open a place."""

    def close(self, session: Any) -> None:
        """Close what `open` returned."""
        session.close()

    @abstractmethod
    def run(self, session: Any, call: str) -> str:
        """Run one of `calls`, and return what is wrong with its answer, or an empty text."""

    def recover(self, place: Path, call: str, verdicts: Mapping[str, str]) -> str:
        """Run one of `recoveries`, and return what is wrong with what it said or did.

        Args:
            place: the place.
            call: the call.
            verdicts: those of the calls before, by call; those of `open` and `calls` were run on
                another copy of the place. Empty where a fault in use is tried.
        """
        raise NotImplementedError

    def try_call(self, place: Path, call: str, failing: FailingCalls) -> str:
        """Run a call with a fault in use; return what is wrong with its answer.

        Args:
            place: the undamaged place.
            call: one of `calls_in_use`.
            failing: the fault, which begins with the call and ends with it.
        """
        if call == "open" or call in self.recoveries:
            failing.start()
        if call in self.recoveries:
            return self.recover(place, call, {})
        session = self.open(place)
        try:
            if call == "open":
                return ""
            failing.start()
            return self.run(session, call)
        finally:
            failing.stop()
            self.close(session)

    @classmethod
    def list_calls_in_use(cls) -> list[str]:
        """Return the calls in which faults in use are tried."""
        return ["open", *cls.calls, *cls.recoveries[:1], *cls.extra_calls]

    def repair(self, place: Path) -> str:
        """Repair a damaged place by the means that its damage needs; return what is wrong then."""
        raise NotImplementedError

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Return what is wrong with a place after a call that failed, or whose process was killed.

        Args:
            place: the place.
            call: the call; all acknowledged changes before it must be there.
            is_acknowledged: whether the change of this call must be there too; otherwise it may
                be, as a whole.
        """
        del place, call, is_acknowledged
        return ""

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return the texts of which an error about a damaged file has at least one."""
        return [path.name, str(place)]
