"""Tables on a real HBase are planned, compared and repaired as those of embedded engines."""

from __future__ import annotations

from contextlib import ExitStack
from secrets import token_hex

import rowkey
from move.test_undeclared_cells import check_foreign_writers, plant_damage
from move.test_verification import AT, find_kinds, skip_pause
from move.twins import DESIGNS, FIELDS, WIDE, Twins, build_row
from rowkey import Design
from rowkey.move import RepairOutcome, plan_move, repair_differences, verify_move
from rowkey.table import drop_table, rename_design


def test_tables_on_a_cluster_are_compared_and_repaired(hbase_url: str) -> None:
    """Missing, extra, changed and hidden rows are found, and are equal after the repair."""
    prefix, families = f"m{token_hex(4)}.", {"d": {"versions": 3}}
    designs = [
        Design(prefix + "tall", "[bucket(user, 4)][user][desc(at)][number]", fields=FIELDS,
               families=families, splits="per_bucket"),
        Design(prefix + "wide", "[user][at]", fields=WIDE, families=families),
        Design(prefix + "hour", "[time_bucket(at, 1h)][user][number]", fields=FIELDS,
               families=families),
    ]  # fmt: skip
    with ExitStack() as stack:
        tables = []
        for design in designs[:2]:
            tables.append(stack.enter_context(rowkey.open(design, hbase_url, max_stale=1)))
            stack.callback(drop_table, design, hbase_url)
        twins = Twins(*tables)
        for number in range(60):
            twins.write(build_row(number), AT, "s" if number == 7 else "st")
        twins.write(build_row(8, amount=1), AT + 1, "s")
        twins.write(build_row(900), AT, "t")
        twins.delete(build_row(9), AT + 500, "t")
        plan = plan_move(tables[0], designs[2])
        assert (60, True) == (plan.rows, plan.is_exact)
        assert [] == plan.select_findings("error")
        result = verify_move(*twins.states, pause=skip_pause)
        kinds = {identity[2]: kind for identity, kind in find_kinds(result).items()}
        assert {7: "missing", 8: "different", 9: "missing", 900: "extra"} == kinds
        repairs = repair_differences(*twins.states, result.differences)
        assert {RepairOutcome.REPAIRED} == {one.outcome for one in repairs}
        assert verify_move(*twins.states, pause=skip_pause).has_passed
        (row,) = tables[1].scan("number = ?", 9)
        assert build_row(9) == row


def test_undeclared_cells_are_moved_on_a_cluster_without_loss(hbase_url: str) -> None:
    """Each planted damage is found, and foreign writers lose no cell in silence."""
    prefix = f"m{token_hex(4)}."
    with ExitStack() as stack:
        tables = []
        for name in ("by_user", "by_number"):
            design = rename_design(DESIGNS[name], prefix + name)
            tables.append(stack.enter_context(rowkey.open(design, hbase_url, max_stale=1)))
            stack.callback(drop_table, design, hbase_url)
        plant_damage(Twins(*tables))
    check_foreign_writers(hbase_url, f"{prefix}t")
