"""Results in notebooks: HTML without scripts, and the same as text.

The packages that compute results do not know how they are shown, so their results have no
`_repr_html_`: `show` wraps a result in an object that has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any

from rowkey import advise, lint, simulate
from rowkey.design import Design, derive_properties
from rowkey.errors import InvalidArgument
from rowkey.messages import shorten_texts
from rowkey.render.comparison import build_comparison_document, format_comparison
from rowkey.render.findings import build_findings_document, format_findings
from rowkey.render.languages import LANGUAGES, Translator
from rowkey.render.page.design_text import sort_by_severity
from rowkey.render.page.figure_format import format_count, format_load
from rowkey.render.page.heat_png import draw_heat_png, to_data_uri
from rowkey.render.page.markup import escape_html, read_asset, render_macro
from rowkey.render.redaction import NO_REDACTION
from rowkey.render.report import build_key_boxes, build_summary_document
from rowkey.render.text import format_check, print_simulation

if TYPE_CHECKING:
    from rowkey.advise import Comparison
    from rowkey.lint import LintResult
    from rowkey.simulate import Simulation

TEXT_WIDTH = 100
MAX_FINDINGS = 20


class NotebookResult:
    """A result of rowkey that notebooks show as HTML and terminals as text.

    Args:
        html: the result as HTML that runs nothing, and whose style applies to nothing else.
        text: returns the result as text.
    """

    def __init__(self, html: str, text: Callable[[], str]) -> None:
        self._html = html
        self._text = text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text()


def show(
    result: simulate.Simulation | advise.Comparison | Design | lint.LintResult, language: str = "en"
) -> NotebookResult:
    """Return a result as an object that notebooks display as HTML and terminals as text.

    IPython shows results by itself once rowkey is imported; `show` is for other notebooks, and for
    another language.

    Args:
        result: a simulation, a comparison, a design, or what the rules found.
        language: one of `LANGUAGES`.

    Raises:
        InvalidArgument: the result has another type, or the language does not exist.
    """
    if language not in LANGUAGES:
        what = f"{language!r} is not a supported language"
        raise InvalidArgument("language", what, f"one of {', '.join(LANGUAGES)}")
    if isinstance(result, simulate.Simulation):
        piece = _render_simulation(result, language)
        return _wrap_piece(piece, language, lambda: _format_simulation(result))
    if isinstance(result, advise.Comparison):
        piece = _render_comparison(result, language)
        return _wrap_piece(piece, language, lambda: _format_comparison(result))
    if isinstance(result, lint.LintResult):
        piece = _render_findings(result, language)
        return _wrap_piece(piece, language, lambda: _format_findings(result))
    if isinstance(result, Design):
        piece = _render_design(result, language)
        return _wrap_piece(piece, language, lambda: _format_design(result))
    raise InvalidArgument(
        "result",
        f"a {type(result).__name__} cannot be shown",
        "a Simulation, a Comparison, a Design or a LintResult",
    )


def _wrap_piece(piece: str, language: str, text: Callable[[], str]) -> NotebookResult:
    """Return a notebook result from a piece of HTML, with its style sheet."""
    style, tag = read_asset("browser/fragment.css"), Translator(language).language_tag
    return NotebookResult(
        f'<div class="rowkey-shown" lang="{escape_html(tag)}"><style>{style}</style>{piece}</div>',
        text,
    )


def _render_simulation(simulation: Simulation, language: str) -> str:
    """Return a simulation as HTML: verdict, server map, causes and read costs."""
    translator = Translator(language)
    summary = build_summary_document(advise.judge_simulation(simulation))
    reads = None
    if summary["reads"]:
        names = ("name", "opens", "regions", "per_row")
        reads = (
            [translator(f"reads.{name}") for name in names],
            [_build_read_row(read, translator) for read in summary["reads"]],
            translator("shown.reads"),
        )
    return render_macro(
        language,
        "notebook.html",
        "simulation",
        {"label": "", **summary},
        _draw_picture(simulation, translator),
        reads,
    )


def _draw_picture(simulation: Simulation, translator: Translator) -> dict[str, str] | None:
    """Return a small heat map of the servers with its caption; None if events have no time."""
    servers = simulation.design.cluster.servers
    load_map = simulation.server_load_map
    if load_map is None or servers == 1 or not len(load_map[2]):
        return None
    caption = translator("shown.map", skew=format_load(simulation.verdict.skew))
    return {"address": to_data_uri(draw_heat_png(load_map[2], servers)), "caption": caption}


def _build_read_row(read: Mapping[str, Any], translator: Translator) -> tuple[str, ...]:
    """Return the cells of one read in the table of read costs."""
    return (
        read["name"],
        _format_ranges(read, translator),
        format_count(read["regions"]["mean"]),
        format_count(read["read_per_returned"]),
    )


def _format_ranges(read: Mapping[str, Any], translator: Translator) -> str:
    """Return how many key ranges a read scans, or why that is unknown."""
    if read["error"]:
        return translator.translate_message(read["error"])
    if read["full_scan"]:
        return translator("reads.whole_table")
    ranges = format_count(read["fan_out"]["mean"])
    return translator("reads.range") if ranges == "1" else translator("reads.ranges", count=ranges)


def _render_comparison(comparison: Comparison, language: str) -> str:
    """Return a comparison as HTML: a load map of each design, and the measures."""
    translator = Translator(language)
    return render_macro(
        language,
        "notebook.html",
        "comparison",
        shorten_texts(build_comparison_document(comparison)),
        [_draw_picture(design.simulation, translator) for design in comparison.designs],
    )


def _render_design(design: Design, language: str) -> str:
    """Return a design as HTML: its key parts with an example, fields, families and reads."""
    fields = ", ".join(f"{name}: {one.declaration.type}" for name, one in design.fields.items())
    facts = [("fields", fields), ("families", ", ".join(design.families))]
    if design.reads:
        facts.append(("reads", ", ".join(one.name for one in design.reads)))
    boxes = build_key_boxes(design, derive_properties(design), None, NO_REDACTION)
    values: tuple[Any, ...] = design.table, str(design.key), boxes, facts
    return render_macro(language, "notebook.html", "design", *values)


def _render_findings(lint_result: LintResult, language: str) -> str:
    """Return rule findings as HTML, the most severe first."""
    document = build_findings_document(lint_result)
    findings = sort_by_severity(document["findings"])
    shown = {**document, "findings": findings[:MAX_FINDINGS]}
    return render_macro(language, "notebook.html", "findings", shown, len(findings) - MAX_FINDINGS)


def _format_simulation(simulation: Simulation) -> str:
    """Return a simulation as terminal text."""
    from rich.console import Console

    output = StringIO()
    # Within a notebook a console shows its lines by itself, and in colours meant for a terminal.
    console = Console(
        file=output,
        width=TEXT_WIDTH,
        highlight=False,
        force_jupyter=False,
        force_terminal=False,
        color_system=None,
    )
    print_simulation(advise.judge_simulation(simulation), console)
    return output.getvalue().rstrip("\n")


def _format_comparison(comparison: Comparison) -> str:
    """Return a comparison as terminal text."""
    return "\n".join(format_comparison(comparison, TEXT_WIDTH))


def _format_findings(lint_result: LintResult) -> str:
    """Return rule findings as terminal text."""
    return "\n".join(format_findings("design", lint_result))


def _format_design(design: Design) -> str:
    """Return a design with its properties as terminal text."""
    lines = format_check(design.table, design, derive_properties(design), lint.LintResult(()))
    return "\n".join(lines)
