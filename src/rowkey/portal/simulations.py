"""Simulations of designs: their requests and results, as files that stay after a restart."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.advise import JudgedDesign, compare_designs, judge_comparison
from rowkey.durable_files import make_directory, replace_file
from rowkey.portal.jobs import Job, create_job_id
from rowkey.portal.stored_messages import list_messages, restore_messages
from rowkey.portal.workspace import DesignFile, Workspace
from rowkey.render import (
    Redaction,
    build_comparison_document,
    build_report_document,
    build_simulation_document,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.advise import Comparison
    from rowkey.design import Design
    from rowkey.simulate import PhaseProgress

MAX_SIMULATIONS = 50
"""Simulations whose results are kept; with one more, the oldest is removed."""
_ID = re.compile(r"[0-9a-f]{32}")
_REQUEST_FILE, _RESULT_FILE = "request.json", "result.json"


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
    """

    designs: Sequence[str]
    etags: Sequence[str]
    sample: str
    rate: str
    servers: int
    user: str
    created_ms: int


class SimulationStore:
    """The simulations of one portal, each in a folder of its own.

    Args:
        folder: where they are stored; it is created with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create_job(self, request: SimulationRequest, **arguments: Any) -> Job:
        """Store a request, and return the job that answers it.

        Args:
            request: what is wanted.
            arguments: those of `simulate_designs`.

        Raises:
            OSError: it cannot be written.
        """
        for old in self.list_ids()[MAX_SIMULATIONS - 1 :]:
            shutil.rmtree(self.folder / old, ignore_errors=True)
        job_id = create_job_id()
        folder = self.folder / job_id
        make_directory(folder)
        path = folder / _REQUEST_FILE
        replace_file(path, json.dumps(asdict(request)).encode(), path.with_suffix(".part"))
        function = f"{simulate_designs.__module__}:{simulate_designs.__name__}"
        return Job(job_id, function, arguments, folder / _RESULT_FILE)

    def remove(self, simulation_id: str) -> None:
        """Remove a request with its result."""
        if _ID.fullmatch(simulation_id):
            shutil.rmtree(self.folder / simulation_id, ignore_errors=True)

    def list_ids(self) -> list[str]:
        """Return the ids of the stored simulations, newest first."""
        if not self.folder.is_dir():
            return []
        found = [one for one in os.scandir(self.folder) if _ID.fullmatch(one.name)]
        times = {one.name: one.stat().st_ctime_ns for one in found}
        requests = {name: self.read_request(name) for name in times}
        created = {name: one.created_ms if one else 0 for name, one in requests.items()}
        return sorted(times, key=lambda name: (-created[name], -times[name]))

    def read_request(self, simulation_id: str) -> SimulationRequest | None:
        """Return a request; None if there is none of this id, or another version wrote it."""
        document = self._read(simulation_id, _REQUEST_FILE)
        try:
            return None if document is None else SimulationRequest(**document)
        except TypeError:
            return None

    def read_result(self, simulation_id: str) -> dict[str, Any] | None:
        """Return the result of `simulate_designs`; None if there is none, or not yet."""
        result = self._read(simulation_id, _RESULT_FILE)
        if result is not None:
            restore_messages(result["report"], result["messages"])
        return result

    def _read(self, simulation_id: str, name: str) -> dict[str, Any] | None:
        """Return a stored document; None if there is none."""
        if not _ID.fullmatch(simulation_id):
            return None
        try:
            text = (self.folder / simulation_id / name).read_bytes()
        except OSError:
            return None
        document: dict[str, Any] = json.loads(text)
        return document


def build_arguments(
    workspace: Workspace, files: Sequence[DesignFile], sample: Path | None
) -> dict[str, Any]:
    """Return the arguments of `simulate_designs` as JSON values.

    Args:
        workspace: the folder of the designs.
        files: the design files.
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
    report: PhaseProgress,
    folder: str,
    hidden_files: Sequence[str],
    texts: Mapping[str, str],
    sample: str | None,
    created_s: float,
) -> dict[str, Any]:
    """Return the report of one design, or of several with their comparison.

    Args:
        report: takes the progress.
        folder: the folder of the design files.
        hidden_files: files and folders in it that are not shown.
        texts: the texts of the design files by name.
        sample: the path of a file of events; None for generated ones, of one design only.
        created_s: when this was asked for, in seconds since 1970.

    Returns:
        `report`, the document of `rowkey report`, and `document`, that of `rowkey simulate`, or of
        `rowkey compare` if there are several designs; and the `messages` of the report.
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
    return {"report": shown, "messages": list_messages(shown), "document": document}


def _judge_design(design: Design, sample: Path | None, report: PhaseProgress) -> JudgedDesign:
    """Return a design judged by the events of a file, or by generated ones."""
    judged = JudgedDesign(
        design,
        sample,
        second_half=sample is not None and design.splits.needs_sample,
        progress=report,
    )
    if sample is None:
        judged.recording = None  # a declared sample is left alone unless it is given
    _ = judged.sample, judged.simulation  # the rules need more columns than the replay
    return judged
