"""A draft as the text of a design file: what was seen and why, as comments beside the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.advise.drafting.cautions import (
    VALUE,
    WIDE,
    on_uniqueness,
    stray_said,
    wrapped,
)
from rowkey.advise.drafting.proposals import A_SERVER
from rowkey.advise.drafting.roles import FEW_ROWS
from rowkey.design import Design, path_text, toml_value
from rowkey.errors import counted, printable
from rowkey.schema import Condition, FieldRef, Ordering, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.advise.drafting.proposals import Proposal
    from rowkey.advise.drafting.roles import Roles
    from rowkey.advise.drafting.survey import Column, Survey
    from rowkey.lint import Finding, Findings
    from rowkey.simulate import Simulation

IN_ORDER = 0.999
"""Share of times not below all before them, under which the file is said to be out of order."""
REASONS = {
    "overwritten-rows": "rows of the sample that stand there twice, equal in every field",
    "measured-value-in-key": "without it rows of the sample overwrite each other",
}
"""Why a finding is allowed where the sample leaves no other key."""


def words_of_file(
    roles: Roles, proposal: Proposal, table: str, sample: str, servers: int
) -> dict[str, Any]:
    """The words of a draft, as a design file has them.

    Args:
        roles: what the columns are for.
        proposal: the key.
        table: the table's name.
        sample: the sample's path, as the file names it.
        servers: region servers.
    """
    survey = roles.survey
    fields = {one.name: dict(one.words) for one in survey.columns}
    for name, values in proposal.heavy.items():
        fields[name]["heavy"] = list(values)
    format_words = survey.format_words
    return {
        "table": table,
        "key": proposal.key,
        "splits": proposal.splits,
        "fields": fields,
        "families": {"d": {"compression": "ZSTD", "encoding": "FAST_DIFF"}},
        "cluster": {"servers": servers},
        "writes": _writes(roles),
        "sample": {"path": sample} | ({"format": dict(format_words)} if format_words else {}),
    }


def _writes(roles: Roles) -> dict[str, Any]:
    """How rows come in."""
    time = roles.time or _only_time(roles.survey)
    if time is None:
        return {"arrival": "random"}
    words: dict[str, Any] = {"arrival": "clock", "time": time.name}
    if (time.facts.rising or 0.0) < IN_ORDER:
        words["sort"] = True
    return words


def _only_time(survey: Survey) -> Column | None:
    """The time of a sample whose key has none."""
    times = [c for c in survey.columns if c.field.type.tick is not None and not c.field.nullable]
    return times[0] if times else None


def annotated(
    text: str,
    roles: Roles,
    proposal: Proposal,
    found: Findings,
    simulated: Simulation,
    against: Sequence[tuple[str, str]],
    lost: int,
) -> str:
    """A design file with what was seen as comments.

    Args:
        text: the file without them.
        roles: what the columns are for.
        proposal: the key.
        found: what the rules say of it.
        simulated: what became of the sample.
        against: keys that were tried before, with the reason against each.
        lost: rows of the sample that overwrite one which they differ from.
    """
    text = _explicit(text, simulated.design.cluster.servers)
    places = Design.loads(text).written.places  # type: ignore[union-attr]
    above: dict[int, list[str]] = {}
    beside: dict[int, str] = {}

    def note(path: str, lines: Iterable[str]) -> None:
        above.setdefault(places.line_of(path), []).extend(lines)

    note("key", _on_key(roles, proposal, simulated, against, lost))
    for finding in found.at_least("warning"):
        note(finding.path, _on_finding(finding, roles, proposal, lost, above))
    for column in roles.survey.columns:
        beside[places.line_of(path_text(("fields", column.name)))] = facts_said(column)
    beside[places.line_of("splits")] = "one region for each bucket"
    beside[places.line_of("families.d.compression")] = "of whole blocks, if the servers have it"
    beside[places.line_of("families.d.encoding")] = "neighbours share most of their keys"
    beside[places.line_of("cluster.servers")] = "region servers: the buckets follow from them"
    beside.update(_on_writes(roles, places))
    lines = text.split("\n")
    body = list(_head(roles.survey))
    for number, line in enumerate(lines, 1):
        body += [f"# {one}".rstrip() for one in above.get(number, ())]
        body += _with_comment(line, beside.get(number, ""))
        if line.startswith("encoding"):
            body += [
                '# ttl       = "30d"    # how long rows are kept: forever, unless this says so'
            ]
    return "\n".join([*body, *_examples(roles)])


def _on_finding(
    finding: Finding,
    roles: Roles,
    proposal: Proposal,
    lost: int,
    above: Mapping[int, Sequence[str]],
) -> Iterator[str]:
    """The comment that allows a finding, once; none where the file lacks what a key needs."""
    why = proposal.allowed.get(finding.name) or REASONS.get(finding.name, finding.what)
    if finding.name == "overwritten-rows" and roles.misses_time and lost:
        return
    if finding.name == "overwritten-rows" and lost:
        why = "rows that differ in measured values alone: the last one put stays"
    allowed = f"rowkey: allow {finding.name} - {why}"
    if not any(allowed in lines for lines in above.values()):
        yield allowed


def _explicit(text: str, servers: int) -> str:
    """The text with two words that say what a default would, for both are to be looked at."""
    if "\n[cluster]\n" not in text:
        text = text.replace("\n[writes]\n", f"\n[cluster]\nservers = {servers}\n\n[writes]\n", 1)
    if "\n[writes]\narrival" not in text:
        head, _, tail = text.partition("\n[writes]\n")
        words, gap, rest = tail.partition("\n\n")
        lines = [line.partition(" = ") for line in ('arrival = "clock"', *words.split("\n"))]
        words = "\n".join(f"{word.strip():7} = {value}" for word, _, value in lines)
        text = f"{head}\n[writes]\n{words}{gap}{rest}"
    return text


def _with_comment(line: str, comment: str) -> list[str]:
    """A line with a comment behind it, or above it where the two are too long."""
    if not comment:
        return [line]
    if max(len(line), 48) + len(comment) + 4 <= WIDE + 8:
        return [f"{line:48}  # {comment}"]
    return [f"# {comment}", line]


def _head(survey: Survey) -> Iterator[str]:
    """What the draft was made from."""
    yield (
        f"# A first draft, made from {printable(survey.path.name)}: "
        f"{counted(survey.events, 'row')}."
    )
    yield "# What was seen stands as comments. Read them, correct what you know better, then ask:"
    yield "#   rowkey check FILE    rowkey simulate FILE    rowkey explain FILE"
    if survey.events < FEW_ROWS:
        tells = "tells" if survey.events == 1 else "tell"
        yield (
            f"# {counted(survey.events, 'row')} {tells} little; from {FEW_ROWS} on a sample says "
            "more. Here the key follows from names of"
        )
        yield "# columns alone, types have all the room they can, and of load nothing is known."
    if survey.left_out.count:
        first = printable(survey.left_out.first)[:160]
        yield (
            f"# {counted(survey.left_out.count, 'row')} are left out, for they are no events: "
            f"{first}"
        )
    for sentence in survey.assumed:
        yield f"# Assumed: {printable(sentence)[:200]}."
    for column in survey.strays:
        yield from (f"# {line}" for line in wrapped(f"{stray_said(column)}."))
    for name, why in list(survey.unread.items())[:20]:
        yield f"# The column {printable(name)[:80]!r} is left out: it {why}."
    yield ""


def _on_key(
    roles: Roles,
    proposal: Proposal,
    simulated: Simulation,
    against: Sequence[tuple[str, str]],
    lost: int,
) -> Iterator[str]:
    """Why the key is as it is, and what became of the sample under it."""
    yield from ("", "The key, part by part:")
    for reason in proposal.reasons:
        yield from wrapped(printable(reason), "  ")
    yield from on_uniqueness(roles, lost)
    if roles.entity is None and roles.time is not None:
        yield from wrapped(
            "No column was seen to name what rows belong to: neither a name nor values that come "
            "again say so. If one does, put it in front of the time and into the bucket, for a "
            "read of one then asks one range.",
        )
    if roles.survey.events >= FEW_ROWS:
        yield from _on_verdict(roles, simulated)
    if against:
        yield "Tried before, and not taken:"
    for key, why in against:
        yield from wrapped(printable(f"{key}: {why}"), "  ")


def _on_verdict(roles: Roles, simulated: Simulation) -> Iterator[str]:
    """What became of the sample under the key."""
    verdict = simulated.verdict
    yield from wrapped(
        f"Replayed, the sample is {verdict.word}: the busiest server takes {verdict.skew:.2f} "
        f"times its share, where an even key has {verdict.even:.2f} ({verdict.basis}).",
    )
    if verdict.word != "even":
        yield from _on_heat(roles, simulated)


def _on_heat(roles: Roles, simulated: Simulation) -> Iterator[str]:
    """Why it is not even, and what would make it so."""
    for cause in simulated.causes[:1]:
        yield from wrapped(printable(f"Why: {cause.message}"), "  ")
    buckets, one = A_SERVER * simulated.design.cluster.servers, roles.entity
    if simulated.verdict.is_hot:
        yield "No key of these fields spreads that."
    elif one is not None:
        names = ", ".join(str(FieldRef(column.name)) for column in roles.columns)
        yield from wrapped(
            f"[bucket({names}, {buckets})] in front would spread that too, and a read of one "
            f"{one.name} would then ask {counted(buckets, 'range')}."
        )


def facts_said(column: Column) -> str:
    """What the sample shows of a column, as a comment.

    Args:
        column: the column.
    """
    facts, show = column.facts, column.field.type.show
    said = [counted(facts.distinct or 0, "value")]
    if column.field.type.tick is not None or column.field.type.counts:
        if facts.least is not None and facts.least != facts.greatest:
            said.append(f"{show(facts.least)} to {show(facts.greatest)}")
    elif facts.bytes_most and column.field.type.is_sequence:
        said.append(f"up to {counted(facts.bytes_most, 'byte')}")
    share = facts.heaviest_share or 0.0
    if facts.heaviest and share * (facts.distinct or 1) >= 2 and share >= 0.01:
        said.append(f"{share:.0%} {printable(show(facts.heaviest[0][0]))[:VALUE]}")
    if facts.nulls:
        said.append(f"{facts.nulls:.1%} null")
    is_rising = facts.rising is not None and facts.rising >= IN_ORDER
    if is_rising and (facts.distinct or 0) > 1 and not column.stray:
        said.append("rises")
    if column.why:
        said.append(column.why)
    if column.stray:
        said.append("looks like a time and is not read as one")
    return ", ".join(said)


def _on_writes(roles: Roles, places: Any) -> dict[int, str]:
    """Why rows come in as the file says."""
    words = _writes(roles)
    said = {}
    if "time" in words:
        said[places.line_of("writes.time")] = "when an event happened"
        said[places.line_of("writes.arrival")] = "this time moves with the clock"
    elif roles.survey.strays:
        why = f"{roles.survey.strays[0].name} may tell when, once it is read as a time"
        said[places.line_of("writes.arrival")] = why
    else:
        said[places.line_of("writes.arrival")] = "no column tells when a row was written"
    if "sort" in words:
        said[places.line_of("writes.sort")] = "the file is not in the order of time"
    return said


def _examples(roles: Roles) -> Iterator[str]:
    """Reads that the key serves, as comments to take the # from."""
    yield "# The reads that the table must serve decide more than anything in the sample. Take the"
    yield "# first # from those that are yours, and add others: rowkey explain prices them."
    for read in example_reads(roles):
        yield from ("#", "# [[reads]]")
        for word, value in read.items():
            yield f"# {word:5} = {toml_value(value)}"
    yield ""


