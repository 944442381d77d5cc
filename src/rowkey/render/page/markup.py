"""HTML in which every text is escaped unless it was made here."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

VOID = frozenset({"meta", "br", "hr", "img", "input", "wbr"})
_JOINT = re.compile(r"([_.-])(?=\w)")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Html:
    """A value as text: escaped, and what does not print is shown as its code.

    >>> text("a<b\\0")
    'a&lt;b\\\\x00'
    """
    if isinstance(value, Html):
        return value
    said = str(value)
    if not said.isprintable():
        said = "".join(map(_printable, said))
    return Html(escape(said, quote=True))


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def breakable(name: str) -> Html:
    """A name that is broken, where it must be, behind the signs that join its words.

    >>> breakable("time_first.toml")
    'time_<wbr>first.<wbr>toml'
    """
    return Html(_JOINT.sub(r"\1<wbr>", text(name)))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element.

    Args:
        name: its name.
        children: what stands in it: elements, texts, lists of both; None and "" are left out.
        attributes: by name, an underscore for a hyphen and one behind a word of Python; True gives
            it no value, None and False leave it out.

    >>> tag("p", "a & b", tag("b", 1), class_="x")
    '<p class="x">a &amp; b<b>1</b></p>'
    """
    told = [name]
    for label, value in attributes.items():
        if value is None or value is False:
            continue
        shown = label.rstrip("_").replace("_", "-")
        told.append(shown if value is True else f'{shown}="{text(value)}"')
    head = f"<{' '.join(told)}>"
    return Html(head if name in VOID else f"{head}{joined(children)}</{name}>")


def joined(children: object) -> Html:
    """Elements and texts one after another."""
    if isinstance(children, list | tuple):
        return Html("".join(map(joined, children)))
    return Html("") if children is None else text(children)


_IN_SCRIPT = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def data(name: str, document: Any) -> Html:
    """A document as JSON in an element that is no program; nothing in it can end the element.

    >>> data("d", ["</script>"])
    '<script type="application/json" id="d">["\\\\u003c/script\\\\u003e"]</script>'
    """
    shown = json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(_IN_SCRIPT)
    return Html(f'<script type="application/json" id="{text(name)}">{shown}</script>')
