"""Alerts: a table that turns hot and stays so for a minute, or cools, is noted and sent."""

from __future__ import annotations

import http.client
import json
import logging
import ssl
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from rowkey.portal.links import build_path
from rowkey.render import build_live_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.observe import LiveLoad
    from rowkey.portal.live_database import LiveDatabase

    AlertEvent = Literal["hot", "cool"]

STEADY_MS = 60_000
"""Milliseconds that a table is hot, or not hot any more, before that is an alert."""
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
    """A table has turned hot, or has cooled.

    Args:
        id: its number; it grows.
        table: the name of the table.
        event: hot or cool.
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
        return [cause["code"] for cause in self.document["causes"]]

    @property
    def loads(self) -> list[str]:
        """Which requests are hot: writes, reads or both."""
        return [name for name in ("writes", "reads") if self.document[name]["level"] == "hot"]


def build_alert_document(
    live: LiveLoad, event: AlertEvent, since_ms: int, origin: str
) -> dict[str, Any]:
    """Return what is sent of an alert: the load as `rowkey live` prints it, without regions.

    Args:
        live: the load of the table.
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


class AlertLog:
    """The alerts of a portal, in its file.

    Args:
        database: the file.
    """

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
                "DELETE FROM alerts WHERE id <= ? "
                "AND id NOT IN (SELECT max(id) FROM alerts GROUP BY table_name)",
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
        """Return the last alert of each table."""
        return self._select("WHERE id IN (SELECT max(id) FROM alerts GROUP BY table_name)", ())

    def list_waiting(self, since_ms: int) -> list[Alert]:
        """Return the alerts that wait to be sent and are not older than a time."""
        return self._select("WHERE delivery = 'waiting' AND at_ms >= ? ORDER BY id", (since_ms,))

    def _select(self, condition: str, values: tuple[Any, ...]) -> list[Alert]:
        """Return the alerts that meet a condition."""
        with self._database.read() as connection:
            if connection is None:
                return []
            rows = connection.execute(f"SELECT {_ALERT_FIELDS} {condition}", values).fetchall()
        return [
            Alert(number, name, event, at_ms, json.loads(text), delivery)
            for number, name, event, at_ms, text, delivery in rows
        ]


_ALERT_FIELDS = "id, table_name, event, at_ms, document, delivery FROM alerts"
"""What an alert is made of."""


class AlertRule:
    """Decides when a table has turned hot or cool: after a minute in which nothing else was read.

    Args:
        is_hot: whether the last alert of the table was that it is hot.
    """

    def __init__(self, *, is_hot: bool = False) -> None:
        self.is_hot = is_hot
        self._changed_ms: int | None = None

    def judge(self, live: LiveLoad) -> tuple[AlertEvent, int] | None:
        """Return what has happened and since when, if a reading of the counters shows it.

        Args:
            live: the load after a reading that did not fail.
        """
        if {live.writes.level, live.reads.level} <= _UNKNOWN_LEVELS:
            return None
        if live.is_hot == self.is_hot:
            self._changed_ms = None
            return None
        if self._changed_ms is None:
            self._changed_ms = live.at_ms
        if live.at_ms - self._changed_ms < STEADY_MS:
            return None
        return ("hot" if live.is_hot else "cool"), self._changed_ms

    def accept(self, event: AlertEvent) -> None:
        """Note that an alert was stored; until then `judge` returns it again."""
        self.is_hot, self._changed_ms = event == "hot", None


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
