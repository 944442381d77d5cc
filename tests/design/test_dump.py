import datetime as dt
import tomllib
from typing import Any

import pytest
from hypothesis import given

from design import designs
from rowkey import Design
from rowkey.errors import DeclarationError
from rowkey.schema import parse, print_key

PYTHON = {"Design": Design, "datetime": dt}
"""What must be imported to write a design in Python."""


@given(designs.designs)
def test_a_design_survives_its_file(design: Design) -> None:
    """Loading what was dumped gives the same design."""
    text = design.dumps()
    assert design == Design.loads(text)


@given(designs.designs)
def test_a_dumped_file_dumps_the_same_again(design: Design) -> None:
    """The text of a design is one text."""
    assert design.dumps() == Design.loads(design.dumps()).dumps()


@given(designs.designs)
def test_a_design_survives_python(design: Design) -> None:
    """Evaluating what a design prints gives the same design."""
    assert design == eval(repr(design), PYTHON)


@given(designs.designs)
def test_a_key_may_be_given_as_its_terms(design: Design) -> None:
    """Notation and terms are the same declaration."""
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    table, key = words.pop("table"), words.pop("key")
    assert key == print_key(design.key.terms)
    assert design == Design(table, parse(key), **words)


@given(designs.trees())
def test_what_was_given_is_what_is_kept(words: dict[str, Any]) -> None:
    """No word is lost between a file's tree and the design made of it."""
    design = Design(**words)
    again = Design(**tomllib.loads(design.dumps()))
    assert design == again
    kept = design.declaration.model_dump(by_alias=True)
    assert words["fields"].keys() == kept["fields"].keys()
    assert words.get("families", {}) == kept["families"]
    assert [read["name"] for read in words.get("reads", [])] == [r["name"] for r in kept["reads"]]


def test_words_that_say_the_default_are_left_out() -> None:
    """A file says only what is not so without it."""
    design = Design(
        "t",
        "[id]",
        fields={"id": {"type": "u64", "nullable": False, "heavy": [], "distinct": None}},
        cluster={"servers": 8},
        writes={"arrival": "clock", "sort": False, "bursts": []},
        reads=[],
        splits=None,
    )
    assert 'table = "t"\nkey   = "[id]"\n\n[fields]\nid = "u64"\n' == design.dumps()


RAW = {
    "[id]": 'key   = "[id]"',
    r"[id]['\x00']": r"key   = '''[id]['\x00']'''",
    '["log-event"]': """key   = '''["log-event"]'''""",
    "[\"a'''b\"]": 'key   = "[\\"a\'\'\'b\\"]"',
    '["log-event"]\n[id]': 'key   = "[\\"log-event\\"]\\n[id]"',
    r"[id]['\'']": r"key   = '''[id]['\'']'''",
}


@pytest.mark.parametrize("key", RAW)
def test_keys_with_escapes_stand_between_three_quotes(key: str) -> None:
    """Where plain quotes would need backslashes and three need none."""
    fields = {"id": "u64", "log-event": "text", "a'''b": "text"}
    design = Design("t", key, fields=fields)
    assert RAW[key] == design.dumps().splitlines()[1]
    assert design == Design.loads(design.dumps())


def test_every_word_of_a_file_is_dumped_readably() -> None:
    """The layout: top words, one line a field, a table a family, reads as a list."""
    assert designs.SOUND == Design.loads(designs.SOUND).dumps()


def test_dates_and_lists_of_heavy_values_survive() -> None:
    """Times stand as TOML writes them, long lists one value a line."""
    day = dt.datetime(2021, 1, 1, tzinfo=dt.UTC)
    fields = {"ts": {"type": "timestamp_ms", "heavy": [day]}}
    fields["e"] = {"type": "text", "heavy": [f"entity {number}" for number in range(20)]}
    design = Design("t", "[e][ts]", fields=fields)
    assert design == Design.loads(design.dumps())
    assert design == eval(repr(design), PYTHON)


def test_endless_numbers_survive() -> None:
    """Infinity has a spelling of its own in TOML and in Python."""
    design = Design("t", "[x]", fields={"x": {"type": "float64", "heavy": [float("inf"), 1e300]}})
    assert design == Design.loads(design.dumps())
    assert design == eval(repr(design), PYTHON)


def test_values_no_file_can_hold_are_refused() -> None:
    """What Python could declare and a file could not would not survive."""
    with pytest.raises(DeclarationError) as caught:
        Design("t", "[x]", fields={"x": {"type": "bytes", "heavy": [b"x"]}})
    expected = "fields.x.heavy[0]: b'x' does not fit; expected a value that a file can hold."
    assert expected == str(caught.value)
