"""The page of kinds from outside: what other installed packages offer, of every drawer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.reference.kinds import TELLERS, others
from tools.reference.markdown import docstring, page, section
from tools.reference.rules import told_rule

from rowkey.catalog import CATALOGS
from rowkey.engines import ENGINES
from rowkey.lint import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def outside() -> str:
    """Kinds of other packages.

    What the installed packages offer through the entry point `rowkey.kinds`, told as the reference
    tells of rowkey's own.
    """
    told = [tell(name, kind) for drawer, tell in _TELLERS for name, kind in others(drawer)]
    return page("Kinds from outside", outside, *(told or ["No installed package offers one."]))


def _plain(name: str, kind: Any) -> str:
    return section(f"## {name}", docstring(kind))


_TELLERS: tuple[tuple[Mapping[str, Any], Callable[[str, Any], str]], ...] = (
    *TELLERS,
    (RULES, lambda _, rule: told_rule(rule)),
    (ENGINES, _plain),
    (CATALOGS, _plain),
)
"""Every drawer with the function that tells of one of its kinds."""
