import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from design import designs
from rowkey import Design
from rowkey.design.paths import format_path, iter_path_prefixes
from rowkey.errors import InvalidDesign, Mistake
from rowkey.keys import TYPES
from schema import spellings

WRONG = Path(__file__).with_name("wrong.toml")
COMMENT_MARK = "  #! "
MESSAGE_SEPARATOR = " || "


def list_mistakes(text: str) -> tuple[Mistake, ...]:
    """Return all mistakes of a design file."""
    with pytest.raises(InvalidDesign) as caught:
        Design.loads(text)
    return caught.value.mistakes


def list_expected(text: str) -> list[tuple[int, str]]:
    """Return the messages in the comments of a file, with their lines."""
    return [
        (number, sentence)
        for number, line in enumerate(text.splitlines(), 1)
        if COMMENT_MARK in line
        for sentence in line.split(COMMENT_MARK)[1].split(MESSAGE_SEPARATOR)
    ]


def test_all_mistakes_of_a_file_are_reported_in_file_order() -> None:
    """All mistakes of a file are reported in file order with their lines, and no others."""
    text = WRONG.read_text(encoding="utf-8")
    found = list_mistakes(text)
    assert list_expected(text) == [(one.line, str(one)) for one in found]


def test_each_line_of_an_error_begins_with_file_line_and_column() -> None:
    """Each line of the error begins with file, line and column, as of a compiler."""
    with pytest.raises(InvalidDesign) as caught:
        Design.read(WRONG)
    lines = str(caught.value).splitlines()
    assert len(caught.value.mistakes) == len(lines)
    assert all(re.match(rf"{re.escape(str(WRONG))}:\d+:\d+: [a-z]", line) for line in lines)


SENTENCE = re.compile(
    r"(?P<path>[^ ].*?: )?(?P<what>.+?)(; expected .+?)?[.…](?P<remedy> [A-Z].*[.?])?"
)
LEFTOVERS = [
    "function-",
    "Input should",
    "[type=",
    "pydantic",
    "..",
    " ,",
    "  ",
    "expected ;",
    "None",
]


def is_well_formed(mistake: Mistake) -> bool:
    """Return whether a message has the form of rowkey's messages and nothing of pydantic.

    The path is left out of that: a file may call its fields whatever it likes.
    """
    text = str(mistake).replace("..", "–", 1) if ".." in mistake.expected else str(mistake)
    leftover = any(word in text.removeprefix(mistake.path) for word in LEFTOVERS)
    remedy = not mistake.remedy or (mistake.remedy[0].isupper() and mistake.remedy[-1] in ".?")
    ends = not mistake.problem.endswith((".", ";", ",", ":")) and not mistake.expected.endswith(
        (".", ";")
    )
    return bool(SENTENCE.fullmatch(text)) and remedy and ends and not leftover


def test_every_mistake_has_path_problem_and_remedy() -> None:
    """Every message has the form `path: problem; expected allowed. Remedy`."""
    found = list_mistakes(WRONG.read_text(encoding="utf-8"))
    assert [] == [str(one) for one in found if not is_well_formed(one)]


VALUES: list[Any] = [0, -1, 10**30, 1.5, "", "x", "5", True, [], ["x"], {}, {"x": 1}, [{}], [[]]]


