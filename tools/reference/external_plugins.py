"""The page of plugins of other installed packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tools.reference.markdown import build_page, format_docstring, join_blocks
from tools.reference.plugins import SECTION_BUILDERS, iter_external_plugins
from tools.reference.rules import format_rule

from rowkey.catalog import CATALOGS
from rowkey.engines import ENGINES
from rowkey.lint import RULES


def build_external_plugins_page() -> str:
    """Plugins of other packages.

    The plugins of the installed packages, found through the entry point `rowkey.kinds`, in the form
    of the reference.
    """
    sections = [
        format_section(name, plugin)
        for registry, format_section in _SECTION_BUILDERS
        for name, plugin in iter_external_plugins(registry)
    ]
    return build_page(
        "Plugins of other packages",
        build_external_plugins_page,
        *(sections or ["No installed package has plugins."]),
    )


def _format_plain(name: str, plugin: Any) -> str:
    """Return the section of a plugin: its name and docstring."""
    return join_blocks(f"## {name}", format_docstring(plugin))


_SECTION_BUILDERS: tuple[tuple[Mapping[str, Any], Callable[[str, Any], str]], ...] = (
    *SECTION_BUILDERS,
    (RULES, lambda _, rule: format_rule(rule)),
    (ENGINES, _format_plain),
    (CATALOGS, _format_plain),
)
"""The registry of each plugin type, with the function that formats one plugin."""
