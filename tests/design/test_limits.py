"""A hostile text is never run as a pattern, and no number of a file is allocated."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest

from design.designs import SOUND
from design.test_hostile import FILES, TRIES, mark_long
from rowkey import Design
from rowkey.errors import InvalidDesign
from rowkey.lint import check_design

SLOWER_MOST = 25
"""Times as long as a plain text of the same length a hostile one may take: a pattern that goes back
over what it has read takes thousands of times as long from a few dozen characters on."""
FELT_S = 0.5
"""Processor seconds below which a slow text is accepted, however fast the plain one is."""
ALLOCATED_MOST = 50_000_000
"""Bytes that refusing a number may allocate."""

PATTERNS = {
    r"(a+)+$": "a" * 3_000 + "!",
    r"([a-zA-Z]+)*$": "aZ" * 1_500 + "!",
    r"(a|aa)+$": "a" * 3_000 + "!",
    r"(a|a?)+$": "a" * 3_000 + "!",
    r"(.*a){12}$": "a" * 3_000 + "!",
    r"^(([a-z])+.)+[A-Z]([a-z])+$": "a" * 3_000,
    r"(\w+\s?)*$": "word " * 600 + "!",
    r"^(\d+)*x$": "1" * 3_000,
    r"^(\d+\.?)+$": "1." * 1_500 + "!",
    r"^((\d+,)*\d+,?)+$": "1," * 1_500 + "x",
    r"(x+x+)+y": "x" * 3_000,
    r"(\s*\n?)*$": " " * 3_000 + "!",
    r"\s+$": " " * 3_000 + "!",
    r"^\s*(.*)\s*,\s*(.*)\s*$": " ," * 1_500,
    r"^([^']|'')*$": "''" * 1_500 + "'",
    r"\"(\\.|[^\\])*\"": '"' + "\\" * 3_000,
    r"(-?\w)*=": "-a" * 1_500,
    r"^(([\w-]+\.)+[\w-]+)+@": "a-b." * 750,
    r"(\[(.*)\])*\]": "[" * 1_500 + "]" * 1_500,
    r"<(\w+)(\s+\w+=.*)*>": "<a b=" * 600,
}
"""Patterns with catastrophic backtracking, each with a text that causes it."""


def quote(text: str) -> str:
    """Return a text as a TOML string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def place_text(text: str) -> dict[str, str]:
    """Return the valid file with a text in each place for free text."""
    key = "'''" + text.replace("'", "") + "'''"
    said = quote(text)
    field, read = "[families.d]", 'where = "host = ?"'
    return {
        "table": SOUND.replace('"logs"', said),
        "part": SOUND.replace('"[bucket(host, 16)][host][desc(ts)]"', key),
        "constant": SOUND.replace(
            '"[bucket', '"[' + repr(text)[1:-1].replace('"', "") + "][bucket"
        ),
        "splits": SOUND.replace('"per_bucket"', said),
        "split": SOUND.replace('"per_bucket"', f"[{said}]"),
        "name": SOUND.replace(field, f'{said} = "u8"\n\n{field}'),
        "type": SOUND.replace('"timestamp_ms"', said),
        "choice": SOUND.replace(field, f"c = {{ type = 'choice', of = [{said}] }}\n\n{field}"),
        "heavy": SOUND.replace("max_bytes = 40", f"heavy = [{said}]"),
        "qualifier": SOUND.replace('"n"', said),
        "pack": SOUND.replace('qualifier = "n"', f"pack = {said}"),
        "family": SOUND.replace(field, f"[families.{said}]\n\n{field}"),
        "ttl": SOUND.replace('"30d"', said),
        "rate": SOUND.replace('"5000/s"', said),
        "arrival": SOUND.replace("rate =", f"arrival = {said}\nrate ="),
        "where": SOUND.replace(read, f"where = {said}"),
        "value": SOUND.replace(read, f"where = {quote('host = ' + repr(text))}"),
        "order": SOUND.replace('"ts desc"', said),
        "sample": f"{SOUND}\n[sample]\npath = {said}\n",
        "format": f"{SOUND}\n[sample]\npath = 'a.log'\nformat = {{ kind = {said} }}\n",
        "comment": SOUND.replace("splits =", f"# rowkey: allow {text}\nsplits ="),
        "bare": SOUND.replace('"30d"', text),
    }


def measure_judging_s(file: str) -> float:
    """Return the processor seconds that a file takes to be judged: the best of three tries.

    A try below what anybody feels is not repeated.
    """
    best_s = float("inf")
    for _ in range(TRIES):
        start = process_time()
        try:
            check_design(Design.loads(file))
        except InvalidDesign as problem:
            assert problem.mistakes  # noqa: PT017 - every refusal says why
        best_s = min(best_s, process_time() - start)
        if best_s < FELT_S:
            break
    return best_s


QUICK_PATTERNS = {
    r"(a+)+$", r"(\w+\s?)*$", r"^(\d+\.?)+$", r"^\s*(.*)\s*,\s*(.*)\s*$",
    r"\"(\\.|[^\\])*\"", r"(\[(.*)\])*\]",
}  # fmt: skip
"""One pattern of each sort of text: only `make test-long` tries the others."""


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(one, marks=() if one in QUICK_PATTERNS else pytest.mark.long)
        for one in PATTERNS
    ],
)
def test_a_text_that_looks_like_a_regular_expression_is_not_run(pattern: str) -> None:
    """A regular expression or its worst case text takes no longer than a plain text."""
    for hostile in (pattern, PATTERNS[pattern]):
        plain = place_text("abcdefgh" * (len(hostile) // 8 + 1))
        slow = {
            place: (round(took, 3), round(usual, 3))
            for place, file in place_text(hostile).items()
            if (took := measure_judging_s(file)) > FELT_S
            and took > SLOWER_MOST * (usual := measure_judging_s(plain[place]))
        }
        assert {} == slow


NUMBERS = (
    "digits", "hex_digits", "wide_number", "float", "endless_mean", "bucket_0", "bucket_minus",
    "bucket_65537", "bucket_billion", "bucket_exponent", "bucket_digits", "regions", "splits",
    "many_splits", "ttl_text", "ttl_number", "width", "max_bytes", "fixed",
)  # fmt: skip
"""Files with a number that is too large, too small or invalid."""


@pytest.mark.parametrize("name", mark_long(NUMBERS))
def test_a_huge_number_is_refused_without_allocating_memory_of_its_size(name: str) -> None:
    """Reading any number in a file allocates less than 50 MB."""
    text, message = FILES[name]
    assert isinstance(text, str)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidDesign) as caught:
            Design.loads(text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert message in str(caught.value)
    assert most < ALLOCATED_MOST
