"""A described table as the text of a design file, with what was seen as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.design import Design, path_text
from rowkey.errors import printable
from rowkey.lint import check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDE = 96
"""Characters of a line of comment."""


def annotated(
    design: Design,
    head: Sequence[str],
    above: Mapping[str, Sequence[str]],
    beside: Mapping[str, str],
) -> str:
    """A design file with comments.

    Args:
        design: what it declares.
        head: sentences above all.
        above: sentences above a word, by its path.
        beside: what was seen of a field, by its name.
    """
    text = design.dumps()
    places = Design.loads(text).written.places  # type: ignore[union-attr]
    lines = {places.line_of(path): list(said) for path, said in above.items()}
    for name, said in beside.items():
        lines.setdefault(places.line_of(path_text(("fields", name))), []).append(said)
    for finding in check(design).at_least("error"):
        what = f"rowkey: allow {finding.name} - the table is so"
        lines.setdefault(places.line_of(finding.path), []).append(what)
    body = [f"# {line}".rstrip() for said in head for line in wrapped(printable(said))]
    body.append("")
    for number, line in enumerate(text.split("\n"), 1):
        for said in lines.get(number, ()):
            body += [f"# {one}".rstrip() for one in wrapped(printable(said))]
        body.append(line)
    return "\n".join(body)


def wrapped(text: str) -> Iterator[str]:
    """A sentence over as many lines as it takes.

    Args:
        text: the sentence.

    >>> list(wrapped("a " * 60))[1]
    '  a a a a a a a a a a a a a a'
    """
    line = ""
    for word in text.split():
        if line and len(line) + len(word) + 1 > WIDE - 4:
            yield line
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    yield line
