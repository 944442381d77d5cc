from collections.abc import Callable

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from rowkey.errors import InvalidArgument, Mistake
from rowkey.schema import (
    Constant,
    Duration,
    FieldRef,
    FunctionCall,
    Scalar,
    Term,
    find_field_refs,
    format_key,
    parse_call,
    parse_key,
)
from schema import spellings
from schema.growth import SHORTER, measure_growth


def get_refusal(text: str, read: "Callable[[str], object]" = parse_key) -> Mistake:
    """Return the message with which the parser refuses a text."""
    with pytest.raises(InvalidArgument) as caught:
        read(text)
    return caught.value.mistake


def parse_or_refuse(text: str) -> Mistake | None:
    """Return the message with which the parser refuses a text, or None."""
    try:
        parse_key(text)
    except InvalidArgument as problem:
        return problem.mistake
    return None


@given(spellings.keys)
@example((Constant("e\u0301".encode()),))
@example((Constant(b"\xc3\xa9\xff"),))
@example((FieldRef("\u0915\u093c"),))
def test_the_printed_notation_of_a_key_parses_to_the_same_terms(terms: tuple[Term, ...]) -> None:
    assert terms == parse_key(format_key(terms))


@given(spellings.keys, st.sampled_from([" ", "\n", "\t", "  \r\n "]))
def test_white_space_around_brackets_changes_nothing(terms: tuple[Term, ...], space: str) -> None:
    """White space around brackets, also line ends, changes nothing."""
    spread = space + "".join(f"[{space}{term}{space}]{space}" for term in terms)
    assert terms == parse_key(spread)


@given(spellings.draw_references())
def test_all_fields_of_a_nested_term_are_found(field: FieldRef) -> None:
    """The fields of a term are those it uses, at any depth, with repetitions."""
    term = FunctionCall("bucket", (field, FunctionCall("desc", (field,))), (16,))
    assert [field, field] == list(find_field_refs(term))


def test_the_key_of_the_design_page_parses_to_its_terms() -> None:
    """The key of the design page is a bucket, two fields and a descending time."""
    expected = (
        FunctionCall("bucket", (FieldRef("host"),), (16,)),
        FieldRef("host"),
        FieldRef("type"),
        FunctionCall("desc", (FieldRef("ts"),)),
    )
    assert expected == parse_key("[bucket(host, 16)][host][type][desc(ts)]")


def test_every_construct_of_the_key_grammar_is_parsed() -> None:
    """Encodings, durations, options of three types and constants with escapes are parsed."""
    text = r"""["log-event":fixed(16)]['a\x00\'\\é'][f(x:u32, g(), 1ms, 0, a=1h, b=hex, c='~')]"""
    options: dict[str, Scalar | str | Constant] = {
        "a": Duration(1, "h"),
        "b": "hex",
        "c": Constant(b"~"),
    }
    expected = (
        FieldRef("log-event", "fixed", (16,)),
        Constant(b"a\x00'\\\xc3\xa9"),
        FunctionCall(
            "f", (FieldRef("x", "u32"), FunctionCall("g")), (Duration(1, "ms"), 0), options
        ),
    )
    assert expected == parse_key(text)


def test_a_duration_of_1ms_is_a_millisecond() -> None:
    """1ms is a millisecond, not a minute followed by an s."""
    expected = [Duration(1, unit) for unit in ("ns", "us", "ms", "s", "m", "h", "d")]
    read = [parse_key(f"[f(1{one.unit})]")[0] for one in expected]
    assert [FunctionCall("f", (), (one,)) for one in expected] == read


def test_a_decomposed_name_equals_the_composed_name() -> None:
    """A letter with a combining accent is the same name as the accented letter."""
    assert (FieldRef("\u00e9"),) == parse_key("[e\u0301]")
    assert (FieldRef("\u00e9 x"),) == parse_key('["e\u0301 x"]')


def test_the_characters_of_a_constant_are_never_composed() -> None:
    assert (Constant("e\u0301".encode()),) == parse_key("['e\u0301']")


@given(st.permutations([("a", 1), ("b", 2), ("c", 3)]))
def test_calls_with_options_in_another_order_have_equal_hashes(
    options: list[tuple[str, int]],
) -> None:
    one, other = (
        FunctionCall("f", options=dict(options)),
        FunctionCall("f", options={"a": 1, "b": 2, "c": 3}),
    )
    assert (one, hash(one)) == (other, hash(other))


