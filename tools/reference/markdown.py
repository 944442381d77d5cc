"""Functions that format values and docstrings as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

_LISTS = ("Args:", "Attributes:", "Returns:", "Raises:")
_REMARK = re.compile(r"^(Cost|Source): ", re.MULTILINE)
_ITEM = re.compile(r"^([\w, ]+): (.*)$", re.DOTALL)


def build_page(title: str, make: Callable[[], str], *blocks: str) -> str:
    """Return a page: its title, the docstring of its function, then its blocks."""
    return join_blocks(f"# {title}", format_docstring(make), *blocks) + "\n"


def join_blocks(*blocks: str) -> str:
    """Join blocks with blank lines, without empty blocks."""
    return "\n\n".join(block.strip() for block in blocks if block)


def format_code(value: object) -> str:
    """Return a value as inline code, or an empty string for an empty value."""
    text = str(value)
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""


def format_codes(values: Iterable[object]) -> str:
    """Return values as inline code, separated by commas."""
    return ", ".join(format_code(value) for value in values)


def build_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or an empty string without rows."""
    lines = [_format_row(row) for row in rows]
    return (
        "\n".join([_format_row(header), _format_row(["---"] * len(header)), *lines])
        if lines
        else ""
    )


def _format_row(cells: Sequence[str]) -> str:
    """Return cells as a row of a Markdown table."""
    shown = (" ".join(cell.split("\n")).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def read_first_line(thing: Any) -> str:
    """Return the first paragraph of a docstring in one line."""
    return split_paragraphs(thing)[0] if split_paragraphs(thing) else ""


def split_paragraphs(thing: Any) -> list[str]:
    """Return the paragraphs of a docstring, each in one line."""
    text = inspect.cleandoc(thing if isinstance(thing, str) else thing.__doc__ or "")
    return [" ".join(part.split("\n")) for part in text.split("\n\n") if part.strip()]


def format_docstring(thing: Any) -> str:
    """Return a docstring as Markdown: arguments as a list, examples as code."""
    text = inspect.cleandoc(thing if isinstance(thing, str) else thing.__doc__ or "")
    return "\n\n".join(_iter_blocks(text))


def _iter_blocks(text: str) -> Iterator[str]:
    """Yield the blocks of a docstring as Markdown."""
    for block in re.split(r"\n\s*\n", text):
        head = block.partition("\n")[0]
        if block.startswith(">>>"):
            yield f"```pycon\n{block}\n```"
        elif head in _LISTS:
            yield from _iter_sections(block)
        else:
            yield _REMARK.sub(lambda found: f"*{found[1]}*: ", block)


def _iter_sections(block: str) -> Iterator[str]:
    """Yield the sections of a block that has no blank lines."""
    for join_blocks in re.split(r"\n(?=\S)", block):
        head, _, body = join_blocks.partition("\n")
        if head not in _LISTS:
            yield _REMARK.sub(lambda found: f"*{found[1]}*: ", join_blocks)
            continue
        items = re.split(r"\n(?=\S)", inspect.cleandoc(body))
        yield f"*{head[:-1]}*\n\n" + "\n".join(_format_item(item) for item in items)


def _format_item(text: str) -> str:
    """Return `name: meaning` as an item of a list."""
    joined = " ".join(line.strip() for line in text.split("\n"))
    match = _ITEM.match(joined)
    return f"* {format_code(match[1])}: {match[2]}" if match else f"* {joined}"
