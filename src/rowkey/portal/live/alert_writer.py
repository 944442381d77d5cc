"""Stores alerts and sends them, each once."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rowkey.engines import RegionAvailability, get_time_ms
from rowkey.portal.live.alerts import (
    DOWN_STEADY_MS,
    RESENT_MS,
    AlertRule,
    build_alert_document,
    build_outage_document,
    judge_load,
)

if TYPE_CHECKING:
    from rowkey.observe import LiveLoad
    from rowkey.portal.live.alerts import AlertLog, AlertSender, OutageEvent
    from rowkey.portal.live.watched_table import WatchedTable


_LOGGER = logging.getLogger("rowkey.portal")


class AlertWriter:
    """Stores and sends alerts of what readings show, also after the portal was started again.

    Args:
        origin: the begin of the portal's URLs.
    """

    def __init__(self, log: AlertLog, sender: AlertSender, origin: str) -> None:
        self.log, self._sender, self._origin = log, sender, origin
        self._last_events: dict[tuple[str, bool], str] = {}
        self.cluster_rule = AlertRule(DOWN_STEADY_MS)
        """Decides whether the cluster is down."""
        self.problem = ""
        """Why the file with load and alerts could not be used; empty if it could."""

    def start(self) -> None:
        """Learn which alerts were the last, so that none comes twice, and send those that wait."""
        try:
            self._last_events = {
                (one.table, one.event in ("down", "up")): one.event for one in self.log.list_last()
            }
            for alert in self.log.list_waiting(get_time_ms() - RESENT_MS):
                self._sender.send(alert)
        except sqlite3.Error as problem:
            self.note_problem(problem)
        self.cluster_rule.is_on = self._last_events.get(("", True)) == "down"

    def close(self) -> None:
        """Send no more; closing twice is harmless."""
        self._sender.close()

    def build_rules(self, name: str) -> tuple[AlertRule, AlertRule]:
        """Return the rules that decide when a table is reported as hot, and when as down."""
        is_hot = self._last_events.get((name, False)) == "hot"
        is_down = self._last_events.get((name, True)) == "down"
        return AlertRule(is_on=is_hot), AlertRule(DOWN_STEADY_MS, is_on=is_down)

    def write_load_alert(self, table: WatchedTable, live: LiveLoad) -> None:
        """Store and send an alert, if the load of a table shows one."""
        found = judge_load(table.load_rule, live)
        if found is not None:
            event, since_ms = found
            document = build_alert_document(live, event, since_ms, self._origin)
            self._write(table.name, table.load_rule, event, document)

    def write_outage_alert(
        self,
        name: str,
        rule: AlertRule,
        *,
        is_down: bool,
        reason: str = "",
        regions: RegionAvailability | None = None,
    ) -> None:
        """Store and send an alert, if a table or the cluster is down, or up again, for a while.

        Args:
            name: the name of the table; empty for the cluster.
            rule: decides about it.
            regions: how many of its regions are open, if some are closed.
        """
        since_ms = rule.judge(is_down, get_time_ms())
        if since_ms is not None:
            event: OutageEvent = "down" if is_down else "up"
            document = build_outage_document(name, event, since_ms, reason, regions, self._origin)
            self._write(name, rule, event, document)

    def _write(
        self, name: str, rule: AlertRule, event: str, document: Mapping[str, object]
    ) -> None:
        """Store an alert, and send it; one that cannot be stored is tried again."""
        try:
            alert = self.log.add(name, event, document, self._sender.first_delivery)
        except (sqlite3.Error, OSError) as problem:
            self.note_problem(problem)
            return
        rule.accept()
        self._last_events[name, event in ("down", "up")] = event
        self._sender.send(alert)

    def note_problem(self, problem: Exception) -> None:
        """Note that the file cannot be used, and log it once."""
        if str(problem) != self.problem:
            self.problem = str(problem)
            _LOGGER.error("the file with load and alerts cannot be used: %s", problem)
