"""Write a design file in a random layout with the same content."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

HOSTILE = ["# x = 1", "# [families.d]", "# \"'", "#", "# é \U0001f511", "# ]]} , ="]
"""Comments that look like something else."""


def write_layout(tree: Mapping[str, Any], chance: Random) -> str:
    """Return a tree as TOML in a random layout.

    Tables have headers, braces or dotted names; names are quoted or not; lists take several lines;
    lines are indented, have comments, and end with LF or CRLF; the file may begin with a byte order
    mark, and its last line may lack an end.
    """
    hand = _Hand(chance)
    plain = {word: value for word, value in tree.items() if not _is_table(value)}
    lines = list(hand.pairs((), plain, ""))
    tables = [(word, value) for word, value in tree.items() if _is_table(value)]
    below = []
    for word, value in tables:
        if isinstance(value, list):
            header, indent = hand.header((word,), listed=True), hand.indent()
            below += [[header, *hand.pairs((), one, indent)] for one in value]
        elif chance.random() < 0.2:
            lines += hand.pairs((), {word: value}, "")
        elif chance.random() < 0.2:
            lines += hand.pairs((word,), value, "")
        else:
            below += hand.table((word,), value)
    if not any(isinstance(value, list) for _, value in tables):
        chance.shuffle(below)
    for table in below:
        lines += [*[""] * chance.randrange(3), *table]
    end = chance.choice(["\n", "\r\n"])
    text = end.join(lines) + chance.choice([end, ""])
    return chance.choice(["", "", "\ufeff"]) + text


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    )


class _Hand:
    """A writer of TOML with random habits."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def indent(self) -> str:
        return self.chance.choice(["", "", "  ", "\t"])

    def table(self, path: tuple[str, ...], tree: Mapping[str, Any]) -> Iterator[list[str]]:
        """Yield a table under a header, and its own tables that have headers too."""
        indent = self.indent()
        own: list[str] = []
        below: list[list[str]] = []
        for word, value in tree.items():
            way = self.chance.random()
            if isinstance(value, dict) and way < 0.6:
                below += self.table((*path, word), value)
            elif isinstance(value, dict) and value and way < 0.8:
                own += self.pairs((word,), value, indent)
            else:
                own += self.pairs((), {word: value}, indent)
        if own or not below or self.chance.random() < 0.3:
            yield [self.header(path), *own]
        yield from below

    def header(self, path: tuple[str, ...], *, listed: bool = False) -> str:
        name = self.dotted(path)
        return (f"[[{name}]]" if listed else f"[{name}]") + self.comment()

    def pairs(self, path: tuple[str, ...], tree: Mapping[str, Any], indent: str) -> Iterator[str]:
        """Yield the options of a table, each on a line, with a path before their names."""
        width = self.chance.choice([0, 0, 14])
        for word, value in tree.items():
            if self.chance.random() < 0.15:
                yield f"{indent}{self.chance.choice(HOSTILE)}"
            gap = self.chance.choice(["", " ", "  "])
            name = self.dotted((*path, word))
            said = f"{self.value(value)}{self.comment()}"
            yield from f"{indent}{name:{width}}{gap}={gap}{said}".split("\n")

    def dotted(self, path: tuple[str, ...]) -> str:
        return self.chance.choice([".", ".", " . "]).join(map(self.name, path))

    def name(self, word: str) -> str:
        forms = [json.dumps(word), f"'{word}'"]
        if word.replace("_", "").replace("-", "").isalnum() and word.isascii():
            forms += [word] * 4
        return self.chance.choice(forms)

    def value(self, value: Any) -> str:
        """Return a value; a table in braces, a list perhaps over several lines."""
        if isinstance(value, dict):
            words = [f"{self.dotted((word,))} = {self.value(one)}" for word, one in value.items()]
            gap = self.chance.choice(["", " "])
            return f"{{{gap}{', '.join(words)}{gap}}}"
        if isinstance(value, list):
            inner = [self.value(one) for one in value]
            if self.chance.random() < 0.5:
                return "[" + "".join(f"\n  {one},{self.comment()}" for one in inner) + "\n]"
            return f"[{', '.join(inner)}]"
        if isinstance(value, str) and "'" not in value and self.chance.random() < 0.2:
            return f"'{value}'"
        return json.dumps(value, ensure_ascii=False)

    def comment(self) -> str:
        if self.chance.random() < 0.7:
            return self.chance.choice(["", "", " ", "\t"])
        return f"{self.chance.choice([' ', '', '   '])}{self.chance.choice(HOSTILE)}"
