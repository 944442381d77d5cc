"""A report as one HTML file that needs no other file and makes no request."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from rowkey.render.languages import Translator
from rowkey.render.page.design_text import format_design_name
from rowkey.render.page.figure_format import format_load
from rowkey.render.page.map_script import read_map_script
from rowkey.render.page.markup import embed_json, read_asset, render_page


def build_report_page(document: Mapping[str, Any], language: str = "en") -> str:
    """Return a report as the text of one self-contained HTML file.

    A policy in the page's head forbids requests and any program but its own.

    Args:
        document: the result of `build_report_document`.
        language: one of `LANGUAGES`.
    """
    from markupsafe import Markup

    style, program = read_asset("browser/style.css"), read_map_script()
    return render_page(
        language,
        "report.html",
        **build_report_variables(document, language),
        policy=_build_policy(style, program),
        style=Markup(style),  # noqa: S704 - a file of this package
        program=Markup(program),  # noqa: S704 - the same
    )


def build_report_variables(document: Mapping[str, Any], language: str = "en") -> dict[str, Any]:
    """Return the variables of the template `report_content.html`, which any page may include.

    The page needs the style sheet `browser/style.css` and, for its maps, the script that
    `read_map_script` returns.

    Args:
        document: the result of `build_report_document`.
        language: one of `LANGUAGES`.
    """
    translator = Translator(language)
    designs = document["designs"]
    return {
        "document": document,
        "title": _format_title(document, translator),
        "notes": _list_notes(document, translator),
        "made": _format_origin(document, translator),
        "servers": max(design["servers"] for design in designs),
        "shows_source": document["comparison"] is None,
        "payload": embed_json("payload", _build_payload(designs, translator)),
    }


def _build_policy(style: str, program: str) -> str:
    """Return a content security policy that allows only this style and script."""
    hashes = [base64.b64encode(sha256(t.encode()).digest()).decode() for t in (style, program)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        f"base-uri 'none'; form-action 'none'"
    )


def _format_title(document: Mapping[str, Any], translator: Translator) -> str:
    table, designs = ", ".join(document["tables"]), len(document["designs"])
    key = "page.of_design" if designs == 1 else "page.of_designs"
    return translator(key, table=table, count=designs)


def _list_notes(document: Mapping[str, Any], translator: Translator) -> list[str]:
    """Return the notes above the figures, such as that values are redacted."""
    notes = [translator("page.redacted")] if document["redacted"] else []
    return [*notes, *filter(None, [translator("page.partly_english")])]


def _format_origin(document: Mapping[str, Any], translator: Translator) -> str:
    """Return by which version of rowkey, and when, the report was created."""
    if document["created"]:
        return translator("page.made", version=document["version"], created=document["created"])
    return translator("page.made_undated", version=document["version"])


def _build_payload(designs: list[Mapping[str, Any]], translator: Translator) -> dict[str, Any]:
    """Return the heat maps and labels that the page's script draws."""
    return {
        "language": translator.language,
        "words": {**translator.select_table("map"), "small": translator("compared.small")},
        "maps": [
            {
                "id": design["id"],
                "name": format_design_name(design),
                "skew": format_load(design["writes"]["skew"]),
                **design["map"],
            }
            for design in designs
            if design["map"] is not None
        ],
    }
