"""Edit options in the text of a design file; everything else, such as comments, stays the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rowkey.design import BOM, KeyPath, TomlSpans, find_spans, format_toml_name, format_toml_value


def edit_toml(text: str, changes: Mapping[KeyPath, Any]) -> str:
    r"""Set, add or remove options in the text of a TOML file; all else stays the same.

    Args:
        text: the TOML text, with or without a byte order mark, and with either line ending.
        changes: the new value of each option, by its path, such as ("families", "d", "ttl"). None
            removes the option, and a comment after it gets its own line. A new option is written
            next to the other options of its table, whether these are below a header, in an inline
            table or have dotted names; a new table is added at the end.

    Cost: one pass over the text for each change.

    >>> edit_toml("a = 1 # one\n[b]\nc = 2\n", {("a",): 3, ("b", "d"): True, ("e", "f"): "g"})
    'a = 3 # one\n[b]\nc = 2\nd = true\n\n[e]\nf = "g"\n'
    """
    for path, value in changes.items():
        body = text.removeprefix(BOM)
        text = text[: len(text) - len(body)] + _change_option(body, path, value)
    return text


_ALLOW_COMMENT = re.compile(r"#\s*rowkey:\s*allow\b")
"""A comment that allows a finding in its line; it is removed with the line."""


def _change_option(text: str, path: KeyPath, value: Any) -> str:
    """Return the file text with one option set, added or removed."""
    spans = find_spans(text)
    if path in spans.value_spans:
        place = spans.value_spans[path]
        return (
            _remove_option(text, path, spans)
            if value is None
            else _replace_value(text, place, value)
        )
    if value is None:
        return text
    for length in range(len(path) - 1, 0, -1):
        table, word = (
            path[:length],
            f"{_format_dotted_name(path[length:])} = {format_toml_value(value)}",
        )
        if table in spans.value_spans:
            return _insert_inline(text, spans.value_spans[table], word)
        siblings = [
            one
            for one, owner in spans.owner_tables.items()
            if one[:length] == table and len(owner) <= length
        ]
        if length == len(path) - 1 and siblings:
            owner = spans.owner_tables[siblings[-1]]
            return _insert_aligned_line(
                text,
                siblings,
                f"{_format_dotted_name(path[len(owner) :])} = {format_toml_value(value)}",
                spans,
            )
        if length == len(path) - 1 and table in spans.header_stops:
            return _insert_line(text, spans.header_stops[table], word)
    if len(path) == 1:
        own = [one for one, owner in spans.owner_tables.items() if not owner]
        return _insert_aligned_line(
            text, own, f"{_format_dotted_name(path)} = {format_toml_value(value)}", spans
        )
    end = _find_line_ending(text)
    before = text if text.endswith("\n") or not text else f"{text}{end}"
    line = f"{_format_dotted_name(path[-1:])} = {format_toml_value(value)}"
    return f"{before}{end}[{_format_dotted_name(path[:-1])}]{end}{line}{end}"


def _format_dotted_name(steps: KeyPath) -> str:
    """Join path steps to a dotted TOML key."""
    return ".".join(format_toml_name(str(step)) for step in steps)


def _find_line_ending(text: str) -> str:
    """Return the line ending that a file text uses."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def _replace_value(text: str, span: tuple[int, int], value: Any) -> str:
    """Return the file text with the value at a span replaced."""
    return f"{text[: span[0]]}{format_toml_value(value)}{text[span[1] :]}"


def _insert_inline(text: str, span: tuple[int, int], pair: str) -> str:
    """Return the file text with an option added to an inline table."""
    start, stop = span
    value_text = text[start:stop]
    if not value_text.startswith("{"):
        return f"{text[:start]}{{ type = {value_text}, {pair} }}{text[stop:]}"
    inner = value_text[:-1].rstrip()
    comma = "" if inner == "{" else ","
    return f"{text[:start]}{inner}{comma} {pair} }}{text[stop:]}"


def _insert_aligned_line(
    text: str, siblings: Sequence[KeyPath], line: str, spans: TomlSpans
) -> str:
    """Return the file text with an option line after its siblings, aligned with them.

    Its equals sign is below that of the line above.
    """
    last = max(siblings, key=lambda path: spans.value_spans[path][1])
    start, (first, stop) = spans.starts[last], spans.value_spans[last]
    name, _, value = line.partition(" = ")
    width = len(text[start:first].rstrip()) - len(" =")
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    return _insert_line(text, stop, f"{indent}{name:{max(width, 0)}} = {value}")


def _insert_line(text: str, offset: int, line: str) -> str:
    """Return the file text with a new line after the line of an offset."""
    newline, end = text.find("\n", offset), _find_line_ending(text)
    if newline < 0:
        return f"{text}{end}{line}"
    return f"{text[: newline + 1]}{line}{end}{text[newline + 1 :]}"


def _remove_option(text: str, path: KeyPath, spans: TomlSpans) -> str:
    """Return the file text without an option.

    If it is the only line that defines its table, an empty table stays.
    """
    start, stop = spans.starts[path], spans.value_spans[path][1]
    step_count = _count_written_steps(path, spans)
    table = path[:-1]
    is_alone = not any(one != path and one[: len(table)] == table for one in spans.value_spans)
    if step_count > 1 and is_alone and table not in spans.header_stops:
        return (
            f"{text[:start]}{_format_dotted_name(path[len(path) - step_count : -1])} = "
            f"{{}}{text[stop:]}"
        )
    if path in spans.owner_tables:
        newline = text.find("\n", stop)
        line, end = text.rfind("\n", 0, start) + 1, newline + 1 if newline >= 0 else len(text)
        comment = text[stop:end].lstrip(" \t")
        is_kept = comment.startswith("#") and not _ALLOW_COMMENT.match(comment)
        return text[:line] + f"{text[line:start]}{comment}" * is_kept + text[end:]
    before, after = text[:start].rstrip(), text[stop:].lstrip()
    if after.startswith(","):
        return f"{text[:start]}{after[1:].lstrip()}"
    return f"{before.removesuffix(',').rstrip()} {after}"


def _count_written_steps(path: KeyPath, spans: TomlSpans) -> int:
    """Return how many last steps of an option's path are written in its dotted key."""
    if path in spans.owner_tables:
        return len(path) - len(spans.owner_tables[path])
    around = max(
        len(one) for one in spans.value_spans if len(one) < len(path) and path[: len(one)] == one
    )
    return len(path) - around
