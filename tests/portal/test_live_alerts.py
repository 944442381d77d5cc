from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from portal.test_simulate import wait_until
from rowkey.observe import LiveLoad, LoadBalance, TableWatch
from rowkey.portal.live import alerts
from rowkey.portal.live.alert_writer import AlertWriter
from rowkey.portal.live.alerts import (
    AlertLog,
    AlertRule,
    AlertSender,
    build_alert_document,
    judge_load,
)
from rowkey.portal.live.database import LiveDatabase

MINUTE_MS = 60_000


def build_load(level: str, at_ms: int = 0, reads: str = "even") -> LiveLoad:
    """Return the load of a table whose writes have some level."""
    live = TableWatch("logs", None).build_live_load(at_ms)
    balances = [LoadBalance(one, 1_000, 3, 2.5, 1.1, 3, "rs1,16020,1") for one in (level, reads)]
    return replace(live, writes=balances[0], reads=balances[1])


def judge_levels(levels: str, step_ms: int = 20_000) -> list[tuple[int, str, int]]:
    """Return the alerts of levels by their first letter, each with its number and begin."""
    names = {"h": "hot", "w": "warm", "e": "even", "i": "idle", "t": "thin", "?": "unknown"}
    rule = AlertRule()
    found: list[tuple[int, str, int]] = []
    for number, letter in enumerate(levels):
        reads = "unknown" if letter == "?" else "even"
        event = judge_load(rule, build_load(names[letter], number * step_ms, reads))
        if event is not None:
            rule.accept()
            found.append((number, event[0], event[1] // step_ms))
    return found


@pytest.mark.parametrize("document", ["'{'", "NULL"])
def test_an_alert_that_is_no_json_is_reported_as_a_damaged_file(
    tmp_path: Path, document: str
) -> None:
    """An alert that is no JSON is reported as damage of the file, as the pages expect it."""
    log = AlertLog(LiveDatabase(tmp_path / "live.sqlite"))
    log.add("logs", "hot", {"since_ms": 1}, "none")
    for change in (  # damage knows no constraint
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')",
        f"UPDATE alerts SET document = {document}",
    ):
        with closing(sqlite3.connect(tmp_path / "live.sqlite")) as connection:
            connection.executescript(change)
    with pytest.raises(sqlite3.DatabaseError, match="an alert is damaged"):
        log.list_newest(1)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ("eeeeee", []),
        ("hhhh", [(3, "hot", 0)]),
        ("hhhehhhehhh", []),
        ("ehhhhhhhh", [(4, "hot", 1)]),
        ("hhhhehehehhhh", [(3, "hot", 0)]),
        ("hhhheeee", [(3, "hot", 0), (7, "cool", 4)]),
        ("hhhhiwte", [(3, "hot", 0), (7, "cool", 4)]),
        ("hhhh????h", [(3, "hot", 0)]),
        ("h??h", [(3, "hot", 0)]),
        ("hhhheeeehhhh", [(3, "hot", 0), (7, "cool", 4), (11, "hot", 8)]),
    ],
)
def test_an_alert_is_raised_once_after_a_table_was_hot_for_a_minute(
    levels: str, expected: list[tuple[int, str, int]]
) -> None:
    """An alert comes after a full minute, once; a level that comes and goes is none."""
    assert expected == judge_levels(levels)


def test_a_table_with_only_hot_reads_raises_an_alert() -> None:
    """A table whose reads alone are hot is an alert."""
    rule = AlertRule()
    assert judge_load(rule, build_load("even", 0, "hot")) is None
    assert ("hot", 0) == judge_load(rule, build_load("idle", MINUTE_MS, "hot"))


class Receiver:
    """A server that notes the alerts that it is sent.

    Args:
        statuses: the status of each answer; 200 after them.
    """

    def __init__(self, statuses: list[int]) -> None:
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.is_open = Event()
        self.is_open.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.received.append((self.path, json.loads(body)))
                receiver.is_open.wait(10)
                self.send_response(statuses.pop(0) if statuses else 200)
                self.send_header("location", "/other")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?key=1"


@contextmanager
def run_receiver(*statuses: int) -> Iterator[Receiver]:
    """Run a receiver for the time of a `with` block."""
    receiver = Receiver(list(statuses))
    thread = Thread(target=receiver.server.serve_forever, args=(0.01,))
    thread.start()
    yield receiver
    receiver.server.shutdown()
    thread.join()
    receiver.server.server_close()


