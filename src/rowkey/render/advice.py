"""Advice on better keys, as text for people and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rowkey.design import format_toml_value
from rowkey.messages import format_mean, format_number, pluralize
from rowkey.render.documents import FORMAT_VERSION
from rowkey.render.text import wrap_text
from rowkey.render.verdict import VERDICT_FIELDS, build_verdict_document
from rowkey.schema import find_field_refs, format_key

if TYPE_CHECKING:
    from rowkey.advise import (
        Advice,
        Change,
        ChangedLoad,
        JudgedDesign,
        LowerBounds,
        Pick,
        ResourceFigure,
        Resources,
    )
    from rowkey.simulate import ReadCost

STRENGTH_TEXTS = {
    "balanced": "best balance",
    "writes": "most even writes",
    "reads": "cheapest reads",
    "size": "fewest bytes",
    "nearest": "nearest to the declared key",
}
"""What a picked design is best at, as text."""
DECLARED = "declared"
MAX_SHOWN_SHARE = 10.0
"""Share of a capacity above which a load is far too much, whatever it is."""
GIB = 2**30

_RESOURCE_NAMES = ("servers", "operations_per_s", "disk_bytes", "cost_per_month")
_RESOURCE_FIELDS = {
    "servers.value": "servers with which the busiest takes half of its capacity at most",
    "operations_per_s.value": "operations a second of writes and reads at their peak",
    "disk_bytes.value": "bytes of the full table on disk in all copies",
    "cost_per_month.value": "cost of servers and disk by the declared prices",
    **{f"{name}.formula": "how the figure follows; empty if unknown" for name in _RESOURCE_NAMES},
    **{f"{name}.reason": "why the figure is unknown, else empty" for name in _RESOURCE_NAMES},
    "event_disk_bytes": "mean bytes of an event on disk in one copy",
    "measured": "whether a sample was encoded and compressed; else bytes are from field widths",
    "assumptions[]": "what was assumed or left out",
}
_KEY_FIELDS = {
    "table": "the table",
    "key": "the row key in bracket notation",
    "splits": "the split algorithm",
    "regions": "how many regions it is created with",
    "reads[]": "the names of the reads that it serves",
    "event_bytes": "mean bytes that an event adds to a store before encoding and compression",
    "read_operations_per_s": (
        "operations of all declared reads at their rates; of one answer a second without a rate"
    ),
    "heavy[].field": "a field of which its bucket spreads some values",
    "families[].family": "a family that is declared otherwise than in the design",
    "families[].option": "its option, such as bloom",
    "families[].value": "what it is set to; null if it is removed",
    "heavy[].values[]": "these values, as the design file declares them",
    **{f"resources.{name}": meaning for name, meaning in _RESOURCE_FIELDS.items()},
    "robustness[].change": (
        "what changes: rate (5 times as high), one_more_server, double_servers, heaviest_value (10 "
        "times as busy), zipf (+ 0.2) or year (of growth)"
    ),
    "robustness[].subject": "what it changes to, such as the servers or the value",
    "robustness[].value": "the estimated load of the busiest server then",
    "robustness[].unit": (
        "its unit: `fair share` of the writes, `utilization` of its capacity, or `regions` of 10 "
        "GiB a server"
    ),
    **VERDICT_FIELDS,
}
ADVICE_FIELDS = {
    "format": "version of this document",
    "seed": "where randomness began",
    "complete": "whether the search ended by itself; else its figures are of the first events",
    "candidates": "keys whose reads were estimated",
    "trials": "replays, by the first events or by all",
    **{f"declared.{name}": meaning for name, meaning in _KEY_FIELDS.items()},
    "picks[].strengths[]": (
        "what the key is best at: balanced, writes, reads, size or nearest; the most balanced key "
        "comes first"
    ),
    **{f"picks[].{name}": meaning for name, meaning in _KEY_FIELDS.items()},
    "bounds.fields[]": "the fields of the keys that were tried",
    "bounds.skew": "least load of the busiest server over its fair share, of keys without a salt",
    "bounds.reason": "why no key of these fields can be below that; empty if it is 1",
    "bounds.servers": "servers that bear the load under any such key; null without a rate",
    "bounds.reads[].name": "a declared read",
    "bounds.reads[].ranges": "ranges that an answer asks at least",
    "bounds.reads[].rows": "rows that an answer reads at least, mean: those that it returns",
    "assumptions[]": "what was assumed of the sample",
    "skipped_rows": "rows of the sample that were no events",
    **{f"tables[].{name}": meaning for name, meaning in _KEY_FIELDS.items()},
    "tables[].index_event_bytes": (
        "bytes that an event adds if the table is an index of the first one, with only the fields "
        "of its key; null if it cannot be one"
    ),
    "refused[].key": "a key that was judged, by the first events or by all, and is not proposed",
    "refused[].reason": "why",
}
"""The meaning of every field of `build_advice_document`."""


def build_advice_document(advice: Advice) -> dict[str, Any]:
    """Return advice as a JSON document."""
    return {
        "format": FORMAT_VERSION,
        "seed": advice.declared.simulation.seed,
        "complete": advice.is_complete,
        "candidates": advice.candidate_count,
        "trials": advice.trial_count,
        "declared": _build_key_document(advice.declared, advice.declared),
        "picks": [
            {"strengths": list(pick.strengths), **_build_key_document(pick.judged, advice.declared)}
            for pick in advice.picks
        ],
        "bounds": {**asdict(advice.bounds), "reason": str(advice.bounds.reason)},
        "assumptions": [str(one) for one in advice.assumptions],
        "skipped_rows": advice.skipped_rows.count,
        "tables": [
            {
                **_build_key_document(one, advice.declared),
                "index_event_bytes": advice.estimate_index_bytes(one),
            }
            for one in advice.tables
        ],
        "refused": [{"key": one.key, "reason": one.reason} for one in advice.refused],
    }


def _build_key_document(judged: JudgedDesign, declared: JudgedDesign) -> dict[str, Any]:
    """Return a judged design as a JSON document, compared with the declared one."""
    return {
        "table": judged.design.table,
        "key": format_key(judged.design.key.terms),
        "reads": [read.name for read in judged.simulation.design.reads],
        "splits": judged.design.splits.algorithm,
        "regions": len(judged.simulation.regions),
        "heavy": [
            {"field": name, "values": values} for name, values in _get_heavy_values(judged).items()
        ],
        "families": [
            {"family": name, "option": word, "value": value}
            for name, word, value in _list_family_changes(judged, declared)
        ],
        "event_bytes": judged.event_bytes,
        "read_operations_per_s": judged.read_cost,
        "resources": _build_resource_document(judged.resources),
        "robustness": [asdict(one) for one in judged.robustness],
        **build_verdict_document(judged.verdict, judged.simulation),
    }


def _build_resource_document(resources: Resources) -> dict[str, Any]:
    return {
        **{name: asdict(getattr(resources, name)) for name in _RESOURCE_NAMES},
        "event_disk_bytes": resources.event_disk_bytes,
        "measured": resources.is_measured,
        "assumptions": list(resources.assumptions),
    }


def format_advice(advice: Advice, width: int) -> Iterator[str]:
    """Yield advice as lines of text: what to do first, then the figures.

    Args:
        width: characters of a line.
    """
    declared = advice.declared
    yield f"{declared.design.table}  {format_key(declared.design.key.terms)}"
    for text in _list_assessments(declared):
        yield from wrap_text(f"  {text}", width, 4)
    if needs := _format_resources(declared.resources):
        yield from wrap_text(f"  {needs}", width, 4)
    yield ""
    if advice.tables or not advice.recommendation:
        yield from format_recommendation(advice, width)
    if advice.picks and (advice.tables or not advice.recommendation):
        yield ""
    if advice.picks:
        single = (
            "better keys:" if advice.recommendation else "better in one measure, worse in others:"
        )
        yield "with one table:" if advice.tables else single
        for number, pick in enumerate(advice.picks, 1):
            yield from _format_pick(number, pick, declared, width)
        yield ""
        yield from _format_figures(
            [declared, *(pick.judged for pick in advice.picks)], advice.bounds
        )
    if advice.refused:
        yield ""
        yield "judged and not proposed:"
        for one in advice.refused:
            yield from wrap_text(f"  {one.key}: {one.reason}", width, 4)
    yield ""
    yield from wrap_text(_format_bounds(advice.bounds), width, 2)
    yield from _format_notes(advice, width)


def _format_bounds(bounds: LowerBounds) -> str:
    """Return what no key can go below as a text."""
    texts = [f"a busiest server at {bounds.skew:.2f}× its fair share of the writes"]
    if bounds.reason:
        texts[0] += f", because {bounds.reason}"
    if bounds.servers is not None:
        texts.append(pluralize(bounds.servers, "server"))
    texts += [
        f"{_format_rows(one.rows)} in {pluralize(one.ranges, 'range')} for {one.name}"
        for one in bounds.reads
    ]
    return f"bound: any key of {', '.join(bounds.fields)} without a salt has at least " + (
        "; ".join(texts)
    )


def _format_rows(rows: float) -> str:
    return "1 row" if rows == 1 else f"{format_mean(rows)} rows"


def format_recommendation(advice: Advice, width: int) -> Iterator[str]:
    """Yield what to declare: the tables, or the most balanced key; or that nothing is better.

    Args:
        width: characters of a line.
    """
    if advice.tables:
        yield from _format_tables(advice, width)
    elif advice.recommendation:
        yield from _format_key(advice.recommendation[0], advice.declared, width)
    elif advice.is_complete:
        yield "no better key was found"
    else:
        yield "none of the keys that were judged so far is better"


def _format_notes(advice: Advice, width: int) -> Iterator[str]:
    """Yield what was left out and assumed of the sample, and how much was tried."""
    simulation = advice.declared.simulation
    source = simulation.source
    if advice.skipped_rows.count:
        left_out = pluralize(advice.skipped_rows.count, "row")
        text = f"{left_out} left out; {advice.skipped_rows.first_problem}"
        yield from wrap_text(text, width, 2)
    if not advice.declared.simulation.design.reads:
        text = (
            "no read is declared, so keys are compared by their writes alone: declare [[reads]] "
            "with their rates, which decide which key is best"
        )
        yield from wrap_text(text, width, 2)
    for said in advice.assumptions:
        yield from wrap_text(f"assumed: {said}", width, 2)
    for read in simulation.reads:
        if read.assumption:
            yield from wrap_text(f"assumed for read {read.name}: {read.assumption}", width, 2)
    for said in advice.declared.resources.assumptions:
        yield from wrap_text(f"assumed for needs: {said}", width, 2)
    if not advice.is_complete:
        yield from wrap_text(
            f"interrupted: figures are of {pluralize(source.replayed_count, 'event')}, and other "
            "keys may be better",
            width,
            2,
        )
        return
    judged = pluralize(source.total_count, "event")
    judged = f"the last {source.replayed_count:,} of {judged}" if source.first_replayed else judged
    yield from wrap_text(
        f"{pluralize(advice.candidate_count, 'key')} compared, "
        f"{pluralize(advice.trial_count, 'replay')}; what is proposed is judged by {judged}",
        width,
        2,
    )


def _format_tables(advice: Advice, width: int) -> Iterator[str]:
    """Yield the lines that propose several tables."""
    declared, tables, obstacle = advice.declared, advice.tables, advice.companion_obstacle
    yield from wrap_text(
        f"no single key serves all reads as well: use {len(tables)} tables and write each event to "
        "all of them",
        width,
        2,
    )
    linked = f"further tables can be companions of {tables[0].design.table}, which are kept in step"
    unlinked = f"no table can be a companion of another: {obstacle}"
    yield from wrap_text(f"  {linked if obstacle is None else unlinked}", width, 4)
    for judged in tables:
        yield from wrap_text(f"  {judged.design.table}: serves {_list_reads(judged)}", width, 4)
        yield from _format_key(judged, declared, width)
        if (index_bytes := advice.estimate_index_bytes(judged)) is not None:
            yield from wrap_text(
                "    or as an index, with only the fields of its key: "
                f"{index_bytes:,.0f} bytes for an event instead of {judged.event_bytes:,.0f}, and "
                f"one get of {tables[0].design.table} for each row that it reads",
                width,
                6,
            )
    event_bytes = sum(one.event_bytes for one in tables)
    texts = [
        f"{event_bytes:,.0f} bytes for an event instead of {declared.event_bytes:,.0f}",
        f"{len(tables)} writes instead of one",
        *_list_summed_needs([one.resources for one in tables]),
    ]
    yield from wrap_text(f"  together: {', '.join(texts)}", width, 4)


def _list_summed_needs(needs: Sequence[Resources]) -> Iterator[str]:
    """Yield what several tables need together of what can be added up; servers are shared."""
    operations = [one.operations_per_s.value for one in needs]
    if None not in operations:
        yield f"{format_number(sum(map(float, filter(None, operations))))} operations/s"
    sizes = [one.disk_bytes.value for one in needs]
    if None not in sizes:
        gib = sum(map(float, filter(None, sizes))) / GIB
        yield f"{format_number(gib)} GiB of disk in all copies"


def _list_reads(judged: JudgedDesign) -> str:
    """Return the names of the reads of a design, and what one answer of each costs."""
    return ", ".join(f"{one.name} ({_describe_cost(one)})" for one in judged.simulation.reads)


def _describe_cost(cost: ReadCost) -> str:
    """Return the ranges and rows of a read with their units, or that it scans the table."""
    text = _format_read(cost)
    if " / " not in text:
        return text
    ranges, rows = round(cost.fan_out[0]), round(cost.read_rows)
    return f"{pluralize(ranges, 'range')}, {pluralize(rows, 'row')}"


def _format_pick(number: int, pick: Pick, declared: JudgedDesign, width: int) -> Iterator[str]:
    """Yield the lines of one proposed key: what it is best at, and what is left to do."""
    strengths = ", ".join(STRENGTH_TEXTS[one] for one in pick.strengths)
    if len(pick.strengths) == len(STRENGTH_TEXTS) - (not pick.judged.design.reads):
        strengths = "the best by all measures"
    yield from wrap_text(f"  {number}: {strengths}", width, 4)
    yield from _format_key(pick.judged, declared, width)


def _format_key(judged: JudgedDesign, declared: JudgedDesign, width: int) -> Iterator[str]:
    """Yield what a design file declares for a key, and the verdict without what was known."""
    yield f'    key    = "{format_key(judged.design.key.terms)}"'
    yield f"    splits = {format_toml_value(_get_splits(judged))}"
    for name, values in _get_heavy_values(judged).items():
        yield from wrap_text(f"    heavy values of {name}: {', '.join(map(str, values))}", width, 6)
    for name, field in judged.design.fields.items():
        if field.declaration.unique and not declared.design.fields[name].declaration.unique:
            text = f"{name} is to be declared as unique: no sampled event repeats it"
            yield from wrap_text(f"    {text}", width, 6)
    for name, word, value in _list_family_changes(judged, declared):
        text = f"no {word}" if value is None else f"{word} = {format_toml_value(value)}"
        yield f"    {text} in family {name}"
    known = _list_assessments(declared)
    first, *others = _list_assessments(judged)
    needs = _format_resources(judged.resources, declared.resources)
    for text in filter(None, (first, *(one for one in others if one not in known), needs)):
        yield from wrap_text(f"    {text}", width, 6)


def _list_family_changes(
    judged: JudgedDesign, declared: JudgedDesign
) -> Iterator[tuple[str, str, Any]]:
    """Yield family, option and value of what its families have otherwise; None if removed."""
    others = declared.design.declaration.families
    for name, options in judged.design.declaration.families.items():
        for word in options | others[name]:
            if options.get(word) != others[name].get(word):
                yield name, word, options.get(word)


def _get_splits(judged: JudgedDesign) -> str | dict[str, Any]:
    """Return the splits of a design as its file declares them."""
    splits = judged.design.splits
    if splits.request.regions is None:
        return splits.algorithm
    return {"algorithm": splits.algorithm, "regions": splits.request.regions}


def _format_resources(resources: Resources, declared: Resources | None = None) -> str:
    """Return what a design needs and costs as a text.

    Args:
        declared: what the declared design needs; reasons that it has too are left out.
    """
    units = {
        "servers": "server" if resources.servers.value == 1 else "servers",
        "operations_per_s": "operations/s",
        "disk_bytes": "GiB of disk in all copies",
    }
    known, reasons = [], []
    for name, unit in units.items():
        figure: ResourceFigure = getattr(resources, name)
        if figure.value is not None:
            value = figure.value / GIB if name == "disk_bytes" else figure.value
            known.append(f"{format_number(value)} {unit}")
        elif declared is None or figure.reason != getattr(declared, name).reason:
            reasons.append(figure.reason)
    cost = resources.cost_per_month
    if cost.value is not None:
        known.append(f"{cost.value:,.2f} a month = {cost.formula}")
    texts = list(dict.fromkeys(reasons))
    if known:
        return "; ".join([f"needs {', '.join(known)}", *texts])
    return f"needs are unknown: {'; '.join(texts)}" if texts else ""


def _get_heavy_values(judged: JudgedDesign) -> dict[str, list[Any]]:
    """Return the values that a bucket of the key spreads, by the field that declares them."""
    names = {ref.name for term in judged.design.key.terms for ref in find_field_refs(term)}
    fields = judged.design.declaration.fields
    heavy = {name: getattr(fields[name], "heavy", None) for name in sorted(names)}
    return {name: list(values) for name, values in heavy.items() if values}


def _list_assessments(judged: JudgedDesign) -> list[str]:
    """Return what decides the verdict on a design, and what else is not good, as texts."""
    first, *others = judged.verdict.assessments
    shown = [first, *(one for one in others if one.grade != "good")]
    return [
        f"{one.grade.upper()}: {one.subject}: {one.message}"
        + (f". {one.remedy}" if one.topic == "finding" and one.remedy else "")
        for one in shown
    ]


def _format_figures(judged: Sequence[JudgedDesign], bounds: LowerBounds) -> Iterator[str]:
    """Yield a table with a column for each design, the declared one first, and for the bounds."""
    rows = [
        ("", ["declared", *map(str, range(1, len(judged))), "bound"]),
        ("verdict", [one.verdict.grade.upper() for one in judged]),
        (
            "busiest server, of its share",
            [*(f"{one.simulation.verdict.skew:.2f}×" for one in judged), f"{bounds.skew:.2f}×"],
        ),
    ]
    rows += _list_robustness_rows(judged)
    least = {one.name: f"{one.ranges} / {one.rows:,.0f}" for one in bounds.reads}
    for place, read in enumerate(judged[0].simulation.design.reads):
        costs = [_format_read(one.simulation.reads[place]) for one in judged]
        rows.append((f"{read.name}: ranges / rows read", [*costs, least.get(read.name, "")]))
    rows.append(("bytes of an event", [f"{one.event_bytes:,.0f}" for one in judged]))
    first = max(len(label) for label, _ in rows)
    columns = list(zip_longest(*(cells for _, cells in rows), fillvalue=""))
    widths = [max(map(len, cells)) for cells in columns]
    for label, cells in rows:
        shown = (f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=False))
        yield f"  {label:<{first}}  {'  '.join(shown)}"


_CHANGE_TEXTS: dict[Change, str] = {
    "rate": "  of its capacity, at {subject} times the rates",
    "one_more_server": "  with {subject} servers",
    "double_servers": "  with {subject} servers",
    "heaviest_value": "  with {subject} 10 times as busy",
    "zipf": "  with {subject} more uneven (zipf + 0.2)",
    "year": "regions of 10 GiB a server after a year",
}

_CHANGES = list(_CHANGE_TEXTS)


def _list_robustness_rows(judged: Sequence[JudgedDesign]) -> Iterator[tuple[str, list[str]]]:
    """Yield a label and a cell for each design of each change that a design was judged by."""
    changes = [(load.change, load.subject) for one in judged for load in one.robustness]
    for change, subject in sorted(dict.fromkeys(changes), key=lambda one: _CHANGES.index(one[0])):
        found = [
            next((o for o in one.robustness if (o.change, o.subject) == (change, subject)), None)
            for one in judged
        ]
        label = _CHANGE_TEXTS[change].format(subject=subject)
        yield label, ["–" if other is None else _format_load(other) for other in found]


def _format_load(load: ChangedLoad) -> str:
    """Return the load of the busiest server after a change, in its unit."""
    if load.unit == "fair share":
        return f"{load.value:.2f}×"
    if load.unit == "utilization":
        return f"{load.value:.0%}" if load.value <= MAX_SHOWN_SHARE else f"> {MAX_SHOWN_SHARE:.0%}"
    return format_number(load.value)


def _format_read(cost: ReadCost) -> str:
    """Return the ranges and rows of a read, or its gets; or that it fails or scans the table."""
    if cost.error:
        return "cannot run"
    if cost.is_full_scan and cost.residual_fields:
        return "whole table"
    if cost.is_get:
        return pluralize(round(cost.fan_out[0]), "get")
    return f"{cost.fan_out[0]:,.0f} / {cost.read_rows:,.0f}"
