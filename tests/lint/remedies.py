"""Apply the change that a remedy writes out to the design, also where the product tries none."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rowkey.design import Design
from rowkey.lint import list_remedied_designs

if TYPE_CHECKING:
    from rowkey.findings import Finding

    Words = dict[str, Any]
    Change = Callable[[Words, Finding, re.Match[str]], Iterator[Words]]

NOTATION = re.compile(
    r"\[\w+[(\]]|\[['\"]|\b[a-z_]+ = [\"\[{\w]|:\w+\.|\b(?:Take|Use|Create|at) \d|\bdesc\("
    r"|\bRemove (?:\w+_\w+|nullable|the (?:constant|family)\b)|first split|starts with"
    r"|Declare max_bytes|such as \""
)
"""What only stands in a remedy that says literally what to write."""


def apply_remedy(design: Design, finding: Finding) -> list[Design]:
    """Return the designs that a remedy writes out: one for each alternative, none if it is prose.

    Args:
        design: the design with the finding.
        finding: the finding with the remedy.
    """
    if designs := list_remedied_designs(design, finding):
        return designs
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    for pattern, change in CHANGES:
        if match := re.search(pattern, finding.remedy):
            return [_bind_design(design, each) for each in change(words, finding, match)]
    return []


def _bind_design(design: Design, words: Words) -> Design:
    """Build a design from options, with the directory of another design for its sample."""
    made = Design(**words)
    made.directory = design.directory
    return made


def _copy(words: Words) -> Words:
    copied: Words = json.loads(json.dumps(words))
    return copied


def _replace_options(words: Words, **changed: Any) -> Words:
    return {**_copy(words), **changed}


def _keep_options(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Yield the options unchanged, for a remedy that declares everything it changes."""
    del finding, match
    yield _copy(words)


def _parse_toml(text: str) -> Any:
    return tomllib.loads(f"it = {text}")["it"]


def _set_named_splits(words: Words, remedy: str) -> Words:
    """Return the options with the splits that a remedy names next to a key."""
    found = re.search(r'splits = ("\w+"|\{[^}]*\})', remedy)
    return _replace_options(words, splits=_parse_toml(found[1])) if found else _copy(words)


