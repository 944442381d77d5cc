"""The words of a report, a file for each language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "zh")
"""Languages that a report can be told in: each has a file of this name."""


class Words:
    """The words of one language.

    Args:
        language: one of `LANGUAGES`.

    >>> Words("en")("key.bytes_from_to", least=2, most=40)
    '2 to 40 bytes'
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._said = _flat(tomllib.loads(asset(f"{language}.toml")))

    def __call__(self, name: str, /, **values: Any) -> str:
        """The words of a name, with values put in.

        Args:
            name: as in the file, such as `map.title`.
            values: by the names between braces.
        """
        said = self._said[name]
        return said.format(**values) if values else said

    def __contains__(self, name: str) -> bool:
        return name in self._said

    @property
    def all(self) -> Mapping[str, str]:
        """Every name with its words."""
        return self._said

    def below(self, table: str) -> dict[str, str]:
        """The words of one table of the file, by their names in it."""
        front = f"{table}."
        return {n.removeprefix(front): w for n, w in self._said.items() if n.startswith(front)}


def _flat(table: Mapping[str, Any], front: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in table.items():
        found |= (
            _flat(value, f"{front}{name}.") if isinstance(value, dict) else {front + name: value}
        )
    return found


@cache
def asset(name: str) -> str:
    """The text of a file beside this one."""
    return files("rowkey.render.report").joinpath(name).read_text(encoding="utf-8")