ARITHMETIC = {
    "[ts % 16]": "Write [mod(ts, 16)].",
    "[host][ ts%16 ]": "Write [mod(ts, 16)].",
    "[ts % n]": "Write [mod(ts, 16)].",
    "[MAX - ts]": "Write [desc(ts)].",
    "[MAX-ts]": "Write [desc(ts)].",
    "[Long.MAX_VALUE - ts]": "Write [desc(ts)].",
    "[9223372036854775807 - ts]": "Write [desc(ts)].",
    "[-ts]": "Write [desc(ts)].",
    "[hash(x) % n]": "Write [bucket(x, 16)].",
    "[hash(x) % 8]": "Write [bucket(x, 8)].",
    "[md5(x) % 8]": "Write [bucket(x, 8, hash=md5)].",
    "[ts / 3600]": "Write [time_bucket(ts, 1h)].",
    "[a + '_' + b]": "Write [a] and a pair of brackets for each other part.",
}


@pytest.mark.parametrize("text", ARITHMETIC)
def test_an_arithmetic_operator_in_a_key_gets_the_call_to_write_instead(text: str) -> None:
    """The remedy for an arithmetic operator is the call to write instead."""
    found = get_refusal(text)
    assert (ARITHMETIC[text], "a function call") == (found.remedy, found.expected)
    assert "contains arithmetic (character " in found.problem


@given(st.sampled_from(sorted(ARITHMETIC)), spellings.keys)
def test_the_remedy_for_an_arithmetic_operator_does_not_depend_on_other_parts(
    text: str, terms: tuple[Term, ...]
) -> None:
    """Valid parts before and after an operator change its position, not the remedy."""
    before = format_key(terms)
    alone, among = get_refusal(text), get_refusal(before + text + before)
    assert alone.remedy == among.remedy
    moved = int(alone.problem.rpartition(" ")[2].rstrip(")")) + len(before)
    assert among.problem.endswith(f"(character {moved})")


