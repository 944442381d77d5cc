"""What of the rows of two tables with different designs can be compared, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rowkey.cells import Family
from rowkey.errors import Mistakes
from rowkey.keys import Field, Key, build_key
from rowkey.schema import FieldRef
from rowkey.table import CarriedColumns, GenerationState


@dataclass(frozen=True, slots=True)
class FieldRule:
    """How one field of two tables is compared.

    Args:
        number: distinguishes it from the other fields in a hash.
        versions: how many of its newest versions are compared.
        has_timestamp: whether their timestamps are compared as well.
    """

    field: Field
    number: int
    versions: int
    has_timestamp: bool


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """How the rows of two tables with the same fields are compared.

    Args:
        identity_key: the key that encodes the identity of a row for both tables: all fields of the
            identity, in the order of their names, in their default encodings.
        fields: the rules of the fields that both store in cells, by name.
        timestamp_field: the rule of the field that both store in the timestamps of cells, or None.
        skips_empty_rows: whether rows without any of `fields` are left out, because only one of the
            designs marks them with a cell that deletes of fields do not remove.
        carried: the columns whose undeclared cells are compared as well, with their timestamps.
        family_versions: how many of their newest versions are compared, by family.
    """

    identity_key: Key
    fields: Mapping[str, FieldRule]
    timestamp_field: FieldRule | None
    skips_empty_rows: bool
    carried: CarriedColumns
    family_versions: Mapping[str, int]

    @property
    def versions(self) -> int:
        """The greatest number of versions that is compared of a field or an undeclared cell."""
        versions = [rule.versions for rule in self.fields.values()]
        return max([*versions, *self.family_versions.values()], default=1)

    def count_versions(self, family: str, name: bytes) -> int:
        """Return how many of the newest versions are compared of the cells of a column.

        Args:
            name: the qualifier without the prefix of its event.
        """
        return self.family_versions[family] if self.carried.has_column(family, name) else 0

    @property
    def fields_without_timestamp(self) -> tuple[str, ...]:
        """The fields of which only the newest value is compared, without its timestamp.

        The tables pack them with different fields into a cell, which has one timestamp for all.
        """
        return tuple(name for name, rule in self.fields.items() if not rule.has_timestamp)


def build_comparison_rules(source: GenerationState, target: GenerationState) -> ComparisonRules:
    """Return how the rows of two tables are compared; both have the same fields and identities.

    Cost: one read of the families of each table.
    """
    layouts = [state.combined_design.layout for state in (source, target)]
    slots = [
        {name: slot for slot in layout.slots for name in slot.field_names} for layout in layouts
    ]
    kept = [_count_versions(state) for state in (source, target)]
    identity = frozenset(layouts[0].identity_fields)
    numbers = {name: number for number, name in enumerate(sorted(layouts[0].fields))}
    rules = {}
    for name in sorted((slots[0].keys() & slots[1].keys()) - identity):
        pair = [one[name] for one in slots]
        has_timestamp = {*pair[0].field_names} == {*pair[1].field_names}
        versions = min(one[slot.family] for one, slot in zip(kept, pair, strict=True))
        rules[name] = FieldRule(
            layouts[0].fields[name],
            numbers[name],
            versions if has_timestamp else 1,
            has_timestamp,
        )
    terms = tuple(FieldRef(name) for name in sorted(identity))
    identity_key = build_key(terms, layouts[0].fields, Mistakes())
    assert identity_key is not None, "the fields are bound, and each can be in a key"
    marked = [any(not slot.fields for slot in layout.slots) for layout in layouts]
    stamps = [layout.cell_timestamp for layout in layouts]
    timestamp_rule = None
    if stamps[0] is not None and stamps[1] is not None:
        field = stamps[0].field
        timestamp_rule = FieldRule(field, numbers[field.name], 1, has_timestamp=False)
    carried = CarriedColumns.from_designs(source.combined_design, target.combined_design)
    return ComparisonRules(
        identity_key,
        rules,
        timestamp_rule,
        marked[0] != marked[1],
        carried,
        {name: min(one[name] for one in kept) for name in carried.carried_families},
    )


def _count_versions(state: GenerationState) -> dict[str, int]:
    """Return how many versions of a cell each family shows; of merged copies only the newest."""
    families: tuple[Family, ...] = state.writer.store.families_and_attributes[0]
    return {one.name: 1 if state.has_row_copies else one.versions for one in families}
