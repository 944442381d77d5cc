"""The engine tests that do not run on a real HBase, each with the reason.

What is left out is either a matter of the engines themselves or is asked of HBase another way, by
the replayed steps of `test_hbase.py` or by `tests/cluster/test_judged.py`.
"""

from __future__ import annotations

HBASE = "hbase"

NEEDS_WHOLE_TABLE = frozenset(
    {
        "test_a_dropped_table_raises_an_error_in_every_open_store",
        "test_a_snapshot_returns_the_same_rows_each_time",
        "test_a_snapshot_keeps_its_family_attributes",
        "test_a_snapshot_does_not_have_a_family_added_later",
        "test_replacing_table_attributes_removes_the_earlier_ones",
        "test_a_created_table_has_the_families_splits_and_attributes_of_its_spec",
        "test_a_cell_of_10_mib_is_stored_and_a_larger_one_refused",
    }
)
"""Tests that need a whole table, since a part has a prefix before each row key."""

_FLUSH = "A flush of HBase drops surplus versions and what is hidden, as far as it is in memory."
_CLOCK = "The clock of a cluster does not stand still."
_LONG = "It would wait for more than two seconds."
_LOCATED = "The client cannot locate so long a row: hbase:meta holds it with the table's name."
_NAMES = "A cluster is shared: it has other tables too."
_COUNTS = "HBase counts anew when a region is opened, and each row that a scan looks at."
_MOMENT = (
    "HBase sees each region as it is when the scan comes there, and anew where it was opened anew."
)
_OPENINGS = "Asked of whole tables by tests/observe/test_on_hbase.py."
_DIFFERENCE = "HBase differs: `engines.differences`."
_SIZES = "A region of HBase splits when it is flushed; here only what is asked for happens."

EXCLUDED_TESTS = {
    "test_a_compaction_drops_surplus_versions": _FLUSH,
    "test_a_flush_and_a_minor_compaction_change_no_read": _FLUSH,
    "test_a_compaction_drops_a_kept_delete_with_the_versions_around_it": _DIFFERENCE,
    "test_a_listed_difference_that_no_longer_exists_is_found": _CLOCK,
    "test_a_cell_is_visible_until_its_family_ttl_ends": _CLOCK,
    "test_a_cell_is_visible_until_its_own_ttl_ends": _CLOCK,
    "test_a_put_without_timestamp_gets_the_time_of_the_engine": _CLOCK,
    "test_min_versions_keep_the_newest_version_after_its_ttl": _LONG,
    "test_deletes_kept_by_ttl_disappear_when_the_ttl_ends": _LONG,
    "test_a_scan_returns_cells_that_lived_when_it_was_opened": _LONG,
    "test_a_row_key_of_the_greatest_length_is_stored_and_found": _LOCATED,
    "test_a_read_of_an_empty_or_too_long_key_is_refused": _LOCATED,
    "test_a_dropped_table_is_no_longer_listed": _NAMES,
    "test_creating_an_existing_table_and_opening_a_missing_one_are_refused": _NAMES,
    "test_a_closed_table_or_engine_raises_an_error": "The cluster's engine is every test's.",
    "test_a_cursor_shows_nothing_written_after_it_was_opened": _MOMENT,
    "test_all_cursors_of_a_scan_show_the_same_point_in_time": _MOMENT,
    "test_rows_regions_and_counters_survive_reopening": "A cluster is not started anew for it.",
    "test_a_region_counts_each_mutation_as_a_write_and_each_row_as_a_read": _COUNTS,
    "test_regions_continue_to_count_after_a_split": _COUNTS,
    "test_a_split_gives_a_region_another_opening_id": _OPENINGS,
    "test_a_region_above_the_table_size_splits_in_the_middle_of_its_bytes": _SIZES,
    "test_a_region_of_one_row_is_never_split": _SIZES,
}
"""Tests that do not run on HBase, with the reasons."""


def find_hbase_bench(test: str) -> list[str]:
    """Return the bench of HBase in a list, which is empty if the test does not run on it."""
    return [] if test in EXCLUDED_TESTS else [HBASE]
