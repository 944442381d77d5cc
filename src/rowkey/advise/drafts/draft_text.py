"""A draft as the text of a design file, with the evidence and the reasons as comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rowkey.advise.drafts.cautions import (
    COMMENT_WIDTH,
    MAX_VALUE_WIDTH,
    describe_uniqueness,
    format_unparsed_time,
    wrap_comment,
)
from rowkey.advise.drafts.inferred_schema import InferredColumn, InferredSchema
from rowkey.advise.drafts.key_columns import allow_few_values, explain_key
from rowkey.advise.drafts.roles import MIN_ROWS_TO_JUDGE, ColumnRoles
from rowkey.advise.verdict import judge_design
from rowkey.design import Design, SourceMap, format_path, format_toml_value
from rowkey.findings import Finding
from rowkey.lint import LintResult
from rowkey.messages import pluralize, shorten_text
from rowkey.proposals import KeyProposal
from rowkey.schema import Condition, Ordering, Parameter
from rowkey.simulate import Simulation

MIN_RISING_SHARE = 0.999
"""Share of times not below all before them, under which the file is said to be out of order."""
ALLOWED_REASONS = {
    "overwritten-rows": "some rows of the sample are equal in every field",
    "measured-value-in-key": "without this field rows of the sample overwrite each other",
}
"""Why a finding is allowed where the sample leaves no other key."""


def build_design_options(
    roles: ColumnRoles,
    proposal: KeyProposal,
    table: str,
    sample_path: str | None,
    servers: int,
) -> dict[str, Any]:
    """Return the options of a draft as a design file writes them.

    Args:
        roles: what the columns are for.
        proposal: the proposed key.
        table: the table's name.
        sample_path: the sample's path, as the file names it; None if it does not.
        servers: region servers.
    """
    fields = {one.name: dict(one.options) for one in roles.schema.columns}
    format_words = roles.schema.format_options
    sample = {"path": sample_path} | ({"format": dict(format_words)} if format_words else {})
    return {
        "table": table,
        "key": proposal.key,
        "splits": proposal.splits,
        "fields": fields,
        "families": {"d": {"compression": "ZSTD", "encoding": "FAST_DIFF"}},
        "cluster": {"servers": servers},
        "writes": _build_writes(roles),
        **({} if sample_path is None else {"sample": sample}),
    }


def _build_writes(roles: ColumnRoles) -> dict[str, Any]:
    """Return the `[writes]` table of a draft."""
    time = roles.time or _find_time_column(roles.schema)
    if time is None:
        return {"arrival": "random"}
    words: dict[str, Any] = {"arrival": "clock", "time": time.name}
    if (time.facts.rising_share or 0.0) < MIN_RISING_SHARE:
        words["sort"] = True
    return words


def _find_time_column(schema: InferredSchema) -> InferredColumn | None:
    """Return the first column that is a time without nulls; None if there is none."""
    times = [c for c in schema.columns if c.field.type.unit_ns is not None and not c.field.nullable]
    return times[0] if times else None


def annotate_design(
    text: str,
    roles: ColumnRoles,
    lint_result: LintResult,
    simulation: Simulation,
    rejected_keys: Sequence[tuple[str, str]],
    lost_count: int,
) -> str:
    """Return the text of a drafted design file with the evidence as comments.

    Args:
        text: the file without comments.
        roles: the role of each column.
        lint_result: the findings of the rules.
        simulation: the sample replayed on the design.
        rejected_keys: keys that were tried before, with the reason against each.
        lost_count: rows of the sample that overwrite a different row.
    """
    text = _write_defaults(text, simulation.design.cluster.servers)
    places = Design.loads(text).source.source_map  # type: ignore[union-attr]
    comments_above: dict[int, list[str]] = {}
    trailing_comments: dict[int, str] = {}

    def note(path: str, lines: Iterable[str]) -> None:
        comments_above.setdefault(places.find_line(path), []).extend(lines)

    note("key", _describe_key(roles, simulation, rejected_keys, lost_count))
    for finding in lint_result.filter_by_severity("warning"):
        note(
            finding.path,
            _format_allowance(finding, roles, simulation.design, lost_count, comments_above),
        )
    for column in roles.schema.columns:
        trailing_comments[places.find_line(format_path(("fields", column.name)))] = format_facts(
            column
        )
    trailing_comments[places.find_line("splits")] = "one region for each bucket"
    trailing_comments[places.find_line("families.d.compression")] = (
        "whole blocks; servers need the codec"
    )
    trailing_comments[places.find_line("families.d.encoding")] = (
        "neighbouring keys share most bytes"
    )
    trailing_comments[places.find_line("cluster.servers")] = (
        "region servers; they set the bucket count"
    )
    trailing_comments.update(_describe_writes(roles, places))
    lines = text.split("\n")
    body = list(_format_header(roles.schema))
    if simulation.design.sample_path is None:
        body[-1:] = [*_describe_missing_sample(roles.schema.format_options), ""]
    for number, line in enumerate(lines, 1):
        body += [f"# {one}".rstrip() for one in comments_above.get(number, ())]
        body += _append_comment(line, trailing_comments.get(number, ""))
        if line.startswith("encoding"):
            body += ['# ttl       = "30d"    # how long rows are kept; without it for ever']
    return "\n".join([*body, *_format_example_reads(roles)])


def _format_allowance(
    finding: Finding,
    roles: ColumnRoles,
    design: Design,
    lost_count: int,
    comments: Mapping[int, Sequence[str]],
) -> Iterator[str]:
    """Yield an allow comment for a finding, unless it is already there or not wanted."""
    why = allow_few_values(roles, design).get(finding.name) or ALLOWED_REASONS.get(
        finding.name, finding.message
    )
    if finding.name == "overwritten-rows" and roles.is_missing_time and lost_count:
        return
    if finding.name == "overwritten-rows" and lost_count:
        why = "rows that differ only in measured values: the last put wins"
    allowed = f"rowkey: allow {finding.name} - {why}"
    if not any(allowed in lines for lines in comments.values()):
        yield allowed


def _write_defaults(text: str, servers: int) -> str:
    """Return the file text with the servers and the arrival written out, for review."""
    if "\n[cluster]\n" not in text:
        text = text.replace("\n[writes]\n", f"\n[cluster]\nservers = {servers}\n\n[writes]\n", 1)
    if "\n[writes]\narrival" not in text:
        head, _, tail = text.partition("\n[writes]\n")
        words, gap, remaining_text = tail.removesuffix("\n").partition("\n\n")
        lines = [line.partition(" = ") for line in ('arrival = "clock"', *words.split("\n"))]
        words = "\n".join(f"{word.strip():7} = {value}" for word, _, value in lines)
        text = f"{head}\n[writes]\n{words}{gap}{remaining_text}\n"
    return text


def _append_comment(line: str, comment: str) -> list[str]:
    """Return a line with its comment after it, or above it if both are too long."""
    if not comment:
        return [line]
    if max(len(line), 48) + len(comment) + 4 <= COMMENT_WIDTH + 8:
        return [f"{line:48}  # {comment}"]
    return [f"# {comment}", line]


def _format_header(schema: InferredSchema) -> Iterator[str]:
    """Yield the comment lines about the sample at the top of a drafted design file."""
    yield (
        f"# A first draft, made from {shorten_text(schema.path.name)}: "
        f"{pluralize(schema.event_count, 'row')}."
    )
    yield ("# The comments show what the sample contains. Correct what you know better, then run:")
    yield "#   rowkey check FILE    rowkey simulate FILE    rowkey explain FILE"
    if schema.event_count < MIN_ROWS_TO_JUDGE:
        tells = "tells" if schema.event_count == 1 else "tell"
        yield (
            f"# {pluralize(schema.event_count, 'row')} {tells} little; give "
            f"{MIN_ROWS_TO_JUDGE} or more. The key of this draft follows from the names"
        )
        yield "# of columns alone, types are as wide as possible, and the load is not known."
    if schema.left_out_rows.count:
        first = shorten_text(schema.left_out_rows.first_problem)[:160]
        yield (
            f"# {pluralize(schema.left_out_rows.count, 'row')} cannot be read as events and "
            f"are left out: {first}"
        )
    for sentence in schema.assumptions:
        yield f"# Assumed: {shorten_text(sentence)[:200]}."
    for column in schema.unparsed_time_columns:
        yield from (f"# {line}" for line in wrap_comment(f"{format_unparsed_time(column)}."))
    for name, why in list(schema.skipped_columns.items())[:20]:
        yield f"# The column {shorten_text(name)[:80]!r} is left out: it {why}."
    yield ""


def _describe_missing_sample(format_options: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the comment lines about a sample that no file keeps, and how to read it again."""
    yield "# The sample is not kept. Save it to a file for other commands, and declare it:"
    yield "# [sample]"
    yield '# path   = "FILE"'
    if format_options:
        yield f"# format = {format_toml_value(dict(format_options))}"


