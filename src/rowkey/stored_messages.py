"""Messages of documents that are stored as JSON, which would leave only their English sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rowkey.messages import Message

_MESSAGES = "messages"


def dump_document(document: Mapping[str, Any]) -> bytes:
    """Return a document as one line of JSON that keeps the keys and arguments of its messages."""
    packed = {**document, _MESSAGES: iter_messages(document)}
    return json.dumps(packed, ensure_ascii=False).encode("utf-8", "backslashreplace")


def load_document(content: bytes | str) -> dict[str, Any]:
    """Return the document that `dump_document` has made JSON of.

    Raises:
        ValueError, LookupError, TypeError: it is not such a document.

    >>> load_document(dump_document({"a": Message("b.c", "{n} rows", n=2)}))["a"].arguments
    {'n': 2}
    """
    document: dict[str, Any] = json.loads(content)
    restore_messages(document, document.pop(_MESSAGES))
    return document


def iter_messages(document: Any) -> list[list[Any]]:
    """Return the path, key and arguments of each message in a JSON document.

    >>> iter_messages({"a": ["x", Message("b.c", "{n} rows", n=2)]})
    [[['a', 1], 'b.c', {'n': {'value': 2}}]]
    """
    return [
        [path, message.key, _encode_arguments(message)]
        for path, message in _iterate_messages(document, [])
    ]


def restore_messages(document: Any, messages: Sequence[Sequence[Any]]) -> None:
    """Put messages back into a document that was stored without them.

    Args:
        document: the document, which is changed.
        messages: the result of `iter_messages`.
    """
    for path, key, arguments in messages:
        place = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = _build_message(key, place[path[-1]], arguments)


def _iterate_messages(value: Any, path: list[str | int]) -> Iterator[tuple[Any, Message]]:
    """Yield the messages in a value, each with its path."""
    if isinstance(value, Message):
        yield path, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _iterate_messages(one, [*path, name])
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _iterate_messages(one, [*path, number])


def _encode_arguments(message: Message) -> dict[str, Any]:
    """Return the arguments of a message as JSON values that tell messages from other texts."""
    return {name: _encode_argument(value) for name, value in message.arguments.items()}


def _encode_argument(value: Any) -> dict[str, Any]:
    """Return an argument as a JSON object; what is no number and no text becomes text."""
    if isinstance(value, Message):
        return {"key": value.key, "text": str(value), "arguments": _encode_arguments(value)}
    value = value.item() if hasattr(value, "item") else value
    return {"value": value if isinstance(value, int | float | str) else str(value)}


def _build_message(key: str, text: str, arguments: dict[str, Any]) -> Message:
    values = {
        name: one["value"]
        if "value" in one
        else _build_message(one["key"], one["text"], one["arguments"])
        for name, one in arguments.items()
    }
    return Message(key, text.replace("{", "{{").replace("}", "}}"), **values)
