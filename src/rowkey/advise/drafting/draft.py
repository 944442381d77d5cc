"""A first design from a sample: types and facts as seen, a key that was tried, and the reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafting.cautions import stray_said
from rowkey.advise.drafting.proposals import proposed_keys
from rowkey.advise.drafting.roles import FEW_ROWS, assigned, reassigned
from rowkey.advise.drafting.survey import surveyed
from rowkey.advise.drafting.wording import REASONS, annotated, words_of_file
from rowkey.design import Design
from rowkey.lint import Findings, Seen, check, look
from rowkey.open_file_limit import explains_shortage
from rowkey.simulate import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.advise.drafting.proposals import Proposal
    from rowkey.advise.drafting.roles import Roles
    from rowkey.advise.drafting.survey import Survey
    from rowkey.simulate import Simulation

SERVERS = 8
"""Region servers where nobody says how many: the default of a design file."""
_STRANGE = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Draft:
    """A first design.

    Args:
        text: the design file, with what was seen as comments.
        design: what it declares.
        simulated: what became of the sample under it.
        found: what the rules say of it.
        tried: the keys that were tried before, with the reason against each.
        is_thin: whether the sample has too few rows for a verdict.
        unread: what is missing in the file for a better draft, as sentences.
    """

    text: str
    design: Design
    simulated: Simulation
    found: Findings
    tried: tuple[tuple[str, str], ...]
    is_thin: bool
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tried:
    """A proposal, judged."""

    roles: Roles
    proposal: Proposal
    design: Design
    simulated: Simulation
    found: Findings
    seen: Seen

    @property
    def lost(self) -> int:
        """Rows of the sample that overwrite one which they differ from."""
        return max((self.seen.repeats or 0) - self.roles.survey.copies, 0)

    @property
    def against(self) -> tuple[str, ...]:
        """What speaks against it, the worst first; nothing where it can be taken."""
        allowed = self.proposal.allowed
        told = [
            one
            for one in self.found.at_least("warning")
            if one.name not in allowed and one.name not in REASONS
        ]
        verdict = self.simulated.verdict
        is_hot = verdict.is_hot and self.roles.survey.events >= FEW_ROWS
        heat = [f"hot, {verdict.skew:.1f} times a server's share"] if is_hot else []
        return (*heat, *(one.what for one in told))


@explains_shortage
def first_draft(
    path: str | Path,
    *,
    table: str | None = None,
    format_words: Mapping[str, Any] | None = None,
    servers: int = SERVERS,
    folder: str | Path = "",
    seed: int = 0,
) -> Draft:
    """A first design from a sample; the same sample gives the same draft.

    Keys are tried in the order of what reads of them cost, each against the rules and by replaying
    the sample, and the first one is taken that has no warning and is not hot.

    Args:
        path: a file of recorded events.
        table: the table's name; from the file's name if None.
        format_words: how the file is read; told by its name if None.
        servers: region servers, from 1.
        folder: where the design file will lie: the sample is named relative to it.
        seed: where randomness begins.

    Raises:
        SampleError: no design can be made from the sample; with all that is wrong with it.
        DeclarationError: the table's name is none that HBase takes.

    Cost: two passes over the file, and two more for each key that is tried, at 1 µs an event and
    field or so.
    """
    path = Path(path)
    survey = surveyed(path, format_words, seed)
    name = table if table is not None else table_name(path)
    where = relpath(path, folder or ".")
    trial = _Trial(survey, name, where, servers, seed)
    roles = trial.settled(assigned(survey))
    tried: list[_Tried] = []
    for proposal in proposed_keys(roles, servers, lambda: tried[-1].against[0].rstrip(".")):
        tried.append(trial.of(roles, proposal))
        if not tried[-1].against:
            break
    best = min(tried, key=lambda one: len(one.against))
    against = tuple((t.proposal.key, t.against[0]) for t in tried if t is not best and t.against)
    return _written(best, against)


def table_name(path: Path) -> str:
    """A table's name from that of a file, without its endings.

    >>> table_name(Path("data/server logs-2024.csv.gz"))
    'server_logs_2024'
    """
    stem = path.name.lstrip(".").split(".")[0]
    return _STRANGE.sub("_", stem).strip("_")[:100] or "events"


@dataclass(slots=True)
class _Trial:
    """Tries keys on a sample.

    Args:
        survey: what the sample holds.
        table: the table's name.
        where: the sample's path, as the design names it.
        servers: region servers.
        seed: where randomness begins.
    """

    survey: Survey
    table: str
    where: str
    servers: int
    seed: int
    _seen: dict[str, Seen] = field(default_factory=dict)

    def design(self, roles: Roles, proposal: Proposal) -> Design:
        """The design of a proposal."""
        return Design(**words_of_file(roles, proposal, self.table, self.where, self.servers))

    def look(self, roles: Roles, proposal: Proposal) -> Seen:
        """What the sample shows of a proposal."""
        if proposal.key not in self._seen:
            survey, design = self.survey, self.design(roles, proposal)
            seen = look(design, survey.path, survey.format_words, seed=self.seed)
            self._seen = {proposal.key: seen}
        return self._seen[proposal.key]

    def settled(self, roles: Roles) -> Roles:
        """Roles under which no row of the file overwrites a different one, if there are any."""
        while True:
            repeats = self.look(roles, next(iter(proposed_keys(roles, self.servers)))).repeats
            if repeats is None or repeats <= self.survey.copies:
                return roles
            other = reassigned(roles)
            if other is None:
                return roles
            roles = other

    def of(self, roles: Roles, proposal: Proposal) -> _Tried:
        """A proposal under the rules and the sample."""
        survey, design = self.survey, self.design(roles, proposal)
        seen = self.look(roles, proposal)
        simulated = run(design, survey.path, format_words=survey.format_words, seed=self.seed)
        return _Tried(roles, proposal, design, simulated, check(design, seen), seen)


def _written(best: _Tried, against: tuple[tuple[str, str], ...]) -> Draft:
    """The file of a proposal, judged by the rules once more as it stands there."""
    bare = best.design.dumps(defaults=False)
    text = annotated(
        bare, best.roles, best.proposal, best.found, best.simulated, against, best.lost
    )
    design = Design.loads(text)
    assert design == best.design, "comments change nothing"
    simulated = replace(best.simulated, design=design)
    is_thin = best.roles.survey.events < FEW_ROWS
    unread = tuple(stray_said(one) for one in best.roles.survey.strays)
    return Draft(text, design, simulated, check(design, best.seen), against, is_thin, unread)
