"""Options of a design file are edited in place, and all other bytes stay."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.lint import RULES, edit_toml

TEXT = """\
# the top
table = "t"  # its name
key   = "[a]"

[fields]
a      = "u32"     # bare
b      = { type = "text", max_bytes = 3 }  # inline
"c d"  = { type = "u8" }

[families.d]  # the family
versions = 1  # one
ttl = "30d"

[[reads]]
name = "x"
[[reads]]
name = "y"
"""


def edit_line(path: tuple[str | int, ...], value: Any, text: str = TEXT) -> list[tuple[str, str]]:
    """Return the lines that differ after a change that adds and removes none."""
    after = edit_toml(text, {path: value})
    before, now = text.splitlines(), after.splitlines()
    return [pair for pair in zip(before, now, strict=True) if pair[0] != pair[1]]


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("table",), "u", 'table = "u"  # its name'),
        (("families", "d", "versions"), 3, "versions = 3  # one"),
        (("fields", "b", "max_bytes"), 9, 'b      = { type = "text", max_bytes = 9 }  # inline'),
        (("fields", "a", "max_bytes"), 9, 'a      = { type = "u32", max_bytes = 9 }     # bare'),
        (
            ("fields", "b", "family"), "d",
            'b      = { type = "text", max_bytes = 3, family = "d" }  # inline',
        ),
        (("fields", "c d", "nullable"), True, '"c d"  = { type = "u8", nullable = true }'),
        (("reads", 1, "name"), "z", 'name = "z"'),
    ],
)  # fmt: skip
def test_a_changed_value_keeps_comments_and_order_of_the_file(
    path: tuple[str | int, ...], value: Any, line: str
) -> None:
    """A changed value keeps the comments, spaces and order of the file."""
    [(_, after)] = edit_line(path, value)
    assert line == after


def test_a_new_option_follows_the_last_one_of_its_table() -> None:
    """A new option follows the last one of its table, with aligned equality signs."""
    after = edit_toml(TEXT, {("families", "d", "bloom"): "ROW"})
    assert 'ttl = "30d"\nbloom = "ROW"\n\n[[reads]]' in after
    after = edit_toml(TEXT, {("splits",): "per_bucket"})
    assert 'key   = "[a]"\nsplits = "per_bucket"\n\n[fields]' in after
    after = edit_toml(TEXT, {("reads", 0, "limit"): 5})
    assert 'name = "x"\nlimit = 5\n[[reads]]' in after


def test_a_new_table_is_appended_at_the_end_of_the_file() -> None:
    """A new table is appended, also where the last line has no line end."""
    end = '\n\n[families."a b"]\nversions = 2\n'
    assert edit_toml(TEXT, {("families", "a b", "versions"): 2}).endswith(end)
    assert edit_toml("x = 1", {("y", "z"): 2}) == "x = 1\n\n[y]\nz = 2\n"


def test_a_removed_option_takes_its_line_and_leaves_comments() -> None:
    """A removed option takes its line or its comma with it, and leaves comments."""
    after = edit_toml(TEXT, {("families", "d", "versions"): None, ("fields", "b", "type"): None})
    assert '[families.d]  # the family\n# one\nttl = "30d"' in after
    assert "b      = { max_bytes = 3 }  # inline" in after
    assert '{ type = "text" }' in edit_toml(TEXT, {("fields", "b", "max_bytes"): None})
    assert edit_toml(TEXT, {("nothing",): None}) == TEXT


def test_added_lines_have_the_line_ends_of_the_file() -> None:
    """Added lines have the CRLF line ends of the file."""
    text = TEXT.replace("\n", "\r\n")
    after = edit_toml(text, {("families", "d", "bloom"): "ROW", ("writes", "rate"): "1/s"})
    assert after.count("\n") == after.count("\r\n")


@pytest.mark.parametrize(
    ("before", "word", "after"),
    [
        ("f.d.a = 1  # x\nb = 2\n", "w", "f.d.a = 1  # x\nf.d.w = 9\nb = 2\n"),
        ("[f]\n  d.a  = 1\n", "w", "[f]\n  d.a  = 1\n  d.w  = 9\n"),
        ("[f]\n  d.a  = 1", "w", "[f]\n  d.a  = 1\n  d.w  = 9"),
        ("f = { d = { a = 1 } }\n", "w", "f = { d = { a = 1, w = 9 } }\n"),
        ("f = {d.a = 1}\n", "w", "f = {d.a = 1, d.w = 9 }\n"),
        ("[f.d]\n\ta = 1\n[f.d.e]\nb = 1\n", "w", "[f.d]\n\ta = 1\n\tw = 9\n[f.d.e]\nb = 1\n"),
        ("[f.d] # x\n[g]\n", "w", "[f.d] # x\nw = 9\n[g]\n"),
        ("[f]\ne.a = 1\n", "w", "[f]\ne.a = 1\n\n[f.d]\nw = 9\n"),
        ("\ufeff[f.d]\n'a=b' = 1\n", "w", "\ufeff[f.d]\n'a=b' = 1\nw     = 9\n"),
        ("[f.d]\r\na = 1", "w", "[f.d]\r\na = 1\r\nw = 9"),
    ],
)
def test_a_new_option_has_the_style_of_its_table(before: str, word: str, after: str) -> None:
    """A new option has the style of its table: dots, braces, indentation, byte order mark."""
    assert after == edit_toml(before, {("f", "d", word): 9})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[f.d]\n  a = 1 # x\n  b = 2\n", "[f.d]\n  # x\n  b = 2\n"),
        ("[f.d]\na = 1 # rowkey: allow x - y\nb = 2\n", "[f.d]\nb = 2\n"),
        ("[f.d]\r\na = 1 # x\r\nb = 2\r\n", "[f.d]\r\n# x\r\nb = 2\r\n"),
        ("[f.d]\na = 1 # x", "[f.d]\n# x"),
        ("[f.d]\na = [\n  1, # x\n]\n# y\n", "[f.d]\n# y\n"),
        ("f.d.a = 1  # x\n", "f.d = {}  # x\n"),
        ("[f]\nd.a = 1\nd.b = 2\n", "[f]\nd.b = 2\n"),
        ("f = { d.a = 1, e = 2 }\n", "f = { d = {}, e = 2 }\n"),
        ("f = { d = { a = 1 } }\n", "f = { d = { } }\n"),
        ("f.d = {b = 2, a = 1}", "f.d = {b = 2 }"),
    ],
)
def test_a_table_whose_last_option_is_removed_stays(before: str, after: str) -> None:
    """A table that existed only by a dotted name stays, without options."""
    assert after == edit_toml(before, {("f", "d", "a"): None})


WORDS = st.sampled_from(["versions", "ttl", "bloom", "compression", "encoding"])
EXAMPLES = sorted(kind.good_design for kind in RULES.values())


@given(st.sampled_from(EXAMPLES), st.dictionaries(WORDS, st.none() | st.integers(1, 9)))
def test_no_edit_of_a_file_loses_a_comment(text: str, words: Mapping[str, Any]) -> None:
    """No edit loses a comment, after whichever line it is."""
    lines = [
        f"{line} # of {n}" if " = " in line else line for n, line in enumerate(text.split("\n"))
    ]
    text = "\n".join(lines)
    after = edit_toml(text, {("families", "d", word): value for word, value in words.items()})
    assert re.findall("# of .*", text) == re.findall("# of .*", after)


@given(st.sampled_from(EXAMPLES), st.dictionaries(WORDS, st.none() | st.integers(1, 9)))
def test_an_edited_file_parses_to_the_requested_options(
    text: str, words: Mapping[str, Any]
) -> None:
    """An edited file parses to the old tree with the new options, with every comment and line."""
    after = edit_toml(text, {("families", "d", word): value for word, value in words.items()})
    expected = tomllib.loads(text)
    kept = {**expected.get("families", {}).get("d", {}), **words}
    found = tomllib.loads(after).get("families", {}).get("d", {})
    assert {word: value for word, value in kept.items() if value is not None} == found
    for table, tree in expected.items():
        if table != "families":
            assert tree == tomllib.loads(after)[table]