INTENDED_CALLS = {
    "[log-event]": ("'log-event' is not a plain name (character 5)", 'Write "log-event".'),
    "[f(log.event, 4)]": ("'log.event' is not a plain name (character 7)", 'Write "log.event".'),
    "[f(host, -16)]": ("'-16' has a sign (character 10)", "Write 16."),
    "[f(host, +16)]": ("'+16' has a sign (character 10)", "Write 16."),
    "[f(host, \u221216)]": ("'\u221216' has a sign (character 10)", "Write 16."),
    "[f(host, 1.5)]": ("'1.5' has a decimal point (character 10)", ""),
    "[f(host, 1.5m)]": (
        "'1.5m' has a decimal point (character 10)",
        "Use a smaller unit: 90s for 1.5m.",
    ),
    "[f(host, 1e3)]": ("'1e3' has an exponent (character 10)", "Write 1000."),
    "[f(host, 0x10)]": ("'0x10' is not a number (character 10)", ""),
    "[f(host, 007)]": ("the number 007 begins with 0 (character 10)", "Write 7."),
    "[f(host, 1234567890123456789)]": ("a number has 19 digits (character 10)", ""),
    "[f(host, 16x)]": ("'16x' is not a number (character 10)", ""),
    "[f(host, \u00b2)]": ("'\u00b2' is not a number (character 10)", ""),
    "[host:fixed()]": ("')' is not a number (character 13)", ""),
    "": ("the key is empty (character 1)", ""),
    "[]": ("a part is missing before ']' (character 2)", ""),
    "host": ("found 'host' instead of [ (character 1)", ""),
    "[host": ("found the end instead of ] (character 6)", ""),
    "[host]]": ("found ']' instead of [ (character 7)", ""),
    "[a b]": ("found 'b' instead of ] (character 4)", ""),
    "[f(host 16)]": ("found '16' instead of , (character 9)", ""),
    "[f(host,)]": ("an argument is missing after the comma (character 9)", ""),
    "[f(16, host)]": ("a field follows a number or a named option (character 8)", ""),
    "[f(a=1, 16)]": ("a number follows a named option (character 9)", ""),
    "[f(a=1, a=2)]": ("a= is given twice (character 9)", ""),
    "[f(a=)]": ("')' is not a name (character 6)", ""),
    "[host:]": ("']' is not a name (character 7)", ""),
    "[f\u00fcr(host)]": ("'f\u00fcr' is not the name of a function (character 2)", ""),
    "['']": ("a constant is empty (character 2)", ""),
    "['a]": ("a constant is not closed (character 2)", ""),
    "['a\x07']": (
        "a constant contains the unprintable character '\\x07' (character 4)",
        "Write \\x07.",
    ),
    "['\ud800']": (
        "a constant contains the unprintable character '\\ud800' (character 3)",
        "A lone surrogate has no UTF-8 bytes: write the bytes with \\xHH.",
    ),
    "['\u202e']": (
        "a constant contains the unprintable character '\\u202e' (character 3)",
        "Write \\xe2\\x80\\xae.",
    ),
    "['\\z']": ("\\z'] is not an escape sequence (character 3)", ""),
    '["a]': ("a quoted name is not closed (character 2)", ""),
    '[""]': ("the name of a field is empty (character 2)", ""),
    '["a\\b"]': ("'a\\\\b' cannot be written in a key (character 2)", ""),
    "[f(host % 16)]": (
        "a key cannot contain the operator '%' (character 9)",
        "Call a function instead: mod, bucket, desc or time_bucket.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", INTENDED_CALLS)
def test_a_syntax_error_in_a_key_names_its_position_and_remedy(text: str) -> None:
    """A syntax error names the problem, its position and, if known, the remedy."""
    found = get_refusal(text)
    assert INTENDED_CALLS[text] == (found.problem, found.remedy)
    assert found.expected


LIMITS = {
    "[a]" * 65: "at most 64",
    "[f(" + ",".join(["g()"] * 64) + ")]": "at most 64",
    "[" + "f(" * 18 + "a" + ")" * 18 + "]": "at most 16 levels",
    "[f(" + ",".join(["a"] * 65) + ")]": "at most 64",
    "[a:f(" + ",".join(["1"] * 65) + ")]": "at most 64",
    "[" + "a" * 20_000 + "]": "at most 20,000 characters",
    '["' + "a" * 201 + '"]': "at most 200 characters",
}


@pytest.mark.parametrize("text", LIMITS, ids=list(LIMITS.values()))
def test_a_key_beyond_the_size_limits_is_refused_with_the_limit(text: str) -> None:
    """Parts, calls, arguments, depth and length have limits, which the error names."""
    assert LIMITS[text] == get_refusal(text).expected


def test_a_key_at_the_size_limits_is_parsed() -> None:
    """64 parts, 64 calls, 16 nested calls and 64 arguments are parsed."""
    depth = "[" + "f(" * 16 + "a" + ")" * 16 + "]"
    many = "[f(" + ",".join(["a"] * 64) + ")]"
    counts = [len(parse_key(text)) for text in ("[a]" * 64, "[f(a)]" * 64, depth, many)]
    assert [64, 64, 1, 1] == counts


@given(st.text(max_size=60))
def test_any_text_is_parsed_as_a_key_or_refused(text: str) -> None:
    """Any text is parsed or refused with the parser's error."""
    found = parse_or_refuse(text)
    assert found is None or "(character " in found.problem


PIECES = "[](),='\"\\:%-+. \n1s\x00é\ud800"


@given(
    spellings.keys, st.lists(st.tuples(st.integers(0, 200), st.sampled_from(PIECES)), max_size=4)
)
def test_a_key_with_one_change_is_parsed_or_refused_with_a_position(
    terms: tuple[Term, ...], edits: list[tuple[int, str]]
) -> None:
    """A key with one change is parsed as another key, or refused with a position."""
    text = format_key(terms)
    for at, piece in edits:
        place = at % (len(text) + 1)
        text = text[:place] + piece + text[place + at % 3 :]
    found = parse_or_refuse(text)
    assert found is None or "(character " in found.problem


RUNS = [
    "[",
    "[ ",
    "a",
    "'",
    '"',
    "\\",
    "(",
    "f(",
    "%",
    "-",
    "a-",
    "hash",
    "MAX ",
    "1",
    " ",
    "[a/1",
    "é",
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    "before", ["", "[", "[a", "[hash(", "[a %", "[MAX -", "['", '["', "[f(a, "]
)
def test_a_long_invalid_key_is_refused_in_linear_time(before: str, run: str) -> None:
    """The time of a parse grows with the length of the text, not with its square."""
    assert measure_growth(get_refusal, before, run, 20_000) < 3 * SHORTER


def test_an_arrival_is_parsed_as_a_name_or_a_call() -> None:
    """An arrival is parsed as a word or as a call over a field."""
    expected = (FieldRef("clock"), FunctionCall("per", (FieldRef("host"),)))
    assert expected == (parse_call("clock"), parse_call(" per( host ) "))


@pytest.mark.parametrize("text", ["", "'x'", "per(host) x", "per(", "clock]", "a" * 20_001])
def test_a_text_that_is_no_call_is_refused_as_an_arrival(text: str) -> None:
    """A constant, a rest, an open call and an endless word are refused as an arrival."""
    assert get_refusal(text, parse_call).problem
