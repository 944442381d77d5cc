"""Simulations of designs: what users ask for, the task that answers it, and the newest verdicts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from rowkey.advise import Comparison, JudgedDesign, compare_designs, judge_comparison
from rowkey.design import Design
from rowkey.portal.designs.stored_maps import link_map_views, read_map_view, store_map_views
from rowkey.portal.designs.workspace import DesignFile, Workspace
from rowkey.portal.tasks.process_task import ProcessTask, TaskLimits
from rowkey.portal.tasks.results import TaskResults
from rowkey.progress import ReportProgress
from rowkey.render import (
    Redaction,
    build_comparison_document,
    build_report_document,
    build_simulation_document,
)


@dataclass(frozen=True, slots=True)
class SimulationRequest:
    """What a user wants to have simulated.

    Args:
        designs: the names of the design files; several are compared.
        etags: their versions.
        sample: the name of the file of events; empty for generated ones.
        rate: the rate of writes if it is not that of the file, such as `5000/s`; else empty.
        servers: the number of region servers if it is not that of the file; else 0.
        user: who wants it.
        created_ms: when, in milliseconds since 1970.
        capacity: what one server can take if it is not that of the file; else empty.
        sample_id: what the portal calls the file, if it was uploaded; else empty.
    """

    designs: Sequence[str]
    etags: Sequence[str]
    sample: str
    rate: str
    servers: int
    user: str
    created_ms: int
    capacity: str = ""
    sample_id: str = ""

    @property
    def changes_load(self) -> bool:
        """Whether the rate or the servers are not those of the designs."""
        return bool(self.rate or self.servers or self.capacity)


class SimulationResults(TaskResults[SimulationRequest]):
    """The simulations of one portal with their results; maps are files of their own.

    Args:
        folder: where they are stored; it is created with the first one.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, SimulationRequest, simulate_designs)

    def create_task(
        self, request: SimulationRequest, limits: TaskLimits | None = None, **arguments: Any
    ) -> ProcessTask:
        """Store a request, and return the task that answers it; as `TaskResults` has it.

        Args:
            request: what is wanted.
            limits: what the task may use; as other tasks if None.
            arguments: those of `simulate_designs` but `map_folder`.
        """
        task = super().create_task(request, limits, **arguments)
        task.arguments = {**arguments, "map_folder": str(task.result_file.parent)}
        return task

    def read_result(self, task_id: str) -> dict[str, Any] | None:
        """Return the result of `simulate_designs`; None if there is none, or not yet.

        The views of its maps have the paths under which browsers read them.
        """
        result = super().read_result(task_id)
        if result is not None:
            link_map_views(result["report"], task_id)
        return result

    def read_map_view(self, task_id: str, design_id: str, kind: str) -> bytes | None:
        """Return a view of a map as gzip-compressed JSON; None if there is no such view."""
        if self.read_request(task_id) is None:
            return None
        return read_map_view(self.folder / task_id, design_id, kind)


def build_arguments(
    workspace: Workspace, files: Sequence[DesignFile], sample: Path | None
) -> dict[str, Any]:
    """Return the arguments of `simulate_designs` but `map_folder` as JSON values.

    Args:
        sample: a file of events; None for generated ones.
    """
    return {
        "folder": str(workspace.folder),
        "hidden_files": list(map(str, workspace.hidden_files)),
        "texts": {one.name: one.content.decode("utf-8", "surrogateescape") for one in files},
        "sample": None if sample is None else str(sample),
        "created_s": time.time(),
    }


def simulate_designs(
    report: ReportProgress,
    folder: str,
    hidden_files: Sequence[str],
    texts: Mapping[str, str],
    sample: str | None,
    created_s: float,
    map_folder: str,
) -> dict[str, Any]:
    """Return the report of one design, or of several with their comparison.

    Args:
        hidden_files: files and folders in it that are not shown.
        texts: the texts of the design files by name.
        sample: the path of a file of events; None for generated ones, of one design only.
        created_s: when this was asked for, in seconds since 1970.
        map_folder: where the views of the maps are written.

    Returns:
        `report`, the document of `rowkey report` without the views of its maps; `document`, that of
        `rowkey simulate`, or of `rowkey compare` if there are several designs; and the `messages`
        of both.
    """
    workspace = Workspace(Path(folder), frozenset(map(Path, hidden_files)))
    designs = {
        Path(name).stem: workspace.read_design(
            DesignFile(name, text.encode("utf-8", "surrogateescape"))
        )
        for name, text in texts.items()
    }
    path = None
    if sample is not None:
        path = Path(Path(sample).name)
        os.chdir(Path(sample).parent)  # so that no document names a folder of this machine
    comparison: Comparison | None = None
    if len(designs) > 1:
        assert path is not None, "else the designs would decide on what is read"
        comparison = compare_designs(
            list(designs.values()),
            path,
            names=list(designs),
            clock=time.perf_counter,
            progress=report,
        )
        judged, document = judge_comparison(comparison), build_comparison_document(comparison)
    else:
        judged = [_judge_design(one, path, report) for one in designs.values()]
        document = build_simulation_document(judged[0])
    created = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(created_s))
    shown = build_report_document(judged, Redaction(), comparison, created)
    store_map_views(shown, Path(map_folder))
    return {"report": shown, "document": document}


def _judge_design(design: Design, sample: Path | None, report: ReportProgress) -> JudgedDesign:
    """Return a design judged by the events of a file, or by generated ones."""
    judged = JudgedDesign(
        design,
        sample,
        second_half=sample is not None and design.splits.needs_sample,
        names_keys=True,
        progress=report,
    )
    if sample is None:
        judged.recording = None  # a declared sample is left alone unless it is given
    _ = judged.sample, judged.simulation  # the rules need more columns than the replay
    return judged


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
    """Finds the verdicts of design files, and remembers them: a result never changes."""

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
