"""Words of a design file changed where they stand: all else, comments too, stays as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rowkey.design import spans_of, toml_name, toml_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Spans

Steps = tuple[str | int, ...]


def rewritten(text: str, changes: Mapping[Steps, Any]) -> str:
    r"""A design file with some of its words changed.

    Args:
        text: the file, which is TOML; with or without a byte order mark, its lines ended either
            way.
        changes: the new value of each word, by its steps: ("families", "d", "ttl"); None takes the
            word away; what is said behind it there becomes a line of its own. A word that is not
            there is written beside the others of its table, whether they stand under a header, in
            braces, or with dots in their names; a table that is not there comes at the end.

    Cost: one pass over the text for each change.

    >>> rewritten("a = 1 # one\n[b]\nc = 2\n", {("a",): 3, ("b", "d"): True, ("e", "f"): "g"})
    'a = 3 # one\n[b]\nc = 2\nd = true\n\n[e]\nf = "g"\n'
    """
    for path, value in changes.items():
        bare = text.removeprefix(_BOM)
        text = text[: len(text) - len(bare)] + _changed(bare, path, value)
    return text


_BOM = "\ufeff"
_ALLOWS = re.compile(r"#\s*rowkey:\s*allow\b")
"""A comment that allows what is found in its line: it goes with the line."""


def _changed(text: str, path: Steps, value: Any) -> str:
    spans = spans_of(text)
    if path in spans.values:
        place = spans.values[path]
        return _removed(text, path, spans) if value is None else _put(text, place, value)
    if value is None:
        return text
    for length in range(len(path) - 1, 0, -1):
        table, word = path[:length], f"{_dotted(path[length:])} = {toml_value(value)}"
        if table in spans.values:
            return _inside(text, spans.values[table], word)
        beside = [
            one
            for one, owner in spans.owners.items()
            if one[:length] == table and len(owner) <= length
        ]
        if length == len(path) - 1 and beside:
            owner = spans.owners[beside[-1]]
            return _under(
                text, beside, f"{_dotted(path[len(owner) :])} = {toml_value(value)}", spans
            )
        if length == len(path) - 1 and table in spans.tables:
            return _below(text, spans.tables[table], word)
    if len(path) == 1:
        own = [one for one, owner in spans.owners.items() if not owner]
        return _under(text, own, f"{_dotted(path)} = {toml_value(value)}", spans)
    end = _end(text)
    before = text if text.endswith("\n") or not text else f"{text}{end}"
    line = f"{_dotted(path[-1:])} = {toml_value(value)}"
    return f"{before}{end}[{_dotted(path[:-1])}]{end}{line}{end}"


def _dotted(steps: Steps) -> str:
    """Steps as the name of a word, or of a table."""
    return ".".join(toml_name(str(step)) for step in steps)


def _end(text: str) -> str:
    """How a text ends its lines."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def _put(text: str, span: tuple[int, int], value: Any) -> str:
    """The text with another value in a place."""
    return f"{text[: span[0]]}{toml_value(value)}{text[span[1] :]}"


def _inside(text: str, span: tuple[int, int], word: str) -> str:
    """The text with a further word in an inline table, or in a type that becomes one."""
    start, stop = span
    given = text[start:stop]
    if not given.startswith("{"):
        return f"{text[:start]}{{ type = {given}, {word} }}{text[stop:]}"
    inner = given[:-1].rstrip()
    comma = "" if inner == "{" else ","
    return f"{text[:start]}{inner}{comma} {word} }}{text[stop:]}"


def _under(text: str, beside: Sequence[Steps], line: str, spans: Spans) -> str:
    """The text with a further line behind the last of some words, as that is indented.

    Its sign of equality comes below that of the word above it.
    """
    last = max(beside, key=lambda path: spans.values[path][1])
    start, (first, stop) = spans.starts[last], spans.values[last]
    name, _, value = line.partition(" = ")
    width = len(text[start:first].rstrip()) - len(" =")
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    return _below(text, stop, f"{indent}{name:{max(width, 0)}} = {value}")


def _below(text: str, at: int, line: str) -> str:
    """The text with a further line behind that of a character."""
    newline, end = text.find("\n", at), _end(text)
    if newline < 0:
        return f"{text}{end}{line}"
    return f"{text[: newline + 1]}{line}{end}{text[newline + 1 :]}"


def _removed(text: str, path: Steps, spans: Spans) -> str:
    """The text without a word: without its line, or without its place in an inline table.

    Where nothing else says that its table is there, the table stays, with nothing in it.
    """
    start, stop = spans.starts[path], spans.values[path][1]
    written = _steps_written(path, spans)
    table = path[:-1]
    is_alone = not any(one != path and one[: len(table)] == table for one in spans.values)
    if written > 1 and is_alone and table not in spans.tables:
        return f"{text[:start]}{_dotted(path[len(path) - written : -1])} = {{}}{text[stop:]}"
    if path in spans.owners:
        newline = text.find("\n", stop)
        line, end = text.rfind("\n", 0, start) + 1, newline + 1 if newline >= 0 else len(text)
        comment = text[stop:end].lstrip(" \t")
        is_kept = comment.startswith("#") and not _ALLOWS.match(comment)
        return text[:line] + f"{text[line:start]}{comment}" * is_kept + text[end:]
    before, after = text[:start].rstrip(), text[stop:].lstrip()
    if after.startswith(","):
        return f"{text[:start]}{after[1:].lstrip()}"
    return f"{before.removesuffix(',').rstrip()} {after}"


def _steps_written(path: Steps, spans: Spans) -> int:
    """How many steps of a word stand in its own name: more than one where it has dots."""
    if path in spans.owners:
        return len(path) - len(spans.owners[path])
    around = max(
        len(one) for one in spans.values if len(one) < len(path) and path[: len(one)] == one
    )
    return len(path) - around
