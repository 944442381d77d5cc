"""Words of a design file changed where they stand: all else, comments too, stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.design import spans_of, toml_name, toml_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Spans

Steps = tuple[str | int, ...]


def rewritten(text: str, changes: Mapping[Steps, Any]) -> str:
    r"""A design file with some of its words changed.

    Args:
        text: the file, which is TOML.
        changes: the new value of each word, by its steps: ("families", "d", "ttl"); None takes the
            word away. A word that is not there is written under its table, a table that is not
            there at the end.

    Cost: one pass over the text for each change.

    >>> rewritten("a = 1 # one\n[b]\nc = 2\n", {("a",): 3, ("b", "d"): True, ("e", "f"): "g"})
    'a = 3 # one\n[b]\nc = 2\nd = true\n\n[e]\nf = "g"\n'
    """
    for path, value in changes.items():
        text = _changed(text, path, value)
    return text


def _changed(text: str, path: Steps, value: Any) -> str:
    spans = spans_of(text)
    if path in spans.values:
        place = spans.values[path]
        return _removed(text, path, spans) if value is None else _put(text, place, value)
    if value is None:
        return text
    table, word = path[:-1], str(path[-1])
    if table in spans.values:
        return _inside(text, spans.values[table], word, value)
    line = f"{toml_name(word)} = {toml_value(value)}"
    if table in spans.tables or not table:
        return _under(text, table, line, spans)
    end = "\r\n" if "\r\n" in text else "\n"
    before = text if text.endswith("\n") else f"{text}{end}"
    header = ".".join(toml_name(str(step)) for step in table)
    return f"{before}{end}[{header}]{end}{line}{end}"


def _put(text: str, span: tuple[int, int], value: Any) -> str:
    """The text with another value in a place."""
    return f"{text[: span[0]]}{toml_value(value)}{text[span[1] :]}"


def _inside(text: str, span: tuple[int, int], word: str, value: Any) -> str:
    """The text with a further word in an inline table, or in a type that becomes one."""
    start, stop = span
    given = text[start:stop]
    added = f"{toml_name(word)} = {toml_value(value)}"
    if not given.startswith("{"):
        return f"{text[:start]}{{ type = {given}, {added} }}{text[stop:]}"
    inner = given[:-1].rstrip()
    comma = "" if inner in ("{", "") else ","
    return f"{text[:start]}{inner}{comma} {added} }}{text[stop:]}"


def _under(text: str, table: Steps, line: str, spans: Spans) -> str:
    """The text with a further line behind the last of a table, its `=` below the others'."""
    own = [path for path, owner in spans.owners.items() if owner == table]
    at = max((spans.values[path][1] for path in own), default=spans.tables.get(table, 0))
    if own:
        last = max(own, key=lambda path: spans.values[path][1])
        start = spans.starts[last]
        width = text.index("=", start) - start
        name, _, value = line.partition(" = ")
        line = f"{name:{width - 1}} = {value}"
    newline = text.find("\n", at)
    end = "\r\n" if "\r\n" in text else "\n"
    if newline < 0:
        return f"{text}{end}{line}{end}"
    return f"{text[: newline + 1]}{line}{end}{text[newline + 1 :]}"


def _removed(text: str, path: Steps, spans: Spans) -> str:
    """The text without a word: without its line, or without its place in an inline table."""
    start, stop = spans.starts[path], spans.values[path][1]
    if path in spans.owners:
        newline = text.find("\n", stop)
        return text[:start] + (text[newline + 1 :] if newline >= 0 else "")
    before, after = text[:start].rstrip(), text[stop:].lstrip()
    if after.startswith(","):
        return f"{text[:start]}{after[1:].lstrip()}"
    return f"{before.removesuffix(',').rstrip()} {after}"
