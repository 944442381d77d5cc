"""The engine tests that do not run on a real HBase, each with the reason.

What is left out is either a matter of the engines themselves or is asked of HBase another way, by
the replayed steps of `test_hbase.py` or by `tests/cluster/test_judged.py`.
"""

from __future__ import annotations

HBASE = "hbase"

NEEDS_WHOLE_TABLE = frozenset(
    {
        "test_a_dropped_table_is_refused",
        "test_a_snapshot_stays_as_it_was",
        "test_a_snapshot_keeps_its_families",
        "test_a_snapshot_knows_no_later_family",
        "test_words_are_replaced",
        "test_a_table_is_what_it_was_made",
        "test_the_largest_value_is_taken",
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
_SIZES = "A region of HBase splits when it is flushed; here only what is asked for happens."

EXCLUDED_TESTS = {
    "test_a_compaction_drops_versions_beyond_those_kept": _FLUSH,
    "test_a_minor_compaction_and_a_flush_change_no_read": _FLUSH,
    "test_kept_deletes_stay_with_their_puts": "HBase differs: `engines.differences`.",
    "test_an_entry_that_is_not_needed_is_found": _CLOCK,
    "test_a_family_forgets_on_the_millisecond": _CLOCK,
    "test_a_cell_forgets_on_the_millisecond": _CLOCK,
    "test_latest_is_now": _CLOCK,
    "test_min_versions_outlive_their_time": _LONG,
    "test_kept_deletes_go_with_the_time_to_live": _LONG,
    "test_a_scan_judges_times_by_when_it_was_opened": _LONG,
    "test_the_longest_key_is_taken": _LOCATED,
    "test_no_such_row_can_be_asked_for": _LOCATED,
    "test_tables_are_listed_and_dropped": _NAMES,
    "test_a_name_is_taken_once": _NAMES,
    "test_what_is_closed_is_refused": "The cluster's engine is every test's.",
    "test_a_scan_sees_the_moment_it_was_opened": _MOMENT,
    "test_cursors_of_one_scan_see_one_moment": _MOMENT,
    "test_a_table_is_the_same_after_reopening": "A cluster is not started anew for it.",
    "test_regions_count_writes_and_reads": _COUNTS,
    "test_a_split_divides_a_region": _COUNTS,
    "test_openings_are_told_apart": "Asked of whole tables by tests/observe/test_on_hbase.py.",
    "test_a_table_splits_by_itself": _SIZES,
    "test_one_row_is_never_split": _SIZES,
}
"""Tests that do not run on HBase, with the reasons."""


def find_hbase_bench(test: str) -> list[str]:
    """Return the bench of HBase in a list, which is empty if the test does not run on it."""
    return [] if test in EXCLUDED_TESTS else [HBASE]
