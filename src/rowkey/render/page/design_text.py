"""The sentences and figures of one design that the templates of a report show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rowkey.lint import RULES, RuleDoc
from rowkey.messages import Message
from rowkey.render.languages import Translator
from rowkey.render.page.figure_format import format_count, format_load, format_share
from rowkey.schema import MIN_VALUES_FOR_FACTS

TOPICS = ("key", "heat", "causes", "findings", "reads", "storage", "figures")
"""The topics of a design in the order of the page, by the names of their macros."""
BOX_COLOURS = 8
"""Colours of boxes; they come again in keys of more parts."""
MAX_BOX_BYTES = 12
"""Bytes from which a box is as broad as any."""
_SENTENCE_STARTS = frozenset({
    "a", "all", "an", "any", "each", "every", "its", "most", "no", "none", "nothing", "of", "one",
    "only", "the", "there", "these", "this", "two",
})  # fmt: skip
"""Words with which a sentence begins and that are no name of a design."""


def format_design_name(design: Mapping[str, Any]) -> str:
    """Return a design's name, after its letter if there are several designs.

    >>> format_design_name({"label": "A", "name": "logs"})
    'A logs'
    >>> format_design_name({"label": "", "name": "logs"})
    'logs'
    """
    return " ".join(filter(None, (design["label"], design["name"])))


def list_assessments(design: Mapping[str, Any], translator: Translator) -> list[dict[str, str]]:
    """Return the assessments of a verdict, the worst first: grade, subject, message and remedy.

    Args:
        design: the design, as `build_summary_document` describes it.
        translator: the page's language.
    """
    stop = translator("subject.end")
    return [
        {
            "grade": one["grade"],
            "subject": _format_subject(one, translator),
            "message": _end_sentence(_translate_assessment(one, translator), stop),
            "remedy": _translate_remedy(one, design, translator),
        }
        for one in design["verdict"]["assessments"]
    ]


def _end_sentence(text: str, stop: str = ".") -> str:
    """Return a text that ends with a full stop."""
    return text if text.endswith((".", "…", "。")) else f"{text}{stop}"


def _format_subject(assessment: Mapping[str, Any], translator: Translator) -> str:
    """Return what an assessment is about."""
    if assessment["topic"] == "finding":
        return str(assessment["name"])
    return translator(f"subject.{assessment['topic']}", name=assessment["name"])


def _translate_assessment(assessment: Mapping[str, Any], translator: Translator) -> str:
    """Return the message of an assessment; that of a rule in general if its own is hidden."""
    if assessment["topic"] != "finding":
        return translator.translate_message(assessment["message"])
    key = f"rules.{assessment['name']}"
    if key in translator:
        return translator(key)
    return assessment["message"] or summarize_rule(assessment["name"])


def _translate_remedy(
    assessment: Mapping[str, Any], design: Mapping[str, Any], translator: Translator
) -> str:
    """Return the remedy of an assessment in the page's language; empty without one."""
    code, remedy = assessment["remedy_code"], assessment["remedy"]
    if remedy and (not code or translator.language == "en"):
        return translator.translate_message(remedy)
    for cause in design["causes"]:
        if cause["code"] == code:
            return translate_cause(cause, translator)[2]
    key = f"remedies.{code}"
    return translator(key) if key in translator else format_rule_remedy(code)


def format_source(design: Mapping[str, Any], translator: Translator) -> str:
    """Return which events were replayed."""
    source = design["source"]
    operations, events = f"{design['operations']:,}", f"{source['events']:,}"
    if source["kind"] != "sample":
        return translator("verdict.judged_by_made", operations=operations)
    if source["path"] is None:
        return translator("verdict.judged_by_hidden", operations=operations, events=events)
    name = Path(source["path"]).name
    return translator("verdict.judged_by", operations=operations, events=events, name=name)


def list_facts(design: Mapping[str, Any], translator: Translator) -> list[str]:
    """Return the facts on a design's card, such as regions, overwrites and remarks."""
    regions, servers = f"{len(design['regions']):,}", f"{design['servers']:,}"
    facts = [translator("verdict.regions", regions=regions, servers=servers)]
    counts = {
        "empty_region_count": design["empty_region_count"],
        "overwritten": design["overwritten"]["rows"],
        "left_out": design["source"]["left_out"],
    }
    facts += [
        translator(f"verdict.{name}", count=f"{count:,}") for name, count in counts.items() if count
    ]
    remarks = [*design["source"]["assumed"], *design["remarks"]]
    if open_growth := design["verdict"]["open_growth"]:
        remarks.insert(0, open_growth)
    return [*facts, *map(translator.translate_message, remarks)]


