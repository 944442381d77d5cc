"""A first design from a sample: types and facts as seen, a key that was tried, and the reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.advise.proposals import proposals
from rowkey.advise.roles import assigned, widened
from rowkey.advise.survey import surveyed
from rowkey.advise.wording import REASONS, annotated, words_of_file
from rowkey.design import Design
from rowkey.lint import Findings, Seen, check, look
from rowkey.simulate import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.advise.proposals import Proposal
    from rowkey.advise.roles import Roles
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
    """

    text: str
    design: Design
    simulated: Simulation
    found: Findings
    tried: tuple[tuple[str, str], ...]


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
    def against(self) -> tuple[str, ...]:
        """What speaks against it, the worst first; nothing where it can be taken."""
        allowed = self.proposal.allowed
        told = [
            one
            for one in self.found.at_least("warning")
            if one.name not in allowed and one.name not in REASONS
        ]
        verdict = self.simulated.verdict
        heat = [f"hot, {verdict.skew:.1f} times a server's share"] if verdict.is_hot else []
        return (*heat, *(one.what for one in told))


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
    tried: list[_Tried] = []
    roles = assigned(survey)
    for proposal in proposals(roles, servers):
        one = _tried_out(roles, proposal, name, where, servers, seed)
        tried.append(one)
        if not one.against:
            break
    best = min(tried, key=lambda one: len(one.against))
    against = tuple((t.proposal.key, t.against[0]) for t in tried if t is not best and t.against)
    return _written(best, against, name, where, servers)


def table_name(path: Path) -> str:
    """A table's name from that of a file, without its endings.

    >>> table_name(Path("data/server logs-2024.csv.gz"))
    'server_logs_2024'
    """
    stem = path.name.lstrip(".").split(".")[0]
    return _STRANGE.sub("_", stem).strip("_")[:100] or "events"


def _tried_out(
    roles: Roles, proposal: Proposal, name: str, where: str, servers: int, seed: int
) -> _Tried:
    """A proposal under the rules and the sample; with more in its key where rows still meet."""
    while True:
        survey = roles.survey
        design = Design(**words_of_file(roles, proposal, name, where, servers))
        seen = look(design, survey.path, survey.format_words, seed=seed)
        is_more = seen.repeats is not None and seen.repeats > survey.copies
        wider = widened(roles) if is_more and not design.key.is_salted else None
        if wider is None:
            break
        roles = wider
        proposal = _same_front(proposal, roles, servers)
    simulated = run(design, survey.path, format_words=survey.format_words, seed=seed)
    return _Tried(roles, proposal, design, simulated, check(design, seen), seen)


def _same_front(proposal: Proposal, roles: Roles, servers: int) -> Proposal:
    """The proposal of the same sort for a key of more fields."""
    front = proposal.key.partition("]")[0]
    others = list(proposals(roles, servers))
    return next((one for one in others if one.key.partition("]")[0] == front), others[-2])


def _written(
    best: _Tried,
    against: tuple[tuple[str, str], ...],
    name: str,
    where: str,
    servers: int,
) -> Draft:
    """The file of a proposal, judged by the rules once more as it stands there."""
    bare = Design(**words_of_file(best.roles, best.proposal, name, where, servers)).dumps()
    text = annotated(bare, best.roles, best.proposal, best.found, best.simulated, against)
    design = Design.loads(text)
    found = check(design, best.seen)
    assert design == best.design, "comments change nothing"
    return Draft(text, design, replace(best.simulated, design=design), found, against)
