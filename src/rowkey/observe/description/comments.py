"""Write a described table as a design file, with the observations as comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rowkey.design import Design, format_path
from rowkey.lint import check_design
from rowkey.messages import shorten_text

COMMENT_WIDTH = 96
"""Characters of a comment line at most."""


def annotate_design(
    design: Design,
    header: Sequence[str],
    path_comments: Mapping[str, Sequence[str]],
    field_comments: Mapping[str, str],
) -> str:
    """Return the text of a design file with comments above its options and fields.

    Args:
        design: the design to write.
        header: sentences at the top of the file.
        path_comments: sentences above an option, by its path.
        field_comments: what was observed of a field, by its name.
    """
    text = design.dumps()
    places = Design.loads(text).source.source_map  # type: ignore[union-attr]
    lines = {places.find_line(path): list(sentences) for path, sentences in path_comments.items()}
    for name, sentence in field_comments.items():
        lines.setdefault(places.find_line(format_path(("fields", name))), []).append(sentence)
    for finding in check_design(design).filter_by_severity("error"):
        sentence = f"rowkey: allow {finding.name} - as in the existing table"
        lines.setdefault(places.find_line(finding.path), []).append(sentence)
    body = [
        f"# {line}".rstrip()
        for sentence in header
        for line in wrap_sentence(shorten_text(sentence))
    ]
    body.append("")
    for number, line in enumerate(text.split("\n"), 1):
        for sentence in lines.get(number, ()):
            body += [f"# {one}".rstrip() for one in wrap_sentence(shorten_text(sentence))]
        body.append(line)
    return "\n".join(body)


def wrap_sentence(text: str) -> Iterator[str]:
    """Yield a sentence as comment lines of limited length.

    >>> list(wrap_sentence("a " * 60))[1]
    '  a a a a a a a a a a a a a a'
    """
    line = ""
    for word in text.split():
        if line and len(line) + len(word) + 1 > COMMENT_WIDTH - 4:
            yield line
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    yield line
