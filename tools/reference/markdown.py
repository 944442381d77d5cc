"""Markdown from values and docstrings, so that every page of the reference reads the same."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_LISTS = ("Args:", "Attributes:", "Returns:", "Raises:")
_REMARK = re.compile(r"^(Cost|Source): ", re.MULTILINE)
_ITEM = re.compile(r"^([\w, ]+): (.*)$", re.DOTALL)


def page(title: str, make: Callable[[], str], *blocks: str) -> str:
    """A page: its title, what the function that makes it says of it, then its blocks."""
    return section(f"# {title}", docstring(make), *blocks) + "\n"


def section(*blocks: str) -> str:
    """Blocks with a blank line between each two; empty ones are left out."""
    return "\n\n".join(block.strip() for block in blocks if block)


def code(value: object) -> str:
    """A value set in the type of code; nothing for an empty one."""
    text = str(value)
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""


def codes(values: Iterable[object]) -> str:
    """Values set in the type of code, apart by commas."""
    return ", ".join(code(value) for value in values)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing where there are no rows."""
    lines = [_row(row) for row in rows]
    return "\n".join([_row(header), _row(["---"] * len(header)), *lines]) if lines else ""


def _row(cells: Sequence[str]) -> str:
    shown = (" ".join(cell.split("\n")).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def first_line(thing: Any) -> str:
    """What a thing gives: the first sentence of its docstring, however it is broken."""
    return paragraphs(thing)[0] if paragraphs(thing) else ""


def paragraphs(thing: Any) -> list[str]:
    """The paragraphs of a docstring, each in one line."""
    text = inspect.cleandoc(thing if isinstance(thing, str) else thing.__doc__ or "")
    return [" ".join(part.split("\n")) for part in text.split("\n\n") if part.strip()]


def docstring(thing: Any) -> str:
    """A whole docstring: prose as it is, arguments as a list, examples as code."""
    text = inspect.cleandoc(thing if isinstance(thing, str) else thing.__doc__ or "")
    return "\n\n".join(_blocks(text))


def _blocks(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        head = block.partition("\n")[0]
        if block.startswith(">>>"):
            yield f"```pycon\n{block}\n```"
        elif head in _LISTS:
            yield from _sections(block)
        else:
            yield _REMARK.sub(lambda found: f"*{found[1]}*: ", block)


def _sections(block: str) -> Iterator[str]:
    """Sections that follow each other without a blank line."""
    for section in re.split(r"\n(?=\S)", block):
        head, _, body = section.partition("\n")
        if head not in _LISTS:
            yield _REMARK.sub(lambda found: f"*{found[1]}*: ", section)
            continue
        items = re.split(r"\n(?=\S)", inspect.cleandoc(body))
        yield f"*{head[:-1]}*\n\n" + "\n".join(_item(item) for item in items)


def _item(text: str) -> str:
    """`name: meaning` as an entry of a list."""
    joined = " ".join(line.strip() for line in text.split("\n"))
    match = _ITEM.match(joined)
    return f"* {code(match[1])}: {match[2]}" if match else f"* {joined}"
