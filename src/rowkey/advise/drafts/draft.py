"""Drafts a first design from a sample: types and facts, a key that was tried, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os.path import relpath
from pathlib import Path
from typing import Any

from rowkey.advise.drafts.cautions import format_left_out_columns, format_unparsed_time
from rowkey.advise.drafts.draft_text import ALLOWED_REASONS, annotate_design, build_design_options
from rowkey.advise.drafts.inferred_schema import InferredSchema, infer_schema
from rowkey.advise.drafts.key_columns import allow_few_values, build_first_key
from rowkey.advise.drafts.roles import (
    MIN_ROWS_TO_JUDGE,
    ColumnRoles,
    add_key_columns,
    assign_roles,
    reassign_roles,
)
from rowkey.advise.judgement import JudgedDesign
from rowkey.advise.key_search import search_on_source
from rowkey.advise.verdict import DesignVerdict, judge_design
from rowkey.cells import build_table_name
from rowkey.design import Design
from rowkey.lint import LintResult, check_design
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import ReportProgress
from rowkey.simulate import LEVEL_NAMES, Simulation, open_source
from rowkey.workload import SampleInput, SkippedRows

DEFAULT_SERVERS = 8
"""Region servers where nobody says how many: the default of a design file."""
MAX_SEARCHES = 3
"""Searches for a better key, each from the key that the one before found."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A first design that is drafted from a sample, with its simulation and findings.

    Args:
        text: the design file, with what was seen as comments.
        design: what it declares.
        simulation: what became of the sample under it.
        lint_result: what the rules say of it.
        rejected_keys: the keys that were tried before, with the reason against each.
        is_thin: whether the sample has too few rows for a verdict.
        missing_data: what is missing in the file for a better draft, as sentences.
        assumptions: what was detected in the file, as sentences.
        skipped_rows: rows of the file that are no events.
        left_out_columns: which columns became no fields, and why; empty if all did.
    """

    text: str
    design: Design
    simulation: Simulation
    lint_result: LintResult
    rejected_keys: tuple[tuple[str, str], ...]
    is_thin: bool
    missing_data: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    skipped_rows: SkippedRows = field(default_factory=SkippedRows)
    left_out_columns: str = ""

    @property
    def verdict(self) -> DesignVerdict:
        """Return the verdict on the design, by its sample; it declares no reads yet."""
        return judge_design(self.simulation, self.lint_result.findings)


@explain_shortage
def draft_design(
    sample: SampleInput,
    *,
    table: str | None = None,
    format_options: Mapping[str, Any] | None = None,
    servers: int = DEFAULT_SERVERS,
    folder: str | Path = "",
    seed: int = 0,
    is_temporary: bool = False,
    progress: ReportProgress | None = None,
) -> Draft:
    """Draft a first design from a sample; the same sample gives the same draft.

    The key is a bucket of what the rows belong to, this entity, and its latest rows first. If a
    rule warns of it or its writes are not even, `search` looks for a better one.

    Args:
        sample: a file of recorded events, its recording, or a table of them: a pandas or polars
            DataFrame, a pyarrow Table or reader, a DuckDB relation. The draft names only a file.
        table: the table's name; if None, from the file's name, or `events`.
        format_options: how the file is read; derived from its name if None.
        servers: region servers, from 1.
        folder: where the design file will lie: the sample is named relative to it.
        seed: the random seed.
        is_temporary: whether the file is gone later, so that the design must not name it.
        progress: called with how many rows of the file each phase has passed.

    Raises:
        SampleError: no design can be made from the sample; with every reason.
        InvalidDesign: HBase does not accept the table's name.

    Cost: four passes over the sample, at about 1 µs an event and field, and those of `search`.
    """
    schema = infer_schema(sample, format_options, seed, progress)
    is_named = schema.recording.is_file and not is_temporary
    derived_name = derive_table_name(schema.path) if is_named else "events"
    name = table if table is not None else derived_name
    where = relpath(schema.path, folder or ".") if is_named else None
    roles, judged = _settle_key(schema, name, where, servers, seed, progress)
    tried: list[tuple[str, str]] = []
    can_search = schema.event_count >= MIN_ROWS_TO_JUDGE and not roles.is_missing_time
    while can_search and len(tried) < MAX_SEARCHES:
        objections = list_objections(roles, judged)
        if not objections:
            break
        source = open_source(
            judged.design,
            schema.recording,
            None,
            second_half=False,
            seed=seed,
            keeps_all_fields=True,
            progress=progress,
        )
        # Regions split at keys of a first sample would be divided by the times that it is from.
        advice = search_on_source(judged.design, source, seed, progress, can_split_by_sample=False)
        found = (*advice.recommendation, *(pick.judged for pick in advice.picks))
        if not found or advice.tables:
            break
        better = JudgedDesign(found[0].design, schema.recording, seed=seed, progress=progress)
        if better.verdict.rank >= judged.verdict.rank:
            break
        tried.append((judged.design.declaration.key, objections[0]))
        judged, roles = better, add_key_columns(roles, better.design)
    return _build_draft(roles, judged, tuple(tried))


def derive_table_name(path: Path) -> str:
    """Derive a table name from a file name without its suffixes.

    >>> from pathlib import Path
    >>> derive_table_name(Path("data/server logs-2024.csv.gz"))
    'server_logs_2024'
    """
    stem = path.name.lstrip(".").split(".")[0]
    return build_table_name(stem) or "events"


def _settle_key(
    schema: InferredSchema,
    table: str,
    sample_path: str | None,
    servers: int,
    seed: int,
    progress: ReportProgress | None,
) -> tuple[ColumnRoles, JudgedDesign]:
    """Return column roles, and the first design, whose rows overwrite no others if possible."""
    roles = assign_roles(schema)
    while True:
        options = build_design_options(
            roles, build_first_key(roles, servers), table, sample_path, servers
        )
        judged = JudgedDesign(Design(**options), schema.recording, seed=seed, progress=progress)
        assert judged.sample is not None
        repeats = judged.sample.repeat_count
        if repeats is None or repeats <= schema.copy_count:
            return roles, judged
        next_roles = reassign_roles(roles)
        if next_roles is None:
            return roles, judged
        roles = next_roles


def list_objections(roles: ColumnRoles, judged: JudgedDesign) -> tuple[str, ...]:
    """Return the reasons against the key of a draft, worst first; empty if it can be used.

    Args:
        roles: what the columns are for.
        judged: the draft, judged by its sample.
    """
    allowed = {*allow_few_values(roles, judged.design), *ALLOWED_REASONS}
    findings = [
        one.message
        for one in judged.lint_result.filter_by_severity("warning")
        if one.name not in allowed
    ]
    if roles.schema.event_count < MIN_ROWS_TO_JUDGE:
        return tuple(findings)
    verdict = judged.simulation.verdict
    name = LEVEL_NAMES[verdict.level]
    load = [f"its writes are {name}: one server takes {verdict.skew:.1f} times its fair share"]
    return (*load * (judged.verdict.find_grade("writes") != "good"), *findings)


def _build_draft(
    roles: ColumnRoles, judged: JudgedDesign, rejected_keys: tuple[tuple[str, str], ...]
) -> Draft:
    """Return the draft with the best key, checked by the rules once more."""
    assert judged.sample is not None
    lost_count = max((judged.sample.repeat_count or 0) - roles.schema.copy_count, 0)
    text = annotate_design(
        judged.design.dumps(defaults=False),
        roles,
        judged.lint_result,
        judged.simulation,
        rejected_keys,
        lost_count,
    )
    design = Design.loads(text)
    assert design == judged.design, "comments change nothing"
    simulated = replace(judged.simulation, design=design)
    is_thin = roles.schema.event_count < MIN_ROWS_TO_JUDGE
    unread = tuple(format_unparsed_time(one) for one in roles.schema.unparsed_time_columns)
    return Draft(
        text,
        design,
        simulated,
        check_design(design, judged.sample, measured_writes=judged.measured_writes),
        rejected_keys,
        is_thin,
        unread,
        roles.schema.assumptions,
        roles.schema.left_out_rows,
        format_left_out_columns(roles.schema.skipped_columns),
    )
