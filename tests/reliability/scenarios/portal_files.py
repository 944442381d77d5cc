"""The files of a portal: load and alerts, audit log, users, steps and designs."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path
from typing import Any, ClassVar

from argon2 import PasswordHasher

from portal.load_columns import START_MS, build_interval
from portal.portals import LOGS, build_portal, open_client
from reliability.scenarios.contract import ReadAsStored, Scenario, StoredObject
from rowkey.errors import RowkeyError
from rowkey.portal.designs.workspace import Workspace
from rowkey.portal.live.alerts import AlertLog
from rowkey.portal.live.database import LiveDatabase
from rowkey.portal.live.history import LiveHistory
from rowkey.portal.live.load_column import build_minute_columns
from rowkey.portal.tables.table_tasks import TaskFiles
from rowkey.portal.users.audit import AuditLog
from rowkey.portal.users.users import UserDirectory

ENTRIES = 12
PASSWORD = "correct horse"
STATE = ".rowkey-portal"
FAILURES = (RowkeyError, OSError, sqlite3.Error)
"""What the stores of a portal raise; its pages name the file."""


class PortalFiles(Scenario):
    """A portal's folder; `page` asks the portal for the page that shows the file."""

    refusals = FAILURES
    page = "/"
    is_written = False
    """Whether the call that writes was accepted."""

    def build(self, folder: Path) -> None:
        """Write the files of two portals, and copies of the first one as they were earlier."""
        for text, name in (("own", "closed"), ("other", "closed.other")):
            place = folder / name
            (place / "designs" / STATE).mkdir(parents=True)
            self.write(place, text, range(ENTRIES // 2))
            if text == "own":
                shutil.copytree(place, folder / "closed.earlier")
            self.write(place, text, range(ENTRIES // 2, ENTRIES))

    def write(self, place: Path, text: str, numbers: range) -> None:
        """Write entries with these numbers."""
        raise NotImplementedError

    def open(self, place: Path) -> Any:
        """Return the place: each call opens its store."""
        self.is_written = False
        return place

    def close(self, session: Any) -> None:
        """Do nothing."""

    def show_page(self, place: Path) -> str:
        """Ask for the page; a damaged file is no error of the server."""
        app = build_portal(place)
        client = open_client(app, logs_in=False)
        token = app.state.portal.sessions.create_login_token()
        login = client.get("/login", params={"token": token})
        status = (
            login.status_code if login.status_code >= 400 else client.get(self.page).status_code
        )
        return f"the page has status {status}" if status == 500 else ""

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return an empty text: the portal names the file next to what its store says."""
        return [""]


class LoadAndAlerts(PortalFiles):
    """The SQLite file with the load of tables and their alerts."""

    calls: ClassVar[tuple[str, ...]] = (
        "read load",
        "read alerts",
        "add load",
        "add alert",
        "read again",
    )

    def write(self, place: Path, text: str, numbers: range) -> None:
        """Add minutes of load, and alerts."""
        database = LiveDatabase(place / "live.sqlite")
        for number in numbers:
            self._add_load(LiveHistory(database), number)
            self._add_alert(AlertLog(database), text, number)
        database.close()

    @staticmethod
    def _add_load(history: LiveHistory, number: int) -> None:
        end_ms = START_MS + 60_000 * (number + 1)
        columns = build_minute_columns(build_interval([9], number + 1), end_ms)
        history.add("t", columns, end_ms)

    @staticmethod
    def _add_alert(alerts: AlertLog, text: str, number: int) -> None:
        document = {"since_ms": START_MS + number, "writes": {"level": "hot"}, "text": text}
        alerts.add("t", "hot", document, "none")

    def run(self, session: Path, call: str) -> str:
        """Read or add load and alerts."""
        database = LiveDatabase(session / "live.sqlite")
        history, alerts = LiveHistory(database), AlertLog(database)
        try:
            match call:
                case "add load":
                    self._add_load(history, ENTRIES)
                    return ""
                case "add alert":
                    self._add_alert(alerts, "own", ENTRIES)
                    return ""
                case "read load":
                    return self._compare_load(history, range(ENTRIES))
                case "read alerts":
                    return self._compare_alerts(alerts, range(ENTRIES))
            return self._compare_load(history, range(ENTRIES + 1)) or self._compare_alerts(
                alerts, range(ENTRIES + 1)
            )
        finally:
            database.close()

    @staticmethod
    def _compare_load(history: LiveHistory, numbers: range) -> str:
        """Return how the load differs from what was added."""
        found = [int(column.counts.sum()) for column in history.read_columns("t", 0)]
        expected = []
        for number in numbers:
            end_ms = START_MS + 60_000 * (number + 1)
            expected += build_minute_columns(build_interval([9], number + 1), end_ms)
        sums = sum(int(column.counts.sum()) for column in expected)
        if sum(found) == sums:
            return ""
        raise ReadAsStored

    @staticmethod
    def _compare_alerts(alerts: AlertLog, numbers: range) -> str:
        """Return how the alerts differ from those that were added."""
        found = [(one.at_ms, one.document.get("text")) for one in alerts.list_newest(99)]
        if found == [(START_MS + number, "own") for number in reversed(numbers)]:
            return ""
        raise ReadAsStored

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Compare load and alerts with those that were acknowledged."""
        database = LiveDatabase(place / "live.sqlite")
        try:
            for name, compare, store in (
                ("add load", self._compare_load, LiveHistory(database)),
                ("add alert", self._compare_alerts, AlertLog(database)),
            ):
                counts = [ENTRIES]
                if call == name:
                    counts = [ENTRIES + 1] if is_acknowledged else [ENTRIES, ENTRIES + 1]
                if call == "read again":
                    continue
                if not any(self._is_equal(compare, store, count) for count in counts):
                    return f"{name}: other entries than were acknowledged"
        finally:
            database.close()
        return ""

    @staticmethod
    def _is_equal(compare: Any, store: Any, count: int) -> bool:
        try:
            return not compare(store, range(count))
        except ReadAsStored:
            return False


class Audit(PortalFiles):
    """The audit log."""

    calls: ClassVar[tuple[str, ...]] = ("read", "append", "read again", "page")
    page = "/audit"

    def write(self, place: Path, text: str, numbers: range) -> None:
        """Append entries."""
        for number in numbers:
            self._get_log(place).append("ann", "save design", f"{text} {number}")

    @staticmethod
    def _get_log(place: Path) -> AuditLog:
        return AuditLog(place / "designs" / STATE / "audit.jsonl")

    def run(self, session: Path, call: str) -> str:
        """Read or append entries."""
        if call == "page":
            return self.show_page(session)
        log = self._get_log(session)
        if call == "append":
            log.append("ann", "save design", f"own {ENTRIES}")
            self.is_written = True
            return ""
        entries = log.read_page(99)[0]
        found = [(one.get("user"), one.get("target")) for one in entries]
        if self.is_written and found[:1] != [("ann", f"own {ENTRIES}")]:
            return "the newest entry is missing"
        found = [one for one in found if one != ("ann", f"own {ENTRIES}")]
        if found == [("ann", f"own {number}") for number in reversed(range(ENTRIES))]:
            return ""
        raise ReadAsStored

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Read all entries."""
        found = [one.get("target") for one in self._get_log(place).read_page(99)[0]]
        is_there = f"own {ENTRIES}" in found
        if call == "append" and is_acknowledged and not is_there:
            return "the new entry is missing"
        own = [f"own {number}" for number in reversed(range(ENTRIES))]
        return "" if [one for one in found if one in own] == own else "entries are missing"


class Users(PortalFiles):
    """The users file, which is written by hand."""

    calls: ClassVar[tuple[str, ...]] = ("read", "log in", "log in with a wrong password")

    def write(self, place: Path, text: str, numbers: range) -> None:
        """Write the file."""
        hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        password = hasher.hash(PASSWORD if text == "own" else "another")
        users = [f'[users.u{number}]\nrole = "viewer"' for number in range(numbers.stop)]
        lines = "\n".join(f'{user}\npassword = "{password}"' for user in users)
        (place / "users.toml").write_text(lines + "\n", "utf-8")

    def run(self, session: Path, call: str) -> str:
        """Read the users, or log in."""
        users = UserDirectory.read(session / "users.toml")
        if call == "read":
            found = {name: user.role.name for name, user in users.users.items()}
            if found == {f"u{number}": "VIEWER" for number in range(ENTRIES)}:
                return ""
            raise ReadAsStored
        password = PASSWORD if call == "log in" else "wrong"
        found_user = asyncio.run(users.verify("u1", password))
        if call == "log in" and found_user is None:
            raise RowkeyError("the name or the password is wrong")
        return "" if call == "log in" or found_user is None else "a wrong password was accepted"


class Steps(PortalFiles):
    """The file of the last step of a table."""

    calls: ClassVar[tuple[str, ...]] = ("read", "write", "read again")

    def write(self, place: Path, text: str, numbers: range) -> None:
        """Store a step."""
        self._get_files(place).write("logs", self._build_step(text, numbers.stop))

    @staticmethod
    def _get_files(place: Path) -> TaskFiles:
        return TaskFiles(place / "designs" / STATE / "steps")

    @staticmethod
    def _build_step(text: str, number: int) -> dict[str, Any]:
        return {
            "name": "load", "started_ms": START_MS, "finished_ms": START_MS + number,
            "details": {"rows": number, "text": text}, "mistakes": [],
        }  # fmt: skip

    def run(self, session: Path, call: str) -> str:
        """Read or store the step."""
        files = self._get_files(session)
        if call == "write":
            files.write("logs", self._build_step("own", 99))
            self.is_written = True
            return ""
        found = files.read("logs")
        if self.is_written:
            return "" if found == self._build_step("own", 99) else f"the step is {found}"
        if found is None or found == self._build_step("own", ENTRIES):
            return ""  # without a step, the page shows none
        raise ReadAsStored

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Read the step."""
        found = self._get_files(place).read("logs")
        old, new = self._build_step("own", ENTRIES), self._build_step("own", 99)
        allowed = [old] if call == "read" else [new] if is_acknowledged else [old, new]
        return "" if call == "read again" or found in allowed else f"the step is {found}"


class Designs(PortalFiles):
    """A design file of the workspace, which is edited by hand too."""

    calls: ClassVar[tuple[str, ...]] = ("list", "read", "write", "read again", "page")
    page = "/designs/kept.toml"

    def write(self, place: Path, text: str, numbers: range) -> None:
        """Write the design."""
        content = f"# {text} {numbers.stop}\n{LOGS}"
        (place / "designs" / "kept.toml").write_text(content, "utf-8")

    def run(self, session: Path, call: str) -> str:
        """Read or save the design."""
        if call == "page":
            return self.show_page(session)
        workspace = Workspace(session / "designs")
        if call == "list":
            workspace.list_files()
            return ""
        if self.is_written:
            design = workspace.read("kept.toml")
            return "" if design.text == f"# new\n{LOGS}" else "the saved text is missing"
        file = workspace.read("kept.toml")
        if call == "write":
            workspace.write("kept.toml", f"# new\n{LOGS}", file.etag)
            self.is_written = True
            return ""
        workspace.read_design(file)
        if file.text == f"# own {ENTRIES}\n{LOGS}":
            return ""
        raise ReadAsStored

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Read the design."""
        found = Workspace(place / "designs").read("kept.toml").text
        old, new = f"# own {ENTRIES}\n{LOGS}", f"# new\n{LOGS}"
        allowed = [new] if is_acknowledged and call == "write" else [old]
        return "" if found in ([*allowed, new] if call == "write" else allowed) else found[:80]


_AUDIT = f"designs/{STATE}/audit.jsonl"
_STEP = f"designs/{STATE}/steps/logs"
_BY_HAND = "It is a text that people edit: other text that is valid is taken for an edit."
OBJECTS = (
    StoredObject(
        "portal-live", "load and alerts of a portal", LoadAndAlerts, ("live.sqlite",),
        ("live.sqlite*",), (),
        "SQLite pages have no checksum: other counts and texts that are valid cannot be told.",
    ),
    StoredObject(
        "portal-audit", "audit log of a portal", Audit, (_AUDIT,), (), (),
        "A line of JSON has no checksum. Lines that cannot be read are left out. "
        "While the log cannot be written, a login, which it must record, ends in an error page.",
    ),
    StoredObject(
        "portal-users", "users of a portal", Users, ("users.toml",), (), (), _BY_HAND
    ),
    StoredObject(
        "portal-step", "last step of a table in a portal", Steps, (f"{_STEP}.json",),
        (f"{_STEP}.json", f"{_STEP}.part"), (),
        "It is shown only. A file that cannot be read is shown as no step.",
    ),
    StoredObject(
        "portal-design", "design file of a portal", Designs, ("designs/kept.toml",),
        ("designs/kept.toml", "designs/.*.part"), (), _BY_HAND,
    ),
)  # fmt: skip
