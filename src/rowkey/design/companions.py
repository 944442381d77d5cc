"""Companions of a design: the design files it names, and whether they can hold the same rows."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.cells import FOREVER_S
from rowkey.design.paths import format_path
from rowkey.design.properties import choose_example_values
from rowkey.errors import DesignRefused, InvalidDesign, Mistake, Mistakes, ReadError
from rowkey.messages import pluralize, shorten_text
from rowkey.plan import DeclaredRead, Plan, choose_plan, plan_read
from rowkey.schema import STORED_OPTIONS, Condition, FieldFacts, Parameter, ReadDeclaration

if TYPE_CHECKING:
    from rowkey.design.design import Design

EXPECTED_OPTIONS = ("distinct", "draw", "mean_bytes", "unique")
"""Options of a field that only tell which values to expect."""
KEPT_OPTIONS = ("versions", "min_versions", "ttl_s", "keep_deleted")
"""Attributes of a family that decide how long its cells are kept."""


def bind_companions(design: Design, mistakes: Mistakes) -> Mapping[str, Design]:
    """Return the designs of the declared companions by name, those that could be read.

    Args:
        design: the main design; its own mistakes may have left it without a key.
        mistakes: mistakes are added here.
    """
    companions = {}
    if hasattr(design, "layout"):
        for problem, remedy in _find_unsuited_key(design):
            mistakes.add("companions", f"the design cannot have companions: {problem}", "", remedy)
    for name, file in design.declaration.companions.items():
        path = format_path(("companions", name))
        try:
            companion = type(design).read_companion(Path(normpath(design.directory / file)))
        except InvalidDesign as problem:
            mistakes.mistakes.append(_build_file_mistake(path, file, problem))
            continue
        companions[name] = companion
        if hasattr(design, "layout"):
            mistakes.mistakes += find_companion_mistakes(design, name, companion, path)
    return companions


def _build_file_mistake(path: str, file: str, problem: InvalidDesign) -> Mistake:
    """Return the mistake of a companion whose file is missing or is not a valid design."""
    first, *others = problem.mistakes
    if problem.is_unreadable:
        remedy = "Write its design there, or correct the path; it is relative to this design file."
        return Mistake(path, f"{shorten_text(file)}: {first.problem}", "a design file", remedy)
    place = f"{shorten_text(file)}:{first.line}" if first.line else shorten_text(file)
    more = f" (and {pluralize(len(others), 'more mistake')})" if others else ""
    what = f"{place} is not a valid design: {first.path}: {first.problem}{more}"
    return Mistake(path, what, "a valid design", f"Run rowkey check {file}.")


def find_serving_companion(
    design: Design, read: DeclaredRead, facts: Mapping[str, FieldFacts]
) -> str:
    """Return the companion that serves a declared read for less; empty if its own table does.

    Args:
        design: the main design.
        facts: the facts of the fields, from which its example values are.
    """
    if not design.companions:
        return ""
    designs = (design, *design.companions.values())
    try:
        plans = [_plan_example(one, read, facts) for one in designs]
    except ReadError:
        return ""
    return ["", *design.companions][choose_plan(plans, [is_index(design, one) for one in designs])]


def _plan_example(design: Design, read: DeclaredRead, facts: Mapping[str, FieldFacts]) -> Plan:
    """Return the plan of a declared read with example values.

    Raises:
        ReadError: no example values suit it.
    """
    bounds = read.build_bounds(choose_example_values(read, facts))
    return plan_read(design.build_example_key(), bounds, read.order)


def is_index(main: Design, companion: Design) -> bool:
    """Return whether a companion has only the fields of its key, and leads to the main table."""
    return companion.fields.keys() < main.fields.keys()


def build_index(companion: Design) -> Design | None:
    """Return a companion with only the fields of its key; None if it has no others.

    >>> from rowkey import Design
    >>> fields = {"user": "text", "id": "u64", "note": "text"}
    >>> list(build_index(Design("by_id", "[id][user]", fields=fields)).fields)
    ['user', 'id']
    """
    declared = companion.declaration.model_dump(by_alias=True, exclude_defaults=True)
    identity = companion.layout.identity_fields
    fields = {name: words for name, words in declared["fields"].items() if name in identity}
    if len(fields) == len(companion.fields):
        return None
    unneeded = dict.fromkeys(("reads", "writes", "sample"))
    return companion.copy_with_options(fields=fields, **unneeded)


def complete_companion(main: Design, name: str) -> Design:
    """Return the design of a companion with the load that it has as a copy of its main table.

    It gets what only the main design declares of the writes, the cluster and the values of fields,
    and the reads that it serves.

    Args:
        main: the main design.
        name: the name that the companion is declared with.
    """
    companion = main.companions[name]
    declared, own = (
        one.declaration.model_dump(by_alias=True, exclude_defaults=True)
        for one in (main, companion)
    )
    changed: dict[str, Any] = {
        one: declared[one] for one in ("writes", "cluster") if one in declared.keys() - own
    }
    fields = {
        field: {one: options[one] for one in EXPECTED_OPTIONS if one in options}
        | own["fields"][field]
        for field, options in declared["fields"].items()
        if field in own["fields"]
    }
    if fields != own["fields"]:
        changed["fields"] = fields
    names = {read.name for read in companion.reads}
    served = [
        options | _select_tests(read, companion.fields)
        for read, options in zip(main.reads, declared.get("reads", ()), strict=True)
        if read.name not in names and find_serving_companion(main, read, {}) == name
    ]
    if served:
        changed["reads"] = [*own.get("reads", ()), *served]
    return companion.copy_with_options(**changed) if changed else companion


def _select_tests(read: DeclaredRead, fields: Container[str]) -> dict[str, Any]:
    """Return the options of a read of an index, which has only some of the fields.

    Conditions on the others are tested in the rows of the main table, and rows are sorted by others
    once they are read there, so that more rows of the index may be read than the limit.
    """
    conditions = [str(one) for one in read.conditions if one.field in fields]
    order = [str(one) for one in read.order if one.field in fields]
    options = {"where": " and ".join(conditions), "order": ", ".join(order)}
    is_whole = len(conditions) == len(read.conditions) and len(order) == len(read.order)
    return options if is_whole else {**options, "limit": None}


def declare_index_gets(
    main: Design, index: Design, read: DeclaredRead, facts: Mapping[str, FieldFacts]
) -> ReadDeclaration | None:
    """Return the gets of rows that an index leads to, as a read of the main table.

    As many are expected as the limit of the read allows. None if that is not known: its limit or
    its rate is not declared, or after the gets other fields than those of the index are tested, or
    all rows sorted.

    Args:
        facts: the facts of the fields, from which its example values are.
    """
    if read.limit is None or read.rate is None or {*read.tested_fields} - {*index.fields}:
        return None
    if _plan_example(index, read, facts).needs_sort:
        return None
    tests = [Condition(name, "=", (Parameter(0),)) for name in main.layout.identity_fields]
    where = " and ".join(map(str, tests))
    rate = f"{read.rate * read.limit:.12g}/s"
    return ReadDeclaration(name=f"rows of {read.name}", where=where, rate=rate)


def find_companion_obstacle(main: Design, companions: Mapping[str, Design]) -> str | None:
    """Return why designs cannot be declared as companions of another; None if they can.

    Args:
        companions: the others by the names that they are declared with.
    """
    for problem, _ in _find_unsuited_key(main):
        return f"{main.table}: {problem}"
    for name, companion in companions.items():
        for mistake in find_companion_mistakes(main, name, companion):
            return f"{name}: {mistake.problem}"
    return None


def find_companion_mistakes(
    main: Design, name: str, companion: Design, path: str = "companions"
) -> Iterator[Mistake]:
    """Yield the reasons why a design cannot be a companion of another.

    Args:
        name: the name that the companion is declared with.
        path: where it is declared.
    """
    if companion.table != name:
        what = f"the design file is of the table {companion.table}"
        yield Mistake(path, what, f'table = "{name}"', "Declare it by the name of its table.")
    if companion.table == main.table:
        what = "it has the name of the main table"
        yield Mistake(path, what, "another name", "Give each table a name of its own.")
    if companion.declaration.companions:
        remedy = "Declare all companions in one main design."
        yield Mistake(path, "it has companions itself", "a design without companions", remedy)
    if companion.declaration.catalog != main.declaration.catalog:
        where = companion.declaration.catalog or "that of the engine"
        what = f"its catalog is {where}"
        remedy = "Declare the same catalog in both designs."
        yield Mistake(path, what, main.declaration.catalog or "that of the engine", remedy)
    for problem, remedy in _find_unsuited_key(companion):
        yield Mistake(path, problem, "", remedy)
    yield from _find_family_differences(main, companion, path)
    differences = list(_find_field_differences(main, companion))
    for what, allowed in differences:
        remedy = "Declare the fields of both designs alike."
        yield Mistake(path, what, allowed, remedy)
    if differences:
        return
    mine, other = main.layout.identity_fields, companion.layout.identity_fields
    if set(mine) != set(other):
        what = f"its rows are identified by {', '.join(other)}"
        remedy = "Make the keys of both tables from the same fields, in any order."
        yield Mistake(path, what, f"{', '.join(mine)} in any order", remedy)
        return
    yield from _find_storage_differences(main, companion, path)


def _find_unsuited_key(design: Design) -> Iterator[tuple[str, str]]:
    """Yield why rows of a design cannot be kept in step with another table, with the remedy."""
    if design.key.is_salted:
        yield (
            "its key has a random salt, so a row has no single row key",
            "Use bucket(field, n) instead of salt(n).",
        )
    if (stamp := design.layout.cell_timestamp) is not None:
        yield (
            f"the field {stamp.field.name} is the cell timestamp, which must be that of the write",
            'Store it in the key, or as at = "qualifier".',
        )
    if lossy := design.layout.lossy_key_fields:
        yield (
            f"its key has only a part of {', '.join(lossy)}, so two events could share a row",
            f"Add the whole field to the key, such as [{lossy[0]}].",
        )
    try:
        design.key.check_decodable()
    except DesignRefused as refusal:
        yield f"rows cannot be read back: {refusal.mistake.problem}", refusal.mistake.remedy


def _find_field_differences(main: Design, companion: Design) -> Iterator[tuple[str, str]]:
    """Yield what differs between the fields of two designs, and what is allowed."""
    identity = {*main.layout.identity_fields}
    missing = [name for name in main.fields if name not in companion.fields]
    if missing and companion.fields.keys() - identity:
        allowed = "all fields of the main design, or, as an index, only those of its key"
        yield f"it lacks the fields {', '.join(missing)}", allowed
    if added := [name for name in companion.fields if name not in main.fields]:
        yield f"it has further fields: {', '.join(added)}", "the fields of the main design"
    for name, field in main.fields.items():
        if (other := companion.fields.get(name)) is None:
            continue
        if other.type.name != field.type.name:
            yield f"its field {name} has the type {other.type.name}", field.type.name
            continue
        for option in STORED_OPTIONS:
            here, there = (getattr(one.declaration, option) for one in (field, other))
            if here != there:
                yield f"{option} of its field {name} is {_format(there)}", _format(here)


def _find_storage_differences(main: Design, companion: Design, path: str) -> Iterator[Mistake]:
    """Yield why rows could not be equal, or those of an index end before those of its table."""
    if is_index(main, companion):
        needed_s = max(family.ttl_s for family in main.families.values())
        for name, family in companion.families.items():
            if family.ttl_s < needed_s:
                what = f"ttl of its family {name} is {_format(family.ttl_s)}"
                allowed = f"at least {_format(needed_s)}, as in the main design"
                remedy = "A row could outlive its row in the index: declare a longer ttl there."
                yield Mistake(path, what, allowed, remedy)
        return
    here, there = _list_columns(main), _list_columns(companion)
    for column in sorted(here ^ there):
        owner = "the main design" if column in here else "the companion"
        remedy = "Declare family, qualifier and pack of each field alike in both designs."
        what = f"only {owner} stores {' and '.join(column[2]) or 'a marker'} in {column[0]}:"
        yield Mistake(path, f"{what}{column[1].decode(errors='replace')}", "", remedy)


def _find_family_differences(main: Design, companion: Design, path: str) -> Iterator[Mistake]:
    """Yield the attributes of families by which a cell could outlive its copy in another table."""
    for name in main.families.keys() & companion.families.keys():
        for option in KEPT_OPTIONS:
            mine, other = (getattr(one.families[name], option) for one in (main, companion))
            if mine != other:
                what = f"{option.removesuffix('_s')} of its family {name} is {_format(other)}"
                remedy = "A row could outlive its copy: declare the same in both designs."
                yield Mistake(path, what, f"{_format(mine)}, as in the main design", remedy)


def _list_columns(design: Design) -> set[tuple[str, bytes, tuple[str, ...], str]]:
    """Return the columns of a design: family, qualifier, fields and encoding."""
    return {
        (slot.family, slot.qualifier, slot.field_names, slot.encoding_name)
        for slot in design.layout.slots
    }


def _format(value: Any) -> str:
    """Return the value of an option as a message shows it."""
    if value is None:
        return "not declared"
    if value == FOREVER_S:
        return "unlimited"
    return str(value).lower() if isinstance(value, bool) else str(value)
