"""What a remedy writes out, applied: the design as it is once that is written into its file."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from rowkey.design import Design

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.lint import Finding

    Words = dict[str, Any]
    Change = Callable[[Words, Finding, re.Match[str]], Iterator[Words]]

WRITTEN = re.compile(
    r"\[\w+[(\]]|\[['\"]|\b[a-z_]+ = [\"\[{\w]|:\w+\.|\b(?:Take|Use|Create|at) \d|\bdesc\("
    r"|\bLeave (?:it out|out \w+|\w+_\w+ out)|first split|starts with|Declare max_bytes|such as \""
)
"""What only stands in a remedy that says literally what to write."""


def applied(design: Design, finding: Finding) -> list[Design]:
    """The designs that a remedy writes out: one for each way it names, none if it is prose.

    Args:
        design: in which it was found.
        finding: with its remedy.
    """
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    for pattern, change in CHANGES:
        if match := re.search(pattern, finding.remedy):
            return [_bound(design, each) for each in change(words, finding, match)]
    return []


def _bound(design: Design, words: Words) -> Design:
    """A design of some words, whose sample lies where that of the other does."""
    made = Design(**words)
    made.directory = design.directory
    return made


def _copy(words: Words) -> Words:
    copied: Words = json.loads(json.dumps(words))
    return copied


def _with(words: Words, **changed: Any) -> Words:
    return {**_copy(words), **changed}


def _unchanged(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """What is declared beside a remedy is all there is of it."""
    del finding, match
    yield _copy(words)


def _toml(text: str) -> Any:
    return tomllib.loads(f"it = {text}")["it"]


def _cut(words: Words, remedy: str) -> Words:
    """The words with the splits that a remedy names beside a key."""
    found = re.search(r'splits = ("\w+"|\{[^}]*\})', remedy)
    return _with(words, splits=_toml(found[1])) if found else _copy(words)


def _whole_key(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """`key = "…"`, and what is named beside it: splits, values listed as heavy."""
    changed = _with(_cut(words, finding.remedy), key=_toml(match[1]))
    if heavy := re.search(r"heavy = (\[.*?\]) under (\w+)", finding.remedy):
        field = changed["fields"][heavy[2]]
        field = {"type": field} if isinstance(field, str) else field
        changed["fields"][heavy[2]] = {**field, "heavy": json.loads(heavy[1])}
    yield changed


def _in_front(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """`[bucket(…)] in front`."""
    yield _with(_cut(words, finding.remedy), key=match[1] + words["key"])


def _second_table(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """A table with another key, for this one read."""
    reads = [read for read in words["reads"] if read["name"] == finding.value]
    yield _with(_cut(words, finding.remedy), key=_toml(match[1]), reads=reads)


def _part(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Another part of the key, or one of two, in the place of the one it is about."""
    assert finding.value in words["key"]
    for part in filter(None, match.groups()):
        key = words["key"].replace(finding.value, part, 1)
        yield _with(_cut(words, finding.remedy), key=key)


