"""The templates of the portal's pages, which use the macros of the report's."""

from __future__ import annotations

import time
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, FunctionLoader
from markupsafe import Markup, escape

from rowkey.messages import Message
from rowkey.portal.designs.advice import FigureRow
from rowkey.portal.links import build_path
from rowkey.portal.server.stored_responses import build_static_url
from rowkey.regions import to_string_binary
from rowkey.render import LANGUAGES, Translator, build_page_environment

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment

LANGUAGE_NAMES = {"en": "English", "zh": "中文"}
"""The languages as their speakers call them."""
MAX_SHOWN_BYTES = 64
"""Bytes of a part of a key that are shown."""


@cache
def build_portal_environment(language: str) -> Environment:
    """Return the Jinja2 environment of the portal's templates for one language.

    Every value is escaped, and characters that do not print are shown as escapes.

    Args:
        language: one of `LANGUAGES`.
    """
    report = build_page_environment(language)
    loaders: list[BaseLoader] = [FunctionLoader(_read_template)]
    if report.loader is not None:
        loaders.append(report.loader)
    environment = report.overlay(loader=ChoiceLoader(loaders))
    environment.globals = {
        **report.globals,
        "LANGUAGES": {name: LANGUAGE_NAMES.get(name, name) for name in LANGUAGES},
        "build_path": build_path,
        "build_static_url": build_static_url,
        "language": language,
    }
    environment.filters = {
        **report.filters,
        "area": format_area,
        "hex_bytes": format_hex_bytes,
        "shell_bytes": format_shell_bytes,
        "utc_second": format_utc_second,
        "utc_time": format_utc_time,
    }
    tests: dict[str, Any] = dict(report.tests)
    tests |= {"translated": partial(has_translation, language), "worse_at": FigureRow.is_worse}
    environment.tests = tests
    return environment


def _read_template(name: str) -> str | None:
    """Return the text of a template of the portal; None if it has no such template."""
    path = files("rowkey.portal").joinpath("templates", name)
    return path.read_text(encoding="utf-8") if path.is_file() else None


def format_area(text: str) -> Markup:
    r"""Return a text as the content of a text area, which drops a line feed at its start.

    >>> str(format_area("a<b\n"))
    '\na&lt;b\n'
    """
    return Markup("\n") + escape(text)


def has_translation(language: str, text: str) -> bool:
    """Return whether a message of another package has a sentence in a language.

    >>> has_translation("zh", "plain"), has_translation("en", "plain")
    (False, True)
    """
    translator = Translator(language)
    if language == "en":
        return True
    return isinstance(text, Message) and f"messages.{text.key}" in translator


def format_utc_time(time_ms: int) -> str:
    """Return a time as text.

    >>> format_utc_time(1_609_459_200_000)
    '2021-01-01 00:00 UTC'
    """
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time_ms / 1_000))


def format_utc_second(time_ms: object) -> str:
    """Return a time as text with seconds; a dash if it is no number.

    >>> format_utc_second(1_609_459_200_999), format_utc_second("x")
    ('2021-01-01 00:00:00 UTC', '–')
    """
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(int(str(time_ms)) // 1_000))
    except (ValueError, OverflowError, OSError):
        return "–"


def format_hex_bytes(digits: str) -> str:
    """Return bytes in hexadecimal with a space after each, shortened if they are many.

    >>> format_hex_bytes("09ff")
    '09 ff'
    """
    text = bytes.fromhex(digits[: 2 * MAX_SHOWN_BYTES]).hex(" ")
    return f"{text} …" if len(digits) > 2 * MAX_SHOWN_BYTES else text


def format_shell_bytes(digits: str) -> str:
    r"""Return bytes in hexadecimal as HBase's shell prints a row key.

    >>> format_shell_bytes("09776562")
    '\\x09web'
    """
    return to_string_binary(bytes.fromhex(digits))
