"""HTML from Jinja2 templates, with every text escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rowkey.lint import format_rule_name
from rowkey.render.languages import Translator
from rowkey.render.page import comparison_text, design_text, figure_format

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEXT_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    comparison_text.build_measure_groups,
    comparison_text.format_lead,
    comparison_text.list_measure_names,
    comparison_text.list_missing_figures,
    design_text.build_cells_table,
    design_text.build_families_table,
    design_text.build_skew_table,
    design_text.format_losses,
    design_text.format_place,
    design_text.format_ranges,
    design_text.format_read,
    design_text.format_shares,
    design_text.format_source,
    design_text.list_assessments,
    design_text.list_facts,
    design_text.list_properties,
    design_text.translate_cause,
)
"""What templates call by name; each takes the translator as `translator`."""
_WORD_JOINT = re.compile(r"([_.-])(?=\w)")
_SCRIPT_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


@cache
def build_environment(language: str) -> Environment:
    """Return the Jinja2 environment of the templates for one language.

    Args:
        language: one of `LANGUAGES`.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    translator = Translator(language)
    environment = Environment(
        loader=FunctionLoader(lambda name: read_asset(f"templates/{name}")),
        autoescape=True,
        finalize=_format_text,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals.update(
        {one.__name__: partial(one, translator=translator) for one in TEXT_FUNCTIONS},
        BEST_MARK=comparison_text.BEST_MARK,
        BOX_COLOURS=design_text.BOX_COLOURS,
        TOPICS=design_text.TOPICS,
        english=Markup("") if language == "en" else Markup(' lang="en"'),
        has_small_maps=comparison_text.has_small_maps,
        has_text=translator.__contains__,
        join_thin_widths=design_text.join_thin_widths,
        language_tag=translator.language_tag,
        translate=translator.translate,
        translate_message=translator.translate_message,
    )
    environment.filters.update(
        by_severity=design_text.sort_by_severity,
        box_width=design_text.compute_box_width,
        break_points=add_break_points,
        count=figure_format.format_count,
        design_name=design_text.format_design_name,
        load=figure_format.format_load,
        no_cause_key=design_text.find_no_cause_key,
        offset=lambda span: figure_format.format_offset(**span),
        rule_name=format_rule_name,
        rule_remedy=design_text.format_rule_remedy,
        rule_summary=design_text.summarize_rule,
        sentence=design_text.format_sentence,
        width=lambda span: figure_format.format_width(**span, translator=translator),
    )
    return environment


def render_page(language: str, template: str, **values: Any) -> str:
    """Return a whole template rendered with values."""
    return build_environment(language).get_template(template).render(**values)


def render_macro(language: str, template: str, macro: str, *values: Any) -> Markup:
    """Return one macro of a template, rendered with values."""
    module: Any = build_environment(language).get_template(template).module
    rendered: Markup = getattr(module, macro)(*values)
    return rendered


def _format_text(value: Any) -> Any:
    """Return a value as text for a template, with unprintable characters escaped."""
    if value is None:
        return ""
    if hasattr(value, "__html__"):
        return value
    text = str(value)
    return text if text.isprintable() else "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    """Return a character, escaped if it is not printable."""
    return character if character.isprintable() else repr(character)[1:-1]


def escape_html(value: object) -> Markup:
    r"""Return a value as escaped HTML text.

    >>> str(escape_html("a<b\0"))
    'a&lt;b\\x00'
    """
    from markupsafe import escape

    return escape(_format_text(value))


def add_break_points(name: str) -> Markup:
    """Return a name as HTML that may wrap after `_`, `.` and `-`.

    >>> str(add_break_points("time_first.toml"))
    'time_<wbr>first.<wbr>toml'
    """
    from markupsafe import Markup

    escaped = str(escape_html(name))
    return Markup(_WORD_JOINT.sub(r"\1<wbr>", escaped))  # noqa: S704 - escaped above


def embed_json(name: str, document: Any) -> Markup:
    r"""Return a JSON document in a script element that does not execute.

    >>> str(embed_json("d", ["</script>"]))
    '<script type="application/json" id="d">["\\u003c/script\\u003e"]</script>'
    """
    from markupsafe import Markup

    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(
        _SCRIPT_ESCAPES
    )
    element = f'<script type="application/json" id="{escape_html(name)}">{text}</script>'
    return Markup(element)  # noqa: S704 - its name and text are escaped above


@cache
def read_asset(name: str) -> str:
    """Return the text of a file of this package, such as `browser/style.css`."""
    return files("rowkey.render.page").joinpath(name).read_text(encoding="utf-8")
