import datetime as dt
import tomllib
from typing import Any

import pytest
from hypothesis import given

from design import designs
from example_counts import divide_examples
from rowkey import Design
from rowkey.catalog import CatalogEntry
from rowkey.design.toml_dump import build_declared_tree
from rowkey.errors import InvalidDesign
from rowkey.lint import check_design
from rowkey.schema import format_key, parse_key

FEWER_EXAMPLES = divide_examples(2)
PYTHON = {"Design": Design, "datetime": dt}
"""The imports of a design in Python."""


@FEWER_EXAMPLES
@given(designs.designs)
def test_a_dumped_design_loads_as_an_equal_design(design: Design) -> None:
    """A dumped design loads as an equal design with equal findings, which dumps the same again."""
    text = design.dumps()
    again = Design.loads(text)
    assert design == again
    assert text == again.dumps()
    found = [
        sorted((one.code, one.path, one.message) for one in check_design(each).findings)
        for each in (design, again)
    ]
    assert found[0] == found[1]
    assert build_declared_tree(design.declaration) == build_declared_tree(again.declaration)


@FEWER_EXAMPLES
@given(designs.designs)
def test_the_repr_of_a_design_gives_an_equal_design(design: Design) -> None:
    """The repr of a design, and its options with the key as terms, give an equal design."""
    assert design == eval(repr(design), PYTHON)
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    table, key = words.pop("table"), words.pop("key")
    assert key == format_key(design.key.terms)
    assert design == Design(table, parse_key(key), **words)


@FEWER_EXAMPLES
@given(designs.trees())
def test_the_tree_of_a_design_has_every_option_of_its_file(words: dict[str, Any]) -> None:
    """A design's tree has every option of the file."""
    design = Design(**words)
    again = Design(**tomllib.loads(design.dumps()))
    assert design == again
    kept = design.declaration.model_dump(by_alias=True)
    assert words["fields"].keys() == kept["fields"].keys()
    assert words.get("families", {}) == kept["families"]
    assert [read["name"] for read in words.get("reads", [])] == [r["name"] for r in kept["reads"]]


DEFAULTS = """\
table = "t"
key   = "[id]"
reads = []

[fields]
id   = { type = "u64", nullable = false, heavy = [] }
note = "text"

[families]

[cluster]
servers = 8

[writes]
arrival = "clock"
bursts  = []
"""
SHORTEST = 'table = "t"\nkey   = "[id]"\n\n[fields]\nid   = "u64"\nnote = "text"\n'


def test_a_dump_keeps_only_the_declared_defaults() -> None:
    """Options declared with their defaults stay in a dump, and no others are added."""
    design = Design.loads(DEFAULTS)
    assert DEFAULTS == design.dumps()
    assert SHORTEST == Design.loads(SHORTEST).dumps()
    assert design == Design.loads(SHORTEST)


def test_equivalent_designs_have_the_same_shortest_text_and_hash() -> None:
    """Equivalent designs have the same shortest text and hash, without defaults."""
    assert SHORTEST == Design.loads(DEFAULTS).dumps(defaults=False)
    entries = [CatalogEntry.from_design(Design.loads(text), (), 0) for text in (DEFAULTS, SHORTEST)]
    assert entries[0] == entries[1]


def test_an_option_given_as_none_is_left_out_of_the_dump() -> None:
    """An option given as None in Python is left out."""
    design = Design(
        "t",
        "[id]",
        fields={"id": {"type": "u64", "distinct": None}, "note": "text"},
        cluster={"servers": 8, "heap": None},
        reads=[{"name": "r", "limit": None, "where": ""}],
        splits=None,
    )
    text = 'id   = "u64"\nnote = "text"\n\n[cluster]\nservers = 8\n\n[[reads]]\n'
    head, tail = 'table = "t"\nkey   = "[id]"\n\n[fields]\n', 'name  = "r"\nwhere = ""\n'
    assert f"{head}{text}{tail}" == design.dumps()


RAW = {
    "[id]": 'key   = "[id]"',
    r"[id]['\x00']": r"key   = '''[id]['\x00']'''",
    '["log-event"]': """key   = '''["log-event"]'''""",
    "[\"a'''b\"]": 'key   = "[\\"a\'\'\'b\\"]"',
    '["log-event"]\n[id]': 'key   = "[\\"log-event\\"]\\n[id]"',
    r"[id]['\'']": r"key   = '''[id]['\'']'''",
}


@pytest.mark.parametrize("key", RAW)
def test_a_key_that_needs_backslashes_is_dumped_in_three_quotes(key: str) -> None:
    """A key that needs backslashes in plain quotes is dumped in three quotes."""
    fields = {"id": "u64", "log-event": "text", "a'''b": "text"}
    design = Design("t", key, fields=fields)
    assert RAW[key] == design.dumps().splitlines()[1]
    assert design == Design.loads(design.dumps())


def test_a_dump_has_top_level_options_first_and_a_line_per_field() -> None:
    """A dump has top-level options first, a line per field and a table per family."""
    assert designs.SOUND == Design.loads(designs.SOUND).dumps()


def test_dates_and_long_lists_of_heavy_values_survive_a_dump() -> None:
    """Dates are dumped as TOML dates, and long lists with a value per line."""
    day = dt.datetime(2021, 1, 1, tzinfo=dt.UTC)
    fields = {"ts": {"type": "timestamp_ms", "heavy": [day]}}
    fields["e"] = {"type": "text", "heavy": [f"entity {number}" for number in range(20)]}
    design = Design("t", "[e][ts]", fields=fields)
    assert design == Design.loads(design.dumps())
    assert design == eval(repr(design), PYTHON)


def test_infinity_survives_a_dump() -> None:
    """Infinity is dumped and read back in TOML and in Python."""
    design = Design("t", "[x]", fields={"x": {"type": "float64", "heavy": [float("inf"), 1e300]}})
    assert design == Design.loads(design.dumps())
    assert design == eval(repr(design), PYTHON)


def test_a_value_that_toml_cannot_hold_is_refused_in_python() -> None:
    """A value that TOML cannot hold is refused when a design is built in Python."""
    with pytest.raises(InvalidDesign) as caught:
        Design("t", "[x]", fields={"x": {"type": "bytes", "heavy": [b"x"]}})
    expected = (
        "fields.x.heavy[0]: b'x' cannot be written in a design file; expected text, a number, "
        "true, false, a date or a time."
    )
    assert expected == str(caught.value)


def test_a_long_list_of_split_keys_with_braces_is_dumped_one_per_line() -> None:
    splits = [f"row{{{number}" for number in range(10, 60)]
    design = Design("t", "[id]", fields={"id": "text"}, splits=splits)
    assert '  "row{42",' in design.dumps().splitlines()
    assert design == Design.loads(design.dumps())
