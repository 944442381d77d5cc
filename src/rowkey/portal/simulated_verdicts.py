"""The verdicts of the newest simulations of design files as they are now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.portal.simulations import SimulationResults
    from rowkey.portal.workspace import DesignFile


@dataclass(frozen=True, slots=True)
class SimulatedVerdict:
    """What a simulation of a design file has found.

    Args:
        simulation_id: what its page is called.
        grade: `good`, `fair` or `poor`.
        worst_share: the largest share of all writes of a window that one server took, 0 to 1.
        sample: the name of the file of events; empty for generated ones.
    """

    simulation_id: str
    grade: str
    worst_share: float
    sample: str


class SimulatedVerdicts:
    """Finds the verdicts of design files, and remembers them: a result never changes.

    Args:
        simulations: the simulations with their results.
    """

    def __init__(self, simulations: SimulationResults) -> None:
        self._simulations = simulations
        self._lock = Lock()
        self._verdicts: dict[str, SimulatedVerdict] = {}

    def find(self, files: Iterable[DesignFile]) -> dict[str, SimulatedVerdict]:
        """Return the verdicts of the newest simulations, by the names of the files.

        A file that has changed since it was simulated, or was only simulated with another load
        or other servers, has none.
        """
        wanted = {(file.name, file.etag) for file in files}
        found: dict[str, SimulatedVerdict] = {}
        for simulation_id in self._simulations.list_ids():
            request = self._simulations.read_request(simulation_id)
            if request is None or len(request.designs) != 1 or request.changes_load:
                continue
            (name,), (etag,) = request.designs, request.etags
            if name in found or (name, etag) not in wanted:
                continue
            verdict = self._read(simulation_id, request.sample)
            if verdict is not None:
                found[name] = verdict
        return found

    def _read(self, simulation_id: str, sample: str) -> SimulatedVerdict | None:
        """Return the verdict of a simulation; None without a result of this version."""
        with self._lock:
            if simulation_id in self._verdicts:
                return self._verdicts[simulation_id]
        result = self._simulations.read_result(simulation_id)
        if result is None:
            return None
        try:
            grade = result["document"]["verdict"]["grade"]
            share = result["document"]["equal_count"]["servers"]["worst"]
        except KeyError:  # another version has stored it
            return None
        verdict = SimulatedVerdict(simulation_id, grade, share, sample)
        with self._lock:
            self._verdicts[simulation_id] = verdict
        return verdict
