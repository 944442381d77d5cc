"""The words of a report, a file for each language, and what languages say of the rules."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LANGUAGES = ("en", "zh")
"""Languages that a report can be told in: each has a file of this name."""
TAGS = {"zh": "zh-Hans"}
"""Languages as HTML names them, where that is another name."""


class Words:
    """The words of one language.

    Rules tell themselves in English. What another language says of them, a sentence and a remedy
    for each code, stands in a file of its own; of a rule that is not there, the English is shown.
    Sentences that come from other rooms are English too; `phrases` has those that a language knows.

    Args:
        language: one of `LANGUAGES`.

    >>> Words("en")("key.bytes_from_to", least=2, most=40)
    '2 to 40 bytes'
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.tag = TAGS.get(language, language)
        given = tomllib.loads(asset(f"languages/{language}.toml"))
        self._phrases = [(_matcher(a), b) for a, b in given.pop("phrases", {}).items()]
        self._own = _flat(given)
        rules = "" if language == "en" else asset(f"languages/{language}_rules.toml")
        self._said = self._own | _flat(tomllib.loads(rules))

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
        """Every name with its words, but for what is said of rules."""
        return self._own

    def names(self, front: str) -> Iterator[str]:
        """The names that begin with some letters, in the order of the file."""
        yield from (name for name in self._said if name.startswith(front))

    def below(self, table: str) -> dict[str, str]:
        """The words of one table of the file, by their names in it."""
        front = f"{table}."
        return {name.removeprefix(front): self._said[name] for name in self.names(front)}

    def phrase(self, said: str) -> str:
        """An English phrase of another room in this language, where the language knows it.

        >>> Words("zh").phrase("the time within 1h"), Words("en").phrase("the time within 1h")
        ('1h 以内的时间', 'the time within 1h')
        """
        for pattern, told in self._phrases:
            found = pattern.fullmatch(said)
            if found:
                return str(told).format(**found.groupdict())
        return said


def _matcher(template: str) -> re.Pattern[str]:
    """A pattern that takes the values out of a phrase, by their names between braces."""
    pieces = re.split(r"\{(\w+)\}", template)
    return re.compile(
        "".join(
            f"(?P<{piece}>.+?)" if number % 2 else re.escape(piece)
            for number, piece in enumerate(pieces)
        )
    )


def _flat(table: Mapping[str, Any], front: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in table.items():
        found |= (
            _flat(value, f"{front}{name}.") if isinstance(value, dict) else {front + name: value}
        )
    return found


@cache
def asset(name: str) -> str:
    """The text of a file below this folder, such as `browser/map.js`."""
    return files("rowkey.render.page").joinpath(name).read_text(encoding="utf-8")
