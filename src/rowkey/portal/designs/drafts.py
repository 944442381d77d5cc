"""Drafts of design files from recorded events, as `rowkey init` makes them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowkey.advise import draft_design
from rowkey.portal.designs.workspace import Workspace
from rowkey.progress import ReportProgress
from rowkey.render import build_verdict_document

DEFAULT_SERVERS = 8
"""Region servers of a draft, as of `rowkey init`."""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What a user wants to have drafted.

    Args:
        name: the name of the new design file.
        sample: the name of the file of events.
        sample_id: what the portal calls that file.
        servers: the number of region servers.
        user: who wants it.
        created_ms: when, in milliseconds since 1970.
    """

    name: str
    sample: str
    sample_id: str
    servers: int
    user: str
    created_ms: int


def write_draft(
    report: ReportProgress,
    folder: str,
    hidden_files: Sequence[str],
    name: str,
    table: str,
    sample: str,
    servers: int,
) -> dict[str, Any]:
    """Draft a design from a sample, and write it to a new file of the folder.

    Args:
        hidden_files: files of the folder that are no designs.
        name: the name of the file, which must not be there.
        sample: the path of the file of events. The draft does not name it, as it is removed later.
        servers: the number of region servers.

    Returns:
        The verdict as `rowkey simulate` has it, the `key`, and what was seen in the events:
        `assumptions`, `skipped_rows`, `left_out_columns` and `missing_data`.

    Raises:
        SampleError: no design can be made from the events.
        Conflict: the file is there.
    """
    os.chdir(Path(sample).parent)  # so that no text names a folder of this machine
    draft = draft_design(
        Path(sample).name, table=table, servers=servers, is_temporary=True, progress=report
    )
    Workspace(Path(folder), frozenset(map(Path, hidden_files))).write(name, draft.text, None)
    return {
        **build_verdict_document(draft.verdict, draft.simulation),
        "key": str(draft.design.declaration.key),
        "is_thin": draft.is_thin,
        "assumptions": list(draft.assumptions),
        "missing_data": list(draft.missing_data),
        "left_out_columns": draft.left_out_columns,
        "skipped_rows": {
            "count": draft.skipped_rows.count,
            "first_problem": draft.skipped_rows.first_problem,
        },
    }