def add_alert(
    log: AlertLog, event: str = "hot", delivery: str = "waiting", table: str = "logs"
) -> Any:
    """Store an alert, and return it."""
    load = replace(build_load("hot"), table=table)
    document = build_alert_document(load, "hot", 5, "http://portal")
    return log.add(table, event, document, delivery)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AlertLog]:
    """An empty log, with no pauses between attempts."""
    monkeypatch.setattr(alerts, "PAUSES_S", (0.0, 0.0))
    database = LiveDatabase(tmp_path / "live.sqlite")
    yield AlertLog(database)
    database.close()


@pytest.mark.parametrize(
    ("statuses", "attempts", "delivery"),
    [
        ([204], 1, "sent"),
        ([500, 503], 3, "sent"),
        ([500, 500, 500], 3, "failed"),
        ([302, 302, 307], 3, "failed"),
    ],
)
def test_an_alert_is_sent_at_most_three_times(
    log: AlertLog, statuses: list[int], attempts: int, delivery: str
) -> None:
    """A POST of JSON is repeated until it is answered with success; no redirect is followed."""
    with run_receiver(*statuses) as receiver:
        sender = AlertSender(receiver.url, log)
        alert = add_alert(log)
        sender.send(alert)
        wait_until(lambda: log.list_newest(1)[0].delivery != "waiting")
        sender.close()
    assert [("/hook?key=1", alert.id)] * attempts == [
        (path, body["id"]) for path, body in receiver.received
    ]
    body = receiver.received[0][1]
    figures = body["table"], body["event"], body["since_ms"], body["writes"]["level"], body["url"]
    assert ("logs", "hot", 5, "hot", "http://portal/tables/logs/live") == figures
    assert "regions" not in body
    assert delivery == log.list_newest(1)[0].delivery


def test_an_unreachable_alert_server_delays_nothing(log: AlertLog) -> None:
    """Sending returns at once, and what fails is noted."""
    with run_receiver() as receiver:
        receiver.is_open.clear()
        sender = AlertSender(receiver.url, log)
        for _ in range(5):
            sender.send(add_alert(log))
        wait_until(lambda: bool(receiver.received))
        assert ["waiting"] * 5 == [one.delivery for one in log.list_newest(10)]
        receiver.is_open.set()
        wait_until(lambda: {"sent"} == {one.delivery for one in log.list_newest(10)})
        sender.close()
    gone = AlertSender(receiver.url, log)
    gone.send(add_alert(log))
    wait_until(lambda: log.list_newest(1)[0].delivery == "failed")
    gone.close()


def test_alerts_without_a_url_are_stored_and_not_sent(log: AlertLog) -> None:
    """Alerts are stored, and there is no thread."""
    sender = AlertSender(None, log)
    sender.send(add_alert(log, delivery=sender.first_delivery))
    assert ("none", None) == (log.list_newest(1)[0].delivery, sender._thread)
    sender.close()


def test_the_alert_log_keeps_the_newest_and_the_last_of_each_table(
    log: AlertLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest alerts are kept, and the last one of each table however old it is."""
    monkeypatch.setattr(alerts, "MAX_ALERTS", 3)
    add_alert(log, table="old")
    for _ in range(9):
        add_alert(log)
    assert ["logs"] * 3 + ["old"] == [one.table for one in log.list_newest(100)]
    assert ["old"] == [one.table for one in log.list_newest(100, "old")]
    assert {"old", "logs"} == {one.table for one in log.list_last()}


def test_an_alert_is_read_back_as_it_was_stored(log: AlertLog) -> None:
    """What is read back is equal to what was stored."""
    assert [add_alert(log)] == log.list_waiting(5) == log.list_last()
    assert [] == log.list_waiting(6)


def test_a_table_that_reappears_gets_no_alert_twice(log: AlertLog) -> None:
    """A table that was missing from a list, or created again, gets no alert twice."""
    writer = AlertWriter(log, AlertSender(None, log), "http://portal")
    writer.start()
    for is_down in (True, False, True):
        _, rule = writer.build_rules("logs")
        assert rule.is_on is not is_down
        at_once = AlertRule(0, is_on=rule.is_on)
        writer.write_outage_alert("logs", at_once, is_down=is_down)
    assert ["down", "up", "down"] == [one.event for one in log.list_newest(9)][::-1]