def _replace_part(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Replace the part of the finding by another part, or by each of two."""
    assert finding.value in words["key"]
    for part in filter(None, match.groups()):
        key = words["key"].replace(finding.value, part, 1)
        yield _replace_options(_set_named_splits(words, finding.remedy), key=key)


def _remove_part_option(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Remove an option from a part, or put a digest in front of its field."""
    bare = re.sub(rf",\s*{match[1]}", "", finding.value)
    assert bare != finding.value
    for part in (bare, f"{match[2]}[{match[3]}]"):
        key = words["key"].replace(finding.value, part, 1)
        yield _replace_options(_set_named_splits(words, finding.remedy), key=key)


def _reverse_field(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Replace `[ts]` by `[desc(ts)]`."""
    key = re.sub(rf"\[{match[1]}(:\w+)?\]", rf"[desc({match[1]}\1)]", words["key"])
    yield _replace_options(words, key=key)


def _remove_constant(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Remove a separator, and the encoding of the field before it."""
    key = words["key"].replace(match[1], "", 1)
    if match[2]:
        key = re.sub(rf"\[{match[2]}:\w+\]", f"[{match[2]}]", key)
    yield _replace_options(words, key=key)


def _set_number(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Set the number of servers, regions or buckets; per-bucket regions are buckets."""
    number = int(match[1].replace(",", ""))
    if "servers" in match[0]:
        changed = (
            _set_named_splits(words, finding.remedy) if "splits = " in finding.remedy else words
        )
        yield _replace_options(changed, cluster={**words.get("cluster", {}), "servers": number})
    elif finding.path == "key" or words["splits"] == "per_bucket":
        key, count = re.subn(
            r"(\[\w+\((?:[a-z]\w*, )*)\d+", rf"\g<1>{number}", words["key"], count=1
        )
        assert 1 == count
        yield _replace_options(_set_named_splits(words, finding.remedy), key=key)
    else:
        splits = words["splits"]
        if isinstance(splits, dict):
            yield _replace_options(words, splits={**splits, "regions": number})


def _split_path(path: str) -> list[str | int]:
    return [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]


def _set_option(words: Words, path: list[str | int], word: str, value: Any) -> Words:
    """Return the options with one more below a path, writing out fields in short form."""
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


def _set_named_option(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Set `option = value`, or each of two values, at the path of the finding."""
    path = _split_path(finding.path)[:2]
    where = path if len(path) == 2 else ["families", finding.evidence.get("family", "d")]
    for value in filter(None, match.groups()[1:]):
        yield _set_option(words, where, match[1], _parse_toml(value))


def _set_option_of_fields(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Set `option = value` on all fields of the evidence."""
    changed = words
    for field in finding.evidence["fields"]:
        changed = _set_option(changed, ["fields", field], match[1], _parse_toml(match[2]))
    yield changed


def _set_type(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Set another type of the field, and an encoding in the key."""
    name = _split_path(finding.path)[1]
    field = words["fields"][name]
    kept = {} if isinstance(field, str) else {n: v for n, v in field.items() if n in KEPT_OPTIONS}
    changed = _set_named_splits(words, finding.remedy)
    changed["fields"][name] = {**kept, "type": match[1]}
    if match[2]:
        changed["fields"][name]["width"] = int(match[2])
    if match[3]:
        changed["key"] = changed["key"].replace(f"[{name}]", f"[{name}{match[3]}]")
    yield changed


KEPT_OPTIONS = ("family", "qualifier", "at", "from", "distinct", "nullable")
"""Words of a field that do not depend on its type."""


def _remove_option(words: Words, finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """Remove the option at the path of the finding."""
    changed = _copy(words)
    *steps, last = _split_path(finding.path)
    if finding.path == "key":
        yield _replace_options(words, key=words["key"].replace(finding.value, "", 1))
        return
    here: Any = changed
    for step in steps:
        here = here[step]
    del here[last]
    yield changed


def _sort_sample(words: Words, _finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """Sort the sample by its times."""
    yield _set_option(words, ["writes"], "sort", True)


def _bound_bytes(words: Words, finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """Set a maximum length of a field."""
    yield _set_option(words, _split_path(finding.path)[:2], "max_bytes", 200)


def _move_to_own_family(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Move a field to a family of its own."""
    changed = _set_option(words, _split_path(finding.path)[:2], "family", "m")
    yield _set_option(changed, ["families", "m"], match[1], _parse_toml(match[2]))


def _remove_first_split(words: Words, _finding: Finding, _match: re.Match[str]) -> Iterator[Words]:
    """Remove the first split."""
    yield _replace_options(words, splits=words["splits"][1:])


def _set_value(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Set another value of the option at the path."""
    *steps, last = _split_path(finding.path)
    value = match[1]
    number = int(value.replace(",", "")) if value[0].isdigit() else _parse_toml(value)
    yield _set_option(words, steps, str(last), number)


def _replace_condition(words: Words, finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Replace two conditions on one field by another condition."""
    changed = _copy(words)
    (read,) = (read for read in changed["reads"] if finding.value in (read["where"], read["name"]))
    field = match[1].split()[0]
    others = [one for one in read["where"].split(" and ") if not one.startswith(field)]
    read["where"] = " and ".join([*others, match[1]])
    yield changed


def _set_placement(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Set the placement of a field."""
    yield _set_option(words, ["fields", match[1]], "at", _parse_toml(match[2]))


def _append_to_key(words: Words, _finding: Finding, match: re.Match[str]) -> Iterator[Words]:
    """Move a part or a field from a qualifier to the end of the key."""
    for part in (match[1], f"[{match[2]}]"):
        changed = _replace_options(words, key=words["key"] + part)
        changed["fields"][match[2]].pop("at", None)
        yield changed


CHANGES: list[tuple[str, Change]] = [
    (r"^Write (\[.+?\]) for the greatest first, or (\[.+?\])[.,]", _replace_part),
    (r"^Remove (as=\w+), or put (\[.+?\]) before (\w+) itself", _remove_part_option),
    (r"^Remove (\['.+?'\])(?:, and write (\w+) in its default encoding)?\.$", _remove_constant),
    (r"in that order: desc\((\w+)\)", _reverse_field),
    (r"^(?:Take|Use|Create) (\d[\d,]*)(?: regions| servers)?(?=[ ,.;])", _set_number),
    (r"^Set (\w+) = (\S+) on the columns", _set_option_of_fields),
    (r'(?:[Ss]et|such as) (\w+) = ("[^"]+")(?! on)(?:, or ("[^"]+"))?', _set_named_option),
    (r'^Declare type = "(\w+)"(?:, width = (\d+))?(?: and (:\w+))?', _set_type),
    (r"^Declare max_bytes for \w+\.", _bound_bytes),
    (r"^Declare \[sample\] path", _keep_options),
    (r"\bfamily with (\w+) = (\w+)", _move_to_own_family),
    (r"^Declare (\w+) = (true)\.$", _set_named_option),
    (r"\bset \[writes\] sort = true", _sort_sample),
    (r"^Remove the first split", _remove_first_split),
    (r"^Remove (?:the (?:constant|family)\b|\w+(?<!one)(?<!the)\b)", _remove_option),
    (r"^Set it to ([\d,]+)", _set_value),
    (r'such as ("\w+")', _set_value),
    (r"^Write (\w+ starts with '.+?')", _replace_condition),
    (r'^(?:Store|Declare) (\w+) with at = ("\w+")', _set_placement),
    (r"^Put (\[\w+\((\w+), \w+\)\]) or \w+ itself into the key", _append_to_key),
]  # fmt: skip
"""How what a remedy writes is written into the words of a design, the first that fits."""
