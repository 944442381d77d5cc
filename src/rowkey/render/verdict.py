"""The verdict on a design as text for people and as a JSON document for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.render.redaction import NO_REDACTION, Redaction

if TYPE_CHECKING:
    from rowkey.advise import Assessment, DesignVerdict
    from rowkey.hotspots import CauseFinding
    from rowkey.simulate import Simulation

NO_CAUSE = "no single cause was found: the key's values are spread unevenly over its regions"
GRADE_STYLES = {"good": "bold green", "fair": "bold yellow", "poor": "bold red"}
"""How a terminal shows a grade."""

VERDICT_FIELDS = {
    "verdict.grade": "good, fair or poor: the worst grade of all assessments",
    "verdict.open_growth": (
        "how the grade depends on what makes the declared rate higher than that of the sample, "
        "where the design does not say it; null if it does not, or if it is not asked"
    ),
    "verdict.assessments[].topic": "writes, read, load (writes and reads together) or finding",
    "verdict.assessments[].name": "the name of the read, or the code of the rule; else empty",
    "verdict.assessments[].grade": "good, fair or poor; the worst comes first",
    "verdict.assessments[].message": "why, with its figures; null if values are hidden",
    "verdict.assessments[].remedy": "what to write instead; null if nothing is better",
    "verdict.assessments[].remedy_code": "the rule or cause that the remedy is from, or empty",
    "verdict.assessments[].utilization": (
        "share of the capacity of the busiest server that it takes; null without a rate"
    ),
    "writes.level": "even, warm or hot: the skew of the writes, whatever load it makes",
    "writes.skew": "the skew over servers",
    "writes.even_skew": "what an even design would show",
    "writes.basis": "the windows it is from",
    "writes.width_s": "seconds of each; null if they have equal numbers of events",
}
"""The meaning of every field of `build_verdict_document`."""


class VerdictLine(NamedTuple):
    """One line of a verdict, to be wrapped.

    Args:
        text: what it says.
        indent: spaces before the further lines.
        style: how its first word is shown.
        styled_width: characters of that word.
    """

    text: str
    indent: int
    style: str = ""
    styled_width: int = 0


def build_verdict_document(
    verdict: DesignVerdict, simulation: Simulation, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return the verdict on a design, and the skew of its writes.

    Args:
        simulation: the replay that it was given on.
        redaction: what is hidden.
    """
    skew = simulation.verdict
    return {
        "verdict": {
            "grade": verdict.grade,
            "assessments": [_build_assessment(one, redaction) for one in verdict.assessments],
            "open_growth": verdict.open_growth,
        },
        "writes": {
            "level": skew.level,
            "skew": skew.skew,
            "even_skew": skew.even_skew,
            "basis": skew.basis,
            "width_s": skew.width_s,
        },
    }


def _build_assessment(assessment: Assessment, redaction: Redaction) -> dict[str, Any]:
    """Return the document of one assessment; text of findings may hold values."""
    return {
        "topic": assessment.topic,
        "name": assessment.name,
        "grade": assessment.grade,
        "message": redaction.omit_text(assessment.message)
        if assessment.topic == "finding" or _is_read_error(assessment)
        else assessment.message,
        "remedy": redaction.omit_text(assessment.remedy),
        "remedy_code": assessment.remedy_code,
        "utilization": assessment.utilization,
    }


def _is_read_error(assessment: Assessment) -> bool:
    """Return whether an assessment says why a read cannot be run, which may hold a value."""
    return getattr(assessment.message, "key", "") == "verdict.read_error"


def format_verdict(verdict: DesignVerdict, simulation: Simulation) -> Iterator[VerdictLine]:
    """Yield the lines of a verdict: what decides it, then all else, the worst first.

    Args:
        simulation: the replay that it was given on.
    """
    first, *others = verdict.assessments
    yield from _format_assessment(first, simulation, first.grade.upper(), "")
    for one in others:
        yield from _format_assessment(one, simulation, one.grade, "  ")
    if verdict.open_growth is not None:
        yield VerdictLine(f"  {verdict.open_growth}", 4)


def _format_assessment(
    assessment: Assessment, simulation: Simulation, grade: str, indent: str
) -> Iterator[VerdictLine]:
    """Yield the lines of one assessment: grade, figures, causes and remedy."""
    text = f"{indent}{grade}: {assessment.subject}: {assessment.message}"
    step = len(indent) + 2
    yield VerdictLine(text, step, GRADE_STYLES[assessment.grade], len(grade))
    if assessment.topic == "writes":
        reasons = format_reasons(simulation)
        for cause, (reason, remedy) in zip(simulation.causes, reasons, strict=True):
            yield VerdictLine(f"{indent}  {reason}", step + 2)
            if assessment.grade != "good" or _helps_harmless_writes(cause):
                yield VerdictLine(f"{indent}    {remedy}", step + 2)
        is_judged = not (simulation.is_thin or simulation.has_invented_places)
        if not simulation.causes and simulation.verdict.level != "even" and is_judged:
            yield VerdictLine(f"{indent}  {NO_CAUSE}", step + 2)
    if assessment.remedy and (assessment.topic != "writes" or not simulation.causes):
        yield VerdictLine(f"{indent}  {assessment.remedy}", step)


def _helps_harmless_writes(cause: CauseFinding) -> bool:
    """Return whether the remedy of a cause is worth a word where the writes do no harm.

    More regions are not, nor that no key is better.
    """
    return cause.code != "integer_imbalance" and getattr(cause.remedy, "key", "") != "remedy.no_key"


def format_reasons(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """Yield each cause of the skew of the writes with its code, and its remedy.

    A cause is joined by `because`, or by `though` if the writes are even all the same.
    """
    joint = "though" if simulation.verdict.level == "even" else "because"
    for cause in simulation.causes:
        reason = lower_first_letter(cause.message, simulation.design.fields)
        yield f"{joint} {reason} [{cause.code}]", cause.remedy


def lower_first_letter(message: str, names: Iterable[str]) -> str:
    """Return a sentence with a lower-case first letter, unless it begins with a name.

    Args:
        names: the names of fields.

    >>> lower_first_letter("Keys rise.", ["ts"]), lower_first_letter("Host a is hot.", ["Host"])
    ('keys rise.', 'Host a is hot.')
    >>> lower_first_letter("NaN.", [])
    'NaN.'
    """
    first = message.split(" ", maxsplit=1)[0]
    is_word = first[:1].isupper() and first[1:].islower() and first not in set(names)
    return message[0].lower() + message[1:] if is_word else message
