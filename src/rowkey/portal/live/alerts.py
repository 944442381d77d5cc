"""Alerts: a table turns hot or cools, or does not answer or answers again; noted and sent."""

from __future__ import annotations

import http.client
import json
import logging
import sqlite3
import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from rowkey.portal.links import build_path
from rowkey.render import FORMAT_VERSION, build_live_document

if TYPE_CHECKING:
    from rowkey.engines import RegionAvailability
    from rowkey.observe import LiveLoad
    from rowkey.portal.live.database import LiveDatabase

    AlertEvent = Literal["hot", "cool"]
    OutageEvent = Literal["down", "up"]


STEADY_MS = 60_000
"""Milliseconds that a table is hot, or not hot any more, before that is an alert."""
DOWN_STEADY_MS = 1_000
"""Milliseconds that a table or the cluster does not answer, or does again, before that is one."""
MAX_ALERTS = 1_000
"""Alerts that are kept, beside the last one of each table."""
MAX_SENDS, TIMEOUT_S, PAUSES_S = 3, 5.0, (1.0, 5.0)
"""Attempts to send an alert, seconds for each step of one, and seconds between them."""
RESENT_MS = 3_600_000
"""Age in milliseconds up to which an alert is sent that a stopped portal has not sent."""
_UNKNOWN_LEVELS = frozenset({"unknown"})
"""Levels that say nothing about whether a table is hot."""
_LOGGER = logging.getLogger("rowkey.portal")


@dataclass(frozen=True, slots=True)
class Alert:
    """A table has turned hot or has cooled; or it, or the whole cluster, is down or up again.

    Args:
        id: its number; it grows.
        table: the name of the table; empty for the cluster.
        event: `hot`, `cool`, `down` or `up`.
        at_ms: since when, milliseconds since 1970.
        document: what is sent.
        delivery: `none` without a URL, `waiting`, `sent` or `failed`.
    """

    id: int
    table: str
    event: str
    at_ms: int
    document: Mapping[str, Any]
    delivery: str

    @property
    def causes(self) -> list[str]:
        """The names of the causes, the strongest first."""
        return [cause["code"] for cause in self.document.get("causes", ())]

    @property
    def loads(self) -> list[str]:
        """Which requests are hot: writes, reads or both."""
        loads = (name for name in ("writes", "reads") if name in self.document)
        return [name for name in loads if self.document[name]["level"] == "hot"]

    @property
    def regions(self) -> Mapping[str, int] | None:
        """How many regions were open, and how many there were; None unless some were closed."""
        regions: Mapping[str, int] | None = self.document.get("regions")
        return regions

    @property
    def reason(self) -> str:
        """Why the table or the cluster was down, in English; empty for other alerts."""
        return str(self.document.get("reason", ""))


def build_alert_document(
    live: LiveLoad, event: AlertEvent, since_ms: int, origin: str
) -> dict[str, Any]:
    """Return what is sent of an alert: the load as `rowkey live` prints it, without regions.

    Args:
        event: hot or cool.
        since_ms: since when, milliseconds since 1970.
        origin: the begin of the portal's URLs.
    """
    load = build_live_document(live)
    names = ("format", "table", "key", "at_ms", "writes", "reads", "causes", "servers", "remarks")
    return {
        **{name: load[name] for name in names},
        "event": event,
        "since_ms": since_ms,
        "url": origin + build_path("tables", live.table, "live"),
    }


def build_outage_document(
    table: str,
    event: OutageEvent,
    since_ms: int,
    reason: str,
    regions: RegionAvailability | None,
    origin: str,
) -> dict[str, Any]:
    """Return what is sent of an alert that a table or the cluster is down, or up again.

    Args:
        table: the name of the table; empty for the cluster.
        event: down or up.
        since_ms: since when, milliseconds since 1970.
        reason: why it is down; empty if it is up.
        regions: how many regions are open, if some are closed.
        origin: the begin of the portal's URLs.
    """
    return {
        "format": FORMAT_VERSION,
        "table": table or None,
        "event": event,
        "since_ms": since_ms,
        "reason": reason,
        "regions": None if regions is None else {"open": regions.open, "total": regions.total},
        "url": origin + (build_path("tables", table, "live") if table else build_path("live")),
    }


class AlertLog:
    """The alerts of a portal, in its file."""

    def __init__(self, database: LiveDatabase) -> None:
        self._database = database

    def add(self, table: str, event: str, document: Mapping[str, Any], delivery: str) -> Alert:
        """Store an alert, which gets its number.

        Raises:
            sqlite3.Error: the file cannot be written.
            OSError: its folder cannot be created.
        """
        with self._database.change() as connection:
            row = (table, event, document["since_ms"], json.dumps(document), delivery)
            (number,) = connection.execute(
                "INSERT INTO alerts (table_name, event, at_ms, document, delivery) "
                "VALUES (?, ?, ?, ?, ?) RETURNING id",
                row,
            ).fetchone()
            connection.execute(
                f"DELETE FROM alerts WHERE id <= ? AND id NOT IN ({_LAST_ALERTS})",  # noqa: S608
                (number - MAX_ALERTS,),
            )
        return Alert(number, table, event, document["since_ms"], document, delivery)

    def note_delivery(self, alert: Alert, delivery: str) -> None:
        """Note whether an alert was sent."""
        with self._database.change() as connection:
            where = (delivery, alert.id)
            connection.execute("UPDATE alerts SET delivery = ? WHERE id = ?", where)

    def list_newest(self, count: int, table: str = "") -> list[Alert]:
        """Return the newest alerts, newest first.

        Args:
            count: how many at most.
            table: of this table only; of all if empty.
        """
        where = "table_name = ?" if table else "? = ''"
        return self._select(f"WHERE {where} ORDER BY id DESC LIMIT ?", (table, count))

    def list_last(self) -> list[Alert]:
        """Return the last alert about the load of each table, and the last about its outages."""
        return self._select(f"WHERE id IN ({_LAST_ALERTS})", ())

    def list_waiting(self, since_ms: int) -> list[Alert]:
        """Return the alerts that wait to be sent and are not older than a time."""
        return self._select("WHERE delivery = 'waiting' AND at_ms >= ? ORDER BY id", (since_ms,))

    def _select(self, condition: str, values: tuple[Any, ...]) -> list[Alert]:
        """Return the alerts that meet a condition.

        Raises:
            sqlite3.Error: the file cannot be read, or an alert in it is damaged.
        """
        with self._database.read() as connection:
            if connection is None:
                return []
            rows = connection.execute(f"SELECT {_ALERT_FIELDS} {condition}", values).fetchall()
        try:
            return [
                Alert(number, name, event, at_ms, json.loads(text), delivery)
                for number, name, event, at_ms, text, delivery in rows
            ]
        except (ValueError, TypeError) as problem:
            raise sqlite3.DatabaseError(f"an alert is damaged: {problem}") from problem


