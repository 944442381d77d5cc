"""Drafts a first design from a sample: types and facts, a key that was tried, and the reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from os.path import relpath
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafts.cautions import format_left_out_columns, format_unparsed_time
from rowkey.advise.drafts.draft_text import ALLOWED_REASONS, annotate_design, build_design_options
from rowkey.advise.drafts.inferred_schema import infer_schema
from rowkey.advise.drafts.key_columns import allow_few_values, propose_keys_for_roles
from rowkey.advise.drafts.roles import MIN_ROWS_TO_JUDGE, assign_roles, reassign_roles
from rowkey.advise.judgement import JudgedDesign
from rowkey.advise.verdict import judge_design
from rowkey.design import Design
from rowkey.lint import LintResult, check_design
from rowkey.open_file_limit import explain_shortage
from rowkey.workload import SkippedRows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rowkey.advise.drafts.inferred_schema import InferredSchema
    from rowkey.advise.drafts.roles import ColumnRoles
    from rowkey.advise.verdict import DesignVerdict
    from rowkey.proposals import FirstKeyProposal
    from rowkey.simulate import PhaseProgress, Simulation
    from rowkey.workload import SampleInput

DEFAULT_SERVERS = 8
"""Region servers where nobody says how many: the default of a design file."""
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_]+")


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


@dataclass(frozen=True, slots=True)
class _JudgedCandidate:
    """A proposed key with its findings and simulation."""

    roles: ColumnRoles
    proposal: FirstKeyProposal
    judged: JudgedDesign

    @property
    def lost_count(self) -> int:
        """Return how many sample rows overwrite a different row."""
        assert self.judged.sample is not None
        return max((self.judged.sample.repeat_count or 0) - self.roles.schema.copy_count, 0)

    @property
    def is_hot(self) -> bool:
        """Return whether the sample has enough rows to say that its writes are hot."""
        is_judged = self.roles.schema.event_count >= MIN_ROWS_TO_JUDGE
        return is_judged and self.judged.simulation.verdict.is_hot

    @property
    def objections(self) -> tuple[str, ...]:
        """Return the reasons against the key, worst first; empty if it can be used."""
        allowed = allow_few_values(self.roles, self.proposal)
        findings = [
            one
            for one in self.judged.lint_result.filter_by_severity("warning")
            if one.name not in allowed and one.name not in ALLOWED_REASONS
        ]
        verdict = self.judged.simulation.verdict
        is_judged = self.roles.schema.event_count >= MIN_ROWS_TO_JUDGE
        is_uneven = is_judged and verdict.level != "even"
        load = [f"{verdict.level}, {verdict.skew:.1f} times a server's share"] if is_uneven else []
        return (*load, *(one.message for one in findings))


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
    progress: PhaseProgress | None = None,
) -> Draft:
    """Draft a first design from a sample; the same sample gives the same draft.

    Keys are tried in the order of their read costs. Each is checked by the rules and by replaying
    the sample; the first key without a warning whose writes are even is chosen.

    Args:
        sample: a file of recorded events, its recording, or a table of them: a pandas or polars
            DataFrame, a pyarrow Table or reader, a DuckDB relation. The draft names only a file.
        table: the table's name; if None, from the file's name, or `events`.
        format_options: how the file is read; derived from its name if None.
        servers: region servers, from 1.
        folder: where the design file will lie: the sample is named relative to it.
        seed: the random seed.
        is_temporary: whether the file is gone later, so that the design must not name it.
        progress: called with what is done, how many rows of the file it has passed, and of how
            many; 0 if that is unknown.

    Raises:
        SampleError: no design can be made from the sample; with every reason.
        InvalidDesign: HBase does not accept the table's name.

    Cost: two passes over the sample, and two more for each key that is tried, at about 1 µs an
    event and field.
    """
    schema = infer_schema(sample, format_options, seed, progress)
    is_named = schema.recording.is_file and not is_temporary
    derived_name = derive_table_name(schema.path) if is_named else "events"
    name = table if table is not None else derived_name
    where = relpath(schema.path, folder or ".") if is_named else None
    trial = _KeyTrial(schema, name, where, servers, seed, progress)
    roles = trial.settle_roles(assign_roles(schema))
    candidates: list[_JudgedCandidate] = []
    for proposal in propose_keys_for_roles(
        roles, servers, lambda: candidates[-1].objections[0].rstrip(".")
    ):
        candidates.append(_JudgedCandidate(roles, proposal, trial.judge_key(roles, proposal)))
        if not candidates[-1].objections:
            break
    best = min(candidates, key=lambda one: (one.is_hot, len(one.objections)))
    rejected_keys = tuple(
        (t.proposal.key, t.objections[0]) for t in candidates if t is not best and t.objections
    )
    return _build_draft(best, rejected_keys)


def derive_table_name(path: Path) -> str:
    """Derive a table name from a file name without its suffixes.

    >>> from pathlib import Path
    >>> derive_table_name(Path("data/server logs-2024.csv.gz"))
    'server_logs_2024'
    """
    stem = path.name.lstrip(".").split(".")[0]
    return _UNSAFE_CHARACTERS.sub("_", stem).strip("_")[:100] or "events"


@dataclass(slots=True)
class _KeyTrial:
    """Builds designs with proposed keys and judges them by the sample.

    Args:
        schema: what the sample holds.
        table: the table's name.
        sample_path: the sample's path, as the design names it; None if it does not.
        servers: region servers.
        seed: where randomness begins.
        progress: told which key is tried, and how many rows it has passed.
    """

    schema: InferredSchema
    table: str
    sample_path: str | None
    servers: int
    seed: int
    progress: PhaseProgress | None = None
    trial_count: int = 0
    _judged: dict[str, JudgedDesign] = field(default_factory=dict)

    def build_design(self, roles: ColumnRoles, proposal: FirstKeyProposal) -> Design:
        """Return the design with a proposed key."""
        return Design(
            **build_design_options(roles, proposal, self.table, self.sample_path, self.servers)
        )

    def judge_key(self, roles: ColumnRoles, proposal: FirstKeyProposal) -> JudgedDesign:
        """Judge a proposed key by the sample; only the last judgement is cached."""
        if proposal.key not in self._judged:
            schema = self.schema
            self.trial_count += 1
            judged = JudgedDesign(
                self.build_design(roles, proposal),
                schema.recording,
                seed=self.seed,
                progress=self._build_progress(),
            )
            self._judged = {proposal.key: judged}
        return self._judged[proposal.key]

    def _build_progress(self) -> PhaseProgress | None:
        """Return a callback that adds the number of the key to each phase of its trial."""
        progress, number = self.progress, self.trial_count
        if progress is None:
            return None
        return lambda phase, done, total: progress(f"key {number}: {phase}", done, total)

    def settle_roles(self, roles: ColumnRoles) -> ColumnRoles:
        """Return column roles under which no row overwrites a different one, if possible."""
        while True:
            first = next(iter(propose_keys_for_roles(roles, self.servers)))
            sample = self.judge_key(roles, first).sample
            assert sample is not None
            repeats = sample.repeat_count
            if repeats is None or repeats <= self.schema.copy_count:
                return roles
            next_roles = reassign_roles(roles)
            if next_roles is None:
                return roles
            roles, self._judged = next_roles, {}


def _build_draft(best: _JudgedCandidate, rejected_keys: tuple[tuple[str, str], ...]) -> Draft:
    """Return the draft with the best key, checked by the rules once more."""
    judged = best.judged
    text = annotate_design(
        judged.design.dumps(defaults=False),
        best.roles,
        best.proposal,
        judged.lint_result,
        judged.simulation,
        rejected_keys,
        best.lost_count,
    )
    design = Design.loads(text)
    assert design == judged.design, "comments change nothing"
    simulated = replace(judged.simulation, design=design)
    is_thin = best.roles.schema.event_count < MIN_ROWS_TO_JUDGE
    unread = tuple(format_unparsed_time(one) for one in best.roles.schema.unparsed_time_columns)
    return Draft(
        text,
        design,
        simulated,
        check_design(design, judged.sample),
        rejected_keys,
        is_thin,
        unread,
        best.roles.schema.assumptions,
        best.roles.schema.left_out_rows,
        format_left_out_columns(best.roles.schema.skipped_columns),
    )