def list_properties(properties: Mapping[str, Any], translator: Translator) -> list[str]:
    """Return sentences about a key: decodable, unique, salted, and its row order."""
    facts = [translator("key.decodes" if properties["decodes"] else "key.ambiguous")]
    if properties["unique"]:
        facts.append(translator("key.unique"))
    elif properties["lossy"]:
        facts.append(translator("key.lossy", fields=", ".join(properties["lossy"])))
    if properties["stored_as_columns"]:
        fields = ", ".join(properties["stored_as_columns"])
        facts.append(translator("key.stored_as_columns", fields=fields))
    if properties["is_salted"]:
        facts.append(translator("key.is_salted"))
    if properties["order"]:
        facts.append(translator("key.rows_come", order=", ".join(properties["order"])))
    return facts


def format_losses(losses: Mapping[str, str], translator: Translator) -> str:
    """Return which information a key part loses of its fields."""
    return translator("key.and").join(
        translator("key.loses", name=name, what=translator.translate_message(what))
        for name, what in losses.items()
    )


def compute_box_width(part: Mapping[str, Any]) -> int:
    """Return the width of a key part's box, from 1 to 12, by its maximum bytes."""
    return min(max(part["bytes"]["most"] or MAX_BOX_BYTES, 1), MAX_BOX_BYTES)


def find_no_cause_key(design: Mapping[str, Any]) -> str:
    """Return the key of the sentence that says why no cause is listed."""
    if design["writes"]["level"] == "even":
        return "causes.none_even"
    is_thin = design["operations"] < MIN_VALUES_FOR_FACTS
    return "causes.none_few" if is_thin else "causes.none_hot"


def translate_cause(cause: Mapping[str, Any], translator: Translator) -> tuple[str, str, str]:
    """Return the title, message and remedy of a cause in the page's language.

    An English page shows the sentences of the cause itself, which hold more figures, unless they
    are hidden. Another page, or a redacted one, shows the sentences that the language has for the
    cause, and the cause's own if the language has none.
    """
    prefix = f"causes.{cause['code']}"
    is_known = f"{prefix}.title" in translator
    title = translator(f"{prefix}.title") if is_known else str(cause["code"])
    if translator.language == "en" and cause["message"]:
        return title, cause["message"], cause["remedy"]
    if not is_known:
        message = cause["message"] or translator("causes.message", code=title)
        return title, message, cause["remedy"] or translator("causes.remedy")
    try:
        message = translator(f"{prefix}.message", **_join_fields(cause["evidence"]))
    except (KeyError, ValueError, TypeError):  # the evidence lacks a figure of the sentence
        message = translator(f"{prefix}.general")
    if isinstance(cause["remedy"], Message):
        return title, message, translator.translate_message(cause["remedy"])
    return title, message, translator(f"{prefix}.remedy")