_LAST_ALERTS = "SELECT max(id) FROM alerts GROUP BY table_name, event IN ('down', 'up')"
"""The numbers of the last alerts of each table."""
_ALERT_FIELDS = "id, table_name, event, at_ms, document, delivery FROM alerts"
"""What an alert is made of."""


class AlertRule:
    """Decides when something has begun or ended: after a time in which nothing else was read.

    Args:
        steady_ms: how long it must last; None for `STEADY_MS`.
        is_on: whether the last alert was that it has begun.
    """

    def __init__(self, steady_ms: int | None = None, *, is_on: bool = False) -> None:
        self.is_on, self._steady_ms = is_on, STEADY_MS if steady_ms is None else steady_ms
        self._changed_ms: int | None = None

    def judge(self, is_on: bool, at_ms: int) -> int | None:
        """Return since when it has begun or ended; None if it has not, or not for long enough.

        Args:
            is_on: whether a reading shows it.
            at_ms: when that was, milliseconds since 1970.
        """
        if is_on == self.is_on:
            self._changed_ms = None
            return None
        if self._changed_ms is None:
            self._changed_ms = at_ms
        return self._changed_ms if at_ms - self._changed_ms >= self._steady_ms else None

    def accept(self) -> None:
        """Note that an alert was stored; until then `judge` returns it again."""
        self.is_on, self._changed_ms = not self.is_on, None


def judge_load(rule: AlertRule, live: LiveLoad) -> tuple[AlertEvent, int] | None:
    """Return whether a table has turned hot or cool and since when, if a reading shows it.

    Args:
        rule: remembers the readings before.
        live: the load after a reading that did not fail.
    """
    if {live.writes.level, live.reads.level} <= _UNKNOWN_LEVELS:
        return None
    since_ms = rule.judge(live.is_hot, live.at_ms)
    return None if since_ms is None else ("hot" if live.is_hot else "cool", since_ms)


class AlertSender:
    """Sends alerts to a URL in a thread of its own, in their order.

    Each is a POST of a JSON document. Redirects are not followed.

    Args:
        url: the URL, with http or https; None sends nothing.
        log: where the alerts are stored.
    """

    def __init__(self, url: str | None, log: AlertLog) -> None:
        self._url, self._log = url, log
        self._queue: SimpleQueue[Alert | None] = SimpleQueue()
        self._closing = Event()
        self._thread: Thread | None = None

    @property
    def first_delivery(self) -> str:
        """What the delivery of a new alert is noted as."""
        return "none" if self._url is None else "waiting"

    def send(self, alert: Alert) -> None:
        """Send an alert soon; the call does not wait."""
        if self._url is None or self._closing.is_set():
            return
        if self._thread is None:
            self._thread = Thread(target=self._run, name="rowkey alerts", daemon=True)
            self._thread.start()
        self._queue.put(alert)

    def close(self) -> None:
        """Stop sending; what waits is sent by the next portal on the same file."""
        self._closing.set()
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(TIMEOUT_S)

    def _run(self) -> None:
        """Send what is in the queue until the sender is closed."""
        while (alert := self._queue.get()) is not None and not self._closing.is_set():
            try:
                self._deliver(alert)
            except Exception:
                _LOGGER.exception("an alert of the table %s could not be sent", alert.table)

    def _deliver(self, alert: Alert) -> None:
        """Send an alert, up to three times, and note how that ended."""
        problem = ""
        for number in range(MAX_SENDS):
            if number and self._closing.wait(PAUSES_S[number - 1]):
                return
            problem = self._post(alert)
            if not problem:
                self._log.note_delivery(alert, "sent")
                return
        self._log.note_delivery(alert, "failed")
        _LOGGER.warning("an alert of the table %s was not sent: %s", alert.table, problem)

    def _post(self, alert: Alert) -> str:
        """Send an alert once; return why it failed, or an empty string."""
        assert self._url is not None, "only alerts with a URL are sent"
        parts = urlsplit(self._url)
        assert parts.hostname is not None, "the settings were checked"
        body = json.dumps({"id": alert.id, **alert.document}).encode()
        headers = {"content-type": "application/json", "user-agent": "rowkey-portal"}
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        if parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=TIMEOUT_S, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_S)
        try:
            with closing(connection):
                connection.request("POST", path, body, headers)
                status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as problem:
            return f"{type(problem).__name__}: {problem}"
        return "" if 200 <= status < 300 else f"the answer has the status {status}"
