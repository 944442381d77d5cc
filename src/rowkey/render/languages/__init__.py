"""The sentences of reports: one file per language, looked up by key."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from rowkey.messages import Message

LANGUAGES = ("en", "zh")
"""Languages of reports; each has a file of this name."""
_LANGUAGE_TAGS = {"zh": "zh-Hans"}
"""Languages by their tags in HTML, where the tag differs from the name."""


class Translator:
    """Translates sentences of reports by key, with arguments filled in.

    `LANGUAGE.toml` holds the sentences of reports. A language other than English has two more
    things: under `messages`, the sentences of messages that other packages make
    (`rowkey.messages.Message`, which brings its English along), and in `LANGUAGE_rules.toml` a
    reason and a fix for each lint rule by its code.

    Args:
        language: one of `LANGUAGES`.

    >>> Translator("zh").translate("key.bytes_from_to", least=2, most=40)
    '2 至 40 字节'
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.language_tag = _LANGUAGE_TAGS.get(language, language)
        self._sentences = _read_sentences(language)

    def translate(self, key: str, /, **arguments: Any) -> str:
        """Return the sentence of a key in this language, with arguments filled in.

        Args:
            key: table and name in the language's file, such as `map.title`.
            arguments: values by the names between braces.

        Raises:
            KeyError: the language has no such key, or the sentence needs another argument.
        """
        sentence = self._sentences[key]
        return sentence.format(**arguments) if arguments else sentence

    __call__ = translate

    def translate_message(self, message: str) -> str:
        """Return a message of another package in this language; plain text is unchanged.

        >>> text = "the exact time within each {length}"
        >>> message = Message("residue.time_within", text, length="1h")
        >>> Translator("zh").translate_message(message), Translator("en").translate_message(message)
        ('每 1h 之内的具体时刻', 'the exact time within each 1h')
        """
        if not isinstance(message, Message) or self.language == "en":
            return str(message)
        key = f"messages.{message.key}"
        if key not in self:  # a message of a plugin from another package
            return str(message)
        arguments = {
            name: self.translate_message(value) if isinstance(value, Message) else value
            for name, value in message.arguments.items()
        }
        return self._sentences[key].format(**arguments)

    def __contains__(self, key: str) -> bool:
        return key in self._sentences

    def list_keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys of sentences that begin with a prefix, in the order of the file."""
        return (key for key in self._sentences if key.startswith(prefix))

    def select_table(self, table: str) -> dict[str, str]:
        """Return all sentences of one table of the language file, by name."""
        prefix = f"{table}."
        return {key.removeprefix(prefix): self._sentences[key] for key in self.list_keys(prefix)}


@cache
def _read_sentences(language: str) -> Mapping[str, str]:
    names = (language,) if language == "en" else (language, f"{language}_rules")
    sentences: dict[str, str] = {}
    for name in names:
        text = files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
        sentences |= _flatten_table(tomllib.loads(text))
    return sentences


def _flatten_table(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return the nested tables of a TOML file as one mapping with dotted keys."""
    sentences: dict[str, str] = {}
    for name, value in table.items():
        sentences |= (
            _flatten_table(value, f"{prefix}{name}.")
            if isinstance(value, dict)
            else {prefix + name: value}
        )
    return sentences