def _join_fields(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures by name, with the names of fields as one text."""
    fields = evidence.get("fields", ())
    return {**evidence, "fields": ", ".join(fields)} if fields else dict(evidence)


def summarize_rule(code: str) -> str:
    """Return what the rule with a code finds, in a few words; empty if there is no such rule."""
    sections = _find_rule_sections(code)
    return " ".join(sections.summary.split()) if sections is not None else ""


def format_rule_remedy(code: str) -> str:
    """Return what to do about any finding of a rule; empty if there is no such rule."""
    sections = _find_rule_sections(code)
    return f"Use instead: {' '.join(sections.remedy.split())}" if sections is not None else ""


def _find_rule_sections(code: str) -> RuleDoc | None:
    """Return the documentation of the rule with a code; None if there is no such rule."""
    return next((rule.parse_docstring() for rule in RULES.values() if rule.code == code), None)


def sort_by_severity(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return findings, the most severe first."""
    return sorted(findings, key=lambda one: ("error", "warning", "info").index(one["severity"]))


def format_place(finding: Mapping[str, Any], translator: Translator) -> str:
    """Return the path and line of a finding in the design file."""
    line = finding["line"]
    places = finding["path"], translator("findings.line", line=line) if line else ""
    return ", ".join(filter(None, places))


def format_sentence(text: str) -> str:
    """Return a finding's text as a sentence; it begins in upper case unless with a field's name.

    >>> format_sentence("the key begins with ts"), format_sentence("ts moves with the clock.")
    ('The key begins with ts.', 'ts moves with the clock.')
    """
    if text.split(" ", 1)[0] in _SENTENCE_STARTS:
        text = f"{text[0].upper()}{text[1:]}"
    return _end_sentence(text)


def format_read(read: Mapping[str, Any], translator: Translator) -> str:
    """Return a declared read as text: its conditions, order and limit."""
    phrases = [" and ".join(read["conditions"]) or translator("reads.all_rows")]
    if read["order"]:
        phrases.append(translator("reads.ordered", order=", ".join(read["order"])))
    if read["limit"] is not None:
        phrases.append(translator("reads.limit", limit=f"{read['limit']:,}"))
    return ", ".join(phrases)


def format_ranges(read: Mapping[str, Any], translator: Translator) -> str:
    """Return how many key ranges a read scans, as text."""
    if read["access_type"] == "full scan":
        return translator("reads.whole_table")
    if read["access_type"] == "nothing":
        return translator("reads.nothing")
    number = read["cost"]["fan_out"]["mean"] if read["cost"] else read["fan_out"]
    if number == 1:
        return translator("reads.range")
    return translator(
        "reads.keys" if read["access_type"] == "get" else "reads.ranges", count=format_count(number)
    )


_Table = tuple["Sequence[str]", "Sequence[Sequence[object]]", str]
"""The heads of a table, its rows, and its name."""


def build_families_table(families: Sequence[Mapping[str, Any]], translator: Translator) -> _Table:
    """Return the table of column families with their attributes."""
    heads = ["family", "versions", "ttl", "compression", "bloom", "block"]
    rows: list[list[object]] = [
        [
            family["name"],
            family["versions"],
            _format_ttl(family["ttl_s"], translator),
            family["compression"],
            family["bloom"],
            _format_block_size(family["block_size"]),
        ]
        for family in families
    ]
    if any(family["other_attributes"] for family in families):
        heads.append("more")
        for row, family in zip(rows, families, strict=True):
            attributes = family["other_attributes"].items()
            row.append(", ".join(f"{name} = {value}" for name, value in attributes))
    return (
        [translator(f"storage.{head}") for head in heads],
        rows,
        translator("storage.family"),
    )


def _format_ttl(seconds: int | None, translator: Translator) -> str:
    """Return a time to live in its largest whole unit, or `forever`."""
    if seconds is None:
        return translator("storage.forever")
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds % length == 0:
            return f"{seconds // length:,} {unit}"
    return f"{seconds:,} s"


def _format_block_size(size: int) -> str:
    return f"{size // 1024:,} KiB" if size % 1024 == 0 else f"{size:,} B"


def build_cells_table(cells: Sequence[Mapping[str, Any]], translator: Translator) -> _Table:
    """Return the table of the cells that an event writes."""
    rows = [
        (
            f"{cell['family']}:{cell['qualifier'] or translator('storage.marker')}",
            ", ".join(cell["fields"]),
            format_count(cell["value_bytes"]),
            format_share(cell["share"]),
        )
        for cell in cells
    ]
    heads = [translator(f"storage.{head}") for head in ("cell", "fields", "value", "written")]
    return heads, rows, translator("storage.cell")


def build_skew_table(skews: Mapping[str, Mapping[str, Any]], translator: Translator) -> _Table:
    """Return the table of skews by window width; widths without figures are left out."""
    rows = [
        (
            f"{width.removesuffix('s')} s",
            f"{format_load(skew['servers'])}×",
            f"{format_load(skew['even_servers'])}×",
            f"{format_load(skew['regions'])}×",
            f"{format_load(placements['low'])}–{format_load(placements['high'])}×",
        )
        for width, skew in skews.items()
        if (placements := skew["balanced_placements"]) is not None
    ]
    names = ("width", "skew", "even", "regions", "others")
    return [translator(f"figures.{name}") for name in names], rows, translator("section.figures")


def join_thin_widths(skews: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the widths of windows with too few events to measure a skew, joined by commas."""
    thin = [width for width, skew in skews.items() if skew["servers"] is None]
    return ", ".join(f"{width.removesuffix('s')} s" for width in thin)


def format_shares(design: Mapping[str, Any], translator: Translator) -> str:
    """Return the shares of the busiest region and the fair share."""
    shares, regions = design["equal_count"]["regions"], len(design["regions"])
    return translator(
        "figures.shares",
        regions=f"{regions:,}",
        total=format_share(shares["total"]),
        mean=format_share(shares["mean"]),
        worst=format_share(shares["worst"]),
        windows=design["equal_count"]["windows"],
        fair=format_share(1 / regions),
    )