def _list_paths(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values of a tree."""
    steps = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree if isinstance(tree, list) else ())
    )
    return [path, *(inner for step, value in steps for inner in _list_paths(value, (*path, step)))]


def _spoil(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a tree with another value at one path."""
    if not path:
        return value
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[path[0]] = _spoil(copy[path[0]], path[1:], value)
    return copy


@given(designs.trees(), st.data())
def test_any_value_at_any_path_is_accepted_or_refused_with_a_well_formed_message(
    words: dict[str, Any], data: Any
) -> None:
    tree = {word: value for word, value in words.items() if word != "families"}
    place = data.draw(st.sampled_from(_list_paths(tree)[1:]))
    try:
        Design(**_spoil(words, place, data.draw(st.sampled_from(VALUES))))
    except InvalidDesign as problem:
        wrong = [str(one) for one in problem.mistakes if not is_well_formed(one)]
        assert [] == wrong


SPOILS = {
    "servers = 4": 'servers = "4"',
    'rate = "5000/s"': 'rate = "5000"',
    'where = "host = ?"': 'where = "host"',
    'ttl = "30d"': 'ttl = "30 d d"',
    '"per_bucket"': '"per_buckets"',
    'ts   = "timestamp_ms"': 'ts   = "timestamp_mz"',
    'qualifier = "n"': 'qualifer = "n"',
    'table  = "logs"': 'table  = "lo gs"',
    "[bucket(host, 16)]": "[buckt(host, 16)]",
}


@given(st.sets(st.sampled_from(sorted(SPOILS)), min_size=1))
def test_several_mistakes_in_a_file_give_as_many_messages(chosen: set[str]) -> None:
    text = designs.SOUND
    for sound in chosen:
        assert sound in text
        text = text.replace(sound, SPOILS[sound])
    assert len(chosen) == len(list_mistakes(text))


FOLLOW_UPS = {
    "a lost type": ('ts   = "timestamp_ms"', "ts   = { type = 3 }"),
    "a misspelled type": ('ts   = "timestamp_ms"', 'ts   = "timestamp"'),
    "a wrong family": ("[families.d]", '[families.d]\nbloom = "X"'),
    "a family that is no table": ('[families.d]\nttl = "30d"', "[families]\nd = 3"),
    "a list of words": ("[cluster]", "[[cluster]]"),
    "a table of reads": ("[[reads]]", "[reads]"),
    "a wrong name": (
        'host = { type = "text", max_bytes = 40 }',
        'host = { type = "text", width = 40 }',
    ),
    "a missing option": ('host = { type = "text", max_bytes = 40 }', 'host = { type = "choice" }'),
    "a wrong option": (
        'host = { type = "text", max_bytes = 40 }',
        'host = { type = "choice", of = [1] }',
    ),
    "no fields": ("[fields]", "[feilds]"),
    "a list of fields": ("[fields]", "[[fields]]"),
}


@pytest.mark.parametrize("case", FOLLOW_UPS)
def test_an_invalid_field_is_reported_once_and_not_as_missing_elsewhere(case: str) -> None:
    """An invalid field is reported once and not as missing in key, read and writes."""
    sound, wrong = FOLLOW_UPS[case]
    text = designs.SOUND.replace("[writes]", '[writes]\narrival = "per(host)"\ntime = "ts"')
    assert sound in text
    assert 1 == len(list_mistakes(text.replace(sound, wrong)))


def test_missing_options_are_named_with_their_meaning() -> None:
    """An empty file lacks three options, each named with its meaning."""
    expected = [
        (
            "table: the design lacks this option; expected the table name, with its namespace if "
            "it has one."
        ),
        (
            "key: the design lacks this option; expected the row key in bracket notation, such as "
            "[bucket(host, 16)][host][ts]."
        ),
        (
            "fields: the design lacks this option; expected the fields of a row with their types, "
            'such as { host = "text" }.'
        ),
    ]
    assert expected == list(map(str, list_mistakes("")))


def test_a_misspelt_option_is_not_also_reported_as_missing() -> None:
    """A misspelt `tabel` is one mistake with its line, and `table` is not also missing."""
    found = list_mistakes(designs.SOUND.replace("table ", "tabel "))
    assert [(1, "Did you mean table?")] == [(one.line, one.remedy) for one in found]


def test_mistakes_in_a_python_design_have_no_line_numbers() -> None:
    """A design written in Python has the same messages without lines."""
    with pytest.raises(InvalidDesign) as caught:
        Design("t", "[aa][bb][cc]" * 4, fields={"x": "u8"})
    places = [(one.line, one.path) for one in caught.value.mistakes]
    assert [(0, f"key[{number}]") for number in range(12)] == places


SYNTAX = {
    "a = 1\na = 2\nb = 3": (2, "a key is given twice: 'a = 2'", "each key once in a table", ""),
    "[a]\n[a]\nb = 3": (2, "a table is declared twice: '[a]'", "each table once", ""),
    "a = {b = 1, b = 2}\n": (
        1,
        "a key is given twice: 'a = {b = 1, b = 2}'",
        "each key once in a table",
        "",
    ),
    "a = yes\n": (
        1,
        "a value is not valid TOML: 'a = yes'",
        "text in quotes, a number, true, false, a list or a table",
        "",
    ),
    "key = \"['\\x00']\"\n": (
        1,
        "a backslash does not start a TOML escape: 'key = \"[\\'\\\\x00\\']\"'",
        "\\\\ for a backslash",
        "Write a key with escapes or quoted names between ''' and '''.",
    ),
    'key = "["log-event"]"\n': (
        1,
        """the file is not valid TOML: Expected newline or end of document after a statement: \
'key = "["log-event"]"'""",
        "",
        "Write a key with escapes or quoted names between ''' and '''.",
    ),
}


@pytest.mark.parametrize("text", SYNTAX)
def test_a_toml_syntax_error_is_reported_with_its_line(text: str) -> None:
    """A TOML syntax error is reported with the text of its line."""
    (found,) = list_mistakes(text)
    assert SYNTAX[text] == (found.line, found.problem, found.expected, found.remedy)


ODD_NAMES = ["[key]", "function-x", "a.b", "..", ".", "a[0]", "a b", "fields.host", "a:b", "it's"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_mistake_is_located_whatever_the_name_of_its_field(name: str) -> None:
    """A mistake is found at its path and line whatever the name of its field."""
    wrong = "\n".join(
        [
            f'"{name}" = {{ type = "nope" }}',
            f'"{name} more" = 3',
            'other = { type = "u8", draw = "zpif" }',
            f'"{name} last" = {{ type = "u8", draw = "zpif", famly = "d" }}',
            f'"{name} words" = {{ type = "u8", max_bytes = 3 }}',
            "[families.d]",
        ]
    )
    text = designs.SOUND.replace("[families.d]", wrong)
    first = text[: text.index(wrong)].count("\n") + 1
    quoted = name if name == "function-x" else f'"{name}"'
    paths = [f"{quoted}.type", f'"{name} more"', "other.draw", f'"{name} last".famly']
    paths += [f'"{name} last".draw', f'"{name} words".max_bytes']
    lines = [first, first + 1, first + 2, first + 3, first + 3, first + 4]
    expected = {(f"fields.{path}", line) for path, line in zip(paths, lines, strict=True)}
    assert expected == {(one.path, one.line) for one in list_mistakes(text)}


@given(st.lists(spellings.names | st.text(max_size=6), min_size=1, max_size=4))
def test_all_prefixes_of_a_formatted_path_are_found(names: list[str]) -> None:
    """All prefixes of a formatted path are found, whatever its names contain."""
    path = tuple(names)
    above = [format_path(path[:length]) for length in range(len(path), 0, -1)]
    assert above == list(iter_path_prefixes(format_path(path)))


def test_a_wrong_option_of_a_family_of_any_name_is_reported() -> None:
    """A wrong option of a family with any name is reported with value and choices."""
    text = designs.SOUND.replace("[families.d]", '[families."x.y"]\nversion = 3\n"a.b" = 1\n')
    found = [one for one in list_mistakes(text) if one.path.startswith("families")]
    assert ['families."x.y".version', 'families."x.y"."a.b"'] == [one.path for one in found]
    assert "a column family has no such attribute" == found[0].problem
    assert "versions" in found[0].expected.removeprefix("one of ").split(", ")
    assert "Did you mean versions?" == found[0].remedy


KEY_REMEDIES = {
    "[bucket(host, 4, hash='md5')]": (
        "'md5' is not a value of hash=",
        "Write hash=md5, without quotes.",
    ),
    "[salt(host, 4)]": (
        "salt was given 1 field",
        (
            "A salt is a random number for each row. Write bucket(field, n) for a number that is "
            "computed from a field."
        ),
    ),
    "[md5(host)]": ("'md5' is not a function", "Did you mean bucket or digest?"),
    "[desc(host, ts)]": ("desc was given 2 fields", ""),
    "[desc(host, 4)]": ("desc was given 1 number", ""),
    "[host:fixed]": (
        "host:fixed has no arguments",
        "Write the number of bytes, such as host:fixed(8).",
    ),
}


@pytest.mark.parametrize("part", KEY_REMEDIES)
def test_a_mistake_in_a_key_is_one_message_with_a_remedy(part: str) -> None:
    """A mistake in a key is one message with a remedy if it is known."""
    (found,) = list_mistakes(designs.SOUND.replace("[bucket(host, 16)]", part))
    assert KEY_REMEDIES[part] == (found.problem, found.remedy)
    assert found.expected
    assert is_well_formed(found)


IMPOSSIBLE_CONDITIONS = {
    "ts > 4 and ts > 5 and ts < 3": "no value satisfies this",
    "host starts with ? and host > ?": "a prefix and a range of one field cannot be combined",
    "host starts with 5": "the prefix 5 is of the type int",
}


@pytest.mark.parametrize("where", IMPOSSIBLE_CONDITIONS)
def test_a_read_that_no_values_can_satisfy_is_reported_with_its_line(where: str) -> None:
    """A read that no values can satisfy is reported when the file is read."""
    text = designs.SOUND.replace("host = ?", where)
    (found,) = list_mistakes(text)
    line = next(n for n, one in enumerate(text.splitlines(), 1) if one.startswith("where"))
    assert ("reads[0].where", line) == (found.path, found.line)
    assert found.problem.endswith(IMPOSSIBLE_CONDITIONS[where])
    assert is_well_formed(found)


@pytest.mark.parametrize(
    ("written", "meant"), [("String", "text"), ("int", "i32"), ("double", "float64")]
)
def test_a_type_name_of_sql_or_java_suggests_a_field_type(written: str, meant: str) -> None:
    """A type name of SQL, Java or Python is refused with the field type that stands for it."""
    with pytest.raises(InvalidDesign) as caught:
        Design("t", "[host]", fields={"host": written})
    assert [f"Did you mean {meant}?"] == [one.remedy for one in caught.value.mistakes]
    assert meant in TYPES


def test_a_misspelt_field_name_is_corrected_to_a_field_that_is_itself_invalid() -> None:
    """A misspelt field name is corrected to a field whose declaration is invalid too."""
    with pytest.raises(InvalidDesign) as caught:
        Design("t", "[hosst][ts]", fields={"host": "txt", "ts": "timestamp_ms"})
    told = {mistake.path: mistake for mistake in caught.value.mistakes}
    assert "Did you mean host?" == told["key[0]"].remedy


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ('type = "text", heavy = ["z", "y", "z"]', "fields.f.heavy[2]: the value z"),
        ('type = "timestamp_s", heavy = ["2024-01-31", "2024-01-31T00:00:00Z"]',
         "fields.f.heavy[1]: the value 2024-01-31T00:00:00Z"),
        ('type = "u8", heavy = [1, "1"]', "fields.f.heavy[1]: the value 1"),
    ],
)  # fmt: skip
def test_a_heavy_value_that_is_listed_twice_is_reported(options: str, start: str) -> None:
    """A heavy value that is listed twice is reported, in any spelling."""
    text = f'table = "t"\nkey = "[f]"\n[fields]\nf = {{ {options} }}\nv = "u8"\n'
    [mistake] = list_mistakes(text)
    assert f"{start} is listed twice; expected each value once. Remove one of them." == str(mistake)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("hex_string", """the option 'kind' is unknown"""),
        ("hexstring", """the option 'kind' is unknown, and 'hexstring' is not a split algorithm"""),
    ],
)
def test_an_unknown_option_in_place_of_algorithm_is_reported(value: str, message: str) -> None:
    """An unknown option in place of `algorithm` is reported next to the missing one."""
    text = f"""table = "t"\nkey = "[a]"\nsplits = {{ kind = "{value}", regions = 4 }}\n"""
    missing, unknown = list_mistakes(f'{text}[fields]\na = "text"\n')
    assert ("splits.algorithm", "the design lacks this option") == (missing.path, missing.problem)
    assert ("splits.kind", message) == (unknown.path, unknown.problem)
    assert "hex_string" in unknown.remedy