def _other_part(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """A part of the key in the place of another that is named."""
    assert match[2] in words["key"]
    yield _with(_cut(words, finding.remedy), key=words["key"].replace(match[2], match[1], 1))


def _without_option(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """A part without an option, or with a digest of it in front."""
    bare = re.sub(rf",\s*{match[1]}", "", finding.value)
    assert bare != finding.value
    for part in (bare, f"{match[2]}[{match[3]}]"):
        key = words["key"].replace(finding.value, part, 1)
        yield _with(_cut(words, finding.remedy), key=key)


def _turned(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """`desc(ts)` for `ts`."""
    key = re.sub(rf"\[{match[1]}(:\w+)?\]", rf"[desc({match[1]}\1)]", words["key"])
    yield _with(words, key=key)


def _no_constant(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """A separator less, and the field before it in its default encoding."""
    key = words["key"].replace(match[1], "", 1)
    if match[2]:
        key = re.sub(rf"\[{match[2]}:\w+\]", f"[{match[2]}]", key)
    yield _with(words, key=key)


def _number(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """So many servers, regions or buckets: where buckets are cut, regions are buckets."""
    number = int(match[1].replace(",", ""))
    if "servers" in match[0]:
        yield _with(words, cluster={**words.get("cluster", {}), "servers": number})
    elif finding.path == "key" or words["splits"] == "per_bucket":
        key, count = re.subn(
            r"(\[\w+\((?:[a-z]\w*, )*)\d+", rf"\g<1>{number}", words["key"], count=1
        )
        assert 1 == count
        yield _with(_cut(words, finding.remedy), key=key)
    else:
        splits = words["splits"]
        if isinstance(splits, dict):
            yield _with(words, splits={**splits, "regions": number})


def _steps(path: str) -> list[str | int]:
    return [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]


def _set(words: Words, path: list[str | int], word: str, value: Any) -> Words:
    """The words with one more below a path; a family or field in short form is written out."""
    changed = _copy(words)
    here: Any = changed
    for step in path:
        if isinstance(here, dict):
            here.setdefault(step, {})
        if isinstance(here[step], str):
            here[step] = {"type": here[step]}
        here = here[step]
    here[word] = value
    return changed


def _word(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """`word = value`, or one of two values, at the path of the finding."""
    path = _steps(finding.path)[:2]
    where = path if len(path) == 2 else ["families", finding.evidence.get("family", "d")]
    for value in filter(None, match.groups()[1:]):
        yield _set(words, where, match[1], _toml(value))


def _on_those(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """`word = value` on all the fields of the evidence."""
    changed = words
    for field in finding.evidence["fields"]:
        changed = _set(changed, ["fields", field], match[1], _toml(match[2]))
    yield changed


def _type(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Another type of the field, and an encoding in the key."""
    name = _steps(finding.path)[1]
    field = words["fields"][name]
    kept = {} if isinstance(field, str) else {n: v for n, v in field.items() if n in KEPT}
    changed = _cut(words, finding.remedy)
    changed["fields"][name] = {**kept, "type": match[1]}
    if match[2]:
        changed["fields"][name]["width"] = int(match[2])
    if match[3]:
        changed["key"] = changed["key"].replace(f"[{name}]", f"[{name}{match[3]}]")
    yield changed


KEPT = ("family", "qualifier", "at", "from", "distinct", "nullable")
"""Words of a field that do not depend on its type."""


def _left_out(words: Words, finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """The word at the path of the finding taken away."""
    changed = _copy(words)
    *steps, last = _steps(finding.path)
    if finding.path == "key":
        yield _with(words, key=words["key"].replace(finding.value, "", 1))
        return
    here: Any = changed
    for step in steps:
        here = here[step]
    del here[last]
    yield changed


def _row_into_front(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """A field into the key, at its end, and a bucket in front."""
    changed = _with(_cut(words, finding.remedy), key=f"{match[2]}{words['key']}[{match[1]}]")
    changed["fields"][match[1]].pop("at", None)
    yield changed


def _sorted(words: Words, _finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """A sample read by its times."""
    yield _set(words, ["writes"], "sort", True)


def _bounded(words: Words, finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """A bound for the bytes of a field."""
    yield _set(words, _steps(finding.path)[:2], "max_bytes", 200)


def _own_family(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """A field in a family of its own."""
    changed = _set(words, _steps(finding.path)[:2], "family", "m")
    yield _set(changed, ["families", "m"], match[1], _toml(match[2]))


def _splits(words: Words, finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """Other splits."""
    yield _cut(words, finding.remedy)


def _first_split(words: Words, _finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """One split less."""
    yield _with(words, splits=words["splits"][1:])


def _value(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Another value of the word at the path."""
    *steps, last = _steps(finding.path)
    value = match[1]
    number = int(value.replace(",", "")) if value[0].isdigit() else _toml(value)
    yield _set(words, steps, str(last), number)


def _condition(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Another condition in the place of two of the same field."""
    changed = _copy(words)
    (read,) = (read for read in changed["reads"] if finding.value in (read["where"], read["name"]))
    field = match[1].split()[0]
    others = [one for one in read["where"].split(" and ") if not one.startswith(field)]
    read["where"] = " and ".join([*others, match[1]])
    yield changed


def _bucket_of(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """The bucket of other fields."""
    key = re.sub(r"\[bucket\((?:[a-z]\w*, )+", f"[bucket({match[1]}, ", words["key"], count=1)
    yield _with(words, key=key)


def _placed(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Another place of a field."""
    yield _set(words, ["fields", match[1]], "at", _toml(match[2]))


def _into_the_key(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """A part, or a field itself, at the end of the key, and no longer in a qualifier."""
    for part in (match[1], f"[{match[2]}]"):
        changed = _with(words, key=words["key"] + part)
        changed["fields"][match[2]].pop("at", None)
        yield changed


CHANGES: list[tuple[str, Change]] = [
    (r'^A table with key = ("(?:[^"\\]|\\.)*")', _second_table),
    (r'\bkey = ("(?:[^"\\]|\\.)*")', _whole_key),
    (r"put (\w+) into the key and (\[.+?\]) in front", _row_into_front),
    (r"(\[\w+\([^\]]*\)\]) in front(?! of)", _in_front),
    (r"^Write (\[.+?\]) for the greatest first, or (\[.+?\])[.,]", _part),
    (r"^Write (\[.+?\]) instead of (\[.+?\])[.,]", _other_part),
    (r"^Write (\[.+?\])(?: instead)?[.,]", _part),
    (r"^Leave (as=\w+) out, or put (\[.+?\]) before (\w+) itself", _without_option),
    (r"^Leave (\['.+?'\]) out(?:, and write (\w+) in its default encoding)?\.$", _no_constant),
    (r"in that order: desc\((\w+)\)", _turned),
    (r"^(?:Take|Use|Create) (\d[\d,]*)(?: regions| servers)?(?=[ ,.;])", _number),
    (r'^(?:Write|Use) splits = ["{]', _splits),
    (r"^Set (\w+) = (\S+) on the columns", _on_those),
    (r'(?:[Ss]et|such as) (\w+) = ("[^"]+")(?! on)(?:, or ("[^"]+"))?', _word),
    (r'^Declare type = "(\w+)"(?:, width = (\d+))?(?: and (:\w+))?', _type),
    (r"^Declare max_bytes for \w+\.", _bounded),
    (r"^Declare \[sample\] path", _unchanged),
    (r"\bfamily with (\w+) = (\w+)", _own_family),
    (r"\bset \[writes\] sort = true", _sorted),
    (r"^Leave the first split out", _first_split),
    (r"^Leave (?:it|\w+) out\b|^Leave out (?:its )?\w+\b", _left_out),
    (r"^Leave it at ([\d,]+)", _value),
    (r'such as ("\w+")', _value),
    (r"^Write (\w+ starts with '.+?')", _condition),
    (r"^Compute the bucket from (.+?) alone", _bucket_of),
    (r'^(?:Store|Declare) (\w+) with at = ("\w+")', _placed),
    (r"^Put (\[\w+\((\w+), \w+\)\]) or \w+ itself into the key", _into_the_key),
]  # fmt: skip
"""How what a remedy writes is written into the words of a design, the first that fits."""