def _describe_key(
    roles: ColumnRoles,
    simulation: Simulation,
    rejected_keys: Sequence[tuple[str, str]],
    lost_count: int,
) -> Iterator[str]:
    """Yield the comment lines that explain the parts of the key and its verdict."""
    yield from ("", "The key, part by part:")
    objection = rejected_keys[-1][1] if rejected_keys else ""
    for reason in explain_key(roles, simulation.design, objection):
        yield from wrap_comment(shorten_text(reason), "  ")
    yield from describe_uniqueness(roles, lost_count)
    if roles.entity is None and roles.time is not None:
        yield from wrap_comment(
            "No column seems to identify what the rows belong to, such as a host or a user: "
            "neither names nor repeated values show one. If a column does, put it into the "
            "bucket and before the time; a read of one of its values then needs one range.",
        )
    if roles.schema.event_count >= MIN_ROWS_TO_JUDGE:
        yield from _describe_verdict(simulation)
    if rejected_keys:
        yield "Keys that were tried and rejected:"
    for key, why in rejected_keys:
        yield from wrap_comment(shorten_text(f"{key}: {why}"), "  ")


def _describe_verdict(simulation: Simulation) -> Iterator[str]:
    """Yield the comment lines about the simulated load of the key."""
    verdict = judge_design(simulation, [])
    yield from wrap_comment(
        f"Verdict on the writes of the sample: {verdict.grade.upper()}: {verdict.decisive.message}."
    )
    if verdict.find_grade("writes") != "good":
        for cause in simulation.causes[:1]:
            yield from wrap_comment(shorten_text(f"Cause: {cause.message}"), "  ")
        yield from wrap_comment(
            "The search judged no key to be better by its writes and reads together: "
            "rowkey advise FILE lists what it tried."
        )