def example_reads(roles: Roles) -> Iterator[Mapping[str, Any]]:
    """Reads that the key serves.

    Args:
        roles: what the columns are for.
    """
    entity, time = roles.entity, roles.time
    if entity is not None:
        order = {"order": str(Ordering(time.name, descending=True))} if time is not None else {}
        where = str(Condition(entity.name, "=", (Parameter(0),)))
        what = "latest" if time is not None else "rows"
        yield {"name": f"{what} of one {entity.name}", "where": where, **order, "limit": 100}
    if time is not None:
        stretch = [Condition(time.name, o, (Parameter(n),)) for n, o in enumerate((">=", "<"))]
        both = [Condition(entity.name, "=", (Parameter(0),))] if entity is not None else []
        where = " and ".join(map(str, [*both, *stretch]))
        span = "1d" if (time.field.type.tick or 0) > 3_600_000_000_000 else "1h"
        yield {
            "name": "a stretch of time" if entity is None else f"a stretch of one {entity.name}",
            "where": where,
            "span": span,
        }
    if entity is None and time is None:
        tests = (Condition(one.name, "=", (Parameter(n),)) for n, one in enumerate(roles.adds))
        one = f"one {roles.adds[0].name}" if len(roles.adds) == 1 else "one row"
        yield {"name": one, "where": " and ".join(map(str, tests)), "limit": 1}
