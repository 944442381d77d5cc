"""The story of the guide on a real HBase: a hot table is moved while a client writes it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread

import rowkey
from cli.command import run
from rowkey import Design
from rowkey.table import drop_table

FIELDS = {"host": "text", "ts": "timestamp_ms", "message": "text"}


def test_a_table_is_moved_on_a_cluster_while_a_client_writes_it(
    hbase_url: str, tmp_path: Path
) -> None:
    """Rows written before, during and after a move are in the new table, under its key."""
    name = f"m{token_hex(4)}"
    old = Design(name, "[ts][host]", fields=FIELDS)
    new = Design(name, "[bucket(host, 4)][host][ts]", fields=FIELDS, splits="per_bucket")
    (tmp_path / "new.toml").write_text(new.dumps())
    written: list[int] = []
    stopped = Event()
    with rowkey.open(old, hbase_url, max_stale=2) as table:

        def write_rows() -> None:
            while not stopped.wait(0.01):
                number = len(written)
                table.put({"host": f"web-{number % 7}", "ts": number, "message": "x"})
                written.append(number)

        writer = Thread(target=write_rows)
        writer.start()
        try:
            for words in (
                ("plan", name, tmp_path / "new.toml"),
                ("run", name, tmp_path / "new.toml"),
                ("cutover", name),
                ("rollback", name),
                ("cutover", name),
                ("finish", name, "--drop-old", "--yes", name),
            ):
                found = run("move", *words, "--on", hbase_url)
                assert (0, words) == (found.code, words), found.err
        finally:
            stopped.set()
            writer.join()
            with rowkey.open(name, hbase_url) as moved:
                rows = sorted(row["ts"] for row in moved.scan())
                key, used = str(moved.design.key), moved.design.table
            with suppress(rowkey.InvalidArgument):
                drop_table(name, hbase_url)
    assert ("[bucket(host, 4)][host][ts]", f"{name}_2") == (key, used)
    assert written == rows