def format_facts(column: InferredColumn) -> str:
    """Return a comment with what the sample shows of a column.

    Args:
        column: the column.
    """
    facts, show = column.facts, column.field.type.format_value
    remarks = [pluralize(facts.distinct_count or 0, "value")]
    if column.field.type.unit_ns is not None or column.field.type.has_integer_form:
        if facts.minimum is not None and facts.minimum != facts.maximum:
            remarks.append(f"{show(facts.minimum)} to {show(facts.maximum)}")
    elif facts.max_bytes and column.field.type.is_sequence:
        remarks.append(f"up to {pluralize(facts.max_bytes, 'byte')}")
    share = facts.heaviest_share or 0.0
    if facts.heaviest_values and share * (facts.distinct_count or 1) >= 2 and share >= 0.01:
        remarks.append(
            f"{share:.0%} {shorten_text(show(facts.heaviest_values[0][0]))[:MAX_VALUE_WIDTH]}"
        )
    if facts.null_share:
        remarks.append(f"{facts.null_share:.1%} null")
    is_rising = facts.rising_share is not None and facts.rising_share >= MIN_RISING_SHARE
    if is_rising and (facts.distinct_count or 0) > 1 and not column.unparsed_time:
        remarks.append("rises")
    if column.type_reason:
        remarks.append(column.type_reason)
    if column.unparsed_time:
        remarks.append("looks like a time of an unknown layout")
    return ", ".join(remarks)


def _describe_writes(roles: ColumnRoles, source_map: SourceMap) -> dict[int, str]:
    """Return the comments on the `[writes]` table, by line number."""
    words = _build_writes(roles)
    comments = {}
    if "time" in words:
        comments[source_map.find_line("writes.time")] = "the time of the event"
        comments[source_map.find_line("writes.arrival")] = "events arrive in the order of this time"
    elif roles.schema.unparsed_time_columns:
        why = (
            f"{roles.schema.unparsed_time_columns[0].name} may be the event time, once it can "
            "be read as a time"
        )
        comments[source_map.find_line("writes.arrival")] = why
    else:
        comments[source_map.find_line("writes.arrival")] = "no column is the time of the event"
    if "sort" in words:
        comments[source_map.find_line("writes.sort")] = "the file is not sorted by time"
    return comments


def _format_example_reads(roles: ColumnRoles) -> Iterator[str]:
    """Yield the example reads as commented-out lines of a design file."""
    yield (
        "# The reads that the table must serve decide more than the sample. Uncomment those that"
    )
    yield "# you need and add others; `rowkey explain FILE` shows what each of them costs."
    for read in build_example_reads(roles):
        yield from ("#", "# [[reads]]")
        for word, value in read.items():
            yield f"# {word:5} = {format_toml_value(value)}"
    yield ""


def build_example_reads(roles: ColumnRoles) -> Iterator[Mapping[str, Any]]:
    """Yield the options of example reads that the key serves.

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
        span = "1d" if (time.field.type.unit_ns or 0) > 3_600_000_000_000 else "1h"
        yield {
            "name": "a stretch of time" if entity is None else f"a stretch of one {entity.name}",
            "where": where,
            "span": span,
        }
    if entity is None and time is None:
        tests = (
            Condition(one.name, "=", (Parameter(n),)) for n, one in enumerate(roles.extra_columns)
        )
        one = f"one {roles.extra_columns[0].name}" if len(roles.extra_columns) == 1 else "one row"
        yield {"name": one, "where": " and ".join(map(str, tests)), "limit": 1}
