"""The catalog `zookeeper`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import parse_qsl, quote, unquote

from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.catalog.contract import NOTES_REMEDY, Catalog, check_removal, check_version
from rowkey.catalog.entry_document import format_entry, parse_entry
from rowkey.errors import (
    Closed,
    Conflict,
    CorruptionError,
    InvalidArgument,
    NotSupported,
    Unavailable,
)
from rowkey.messages import format_value, suggest_name
from rowkey.zookeeper import ZnodeChange, ZooKeeperDenied, ZooKeeperUnreachable

if TYPE_CHECKING:
    from rowkey.zookeeper import Znode, ZooKeeperSession

MAX_DOCUMENT_BYTES = 1_000_000
"""Limit of a document. ZooKeeper closes the connection on a request of more than 1,048,575 bytes,
which also holds a path, an access list and a header. Source: jute.maxbuffer."""
TOO_LARGE_HINT = (
    'ZooKeeper stores no larger document (jute.maxbuffer). Write catalog = "table" in the design.'
)
RETRY_HINT = "Check that ZooKeeper runs and can be reached, then try again."
DENIED_HINT = "Check the access list (ACL) of the znode and the state of the servers."
UNCHANGED_HINT = "Nothing was changed."
UNKNOWN_OUTCOME_HINT = "Whether this write was carried out is not known: read the entry again."

URL_FORMAT = "zookeeper://HOST[:PORT],…[/NODE][?timeout=5s]"
DEFAULT_ROOT = "/rowkey"
DEFAULT_TIMEOUT_S = 5.0
MIN_TIMEOUT_S, MAX_TIMEOUT_S = 0.01, 600.0
_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}


class ZooKeeperCatalog(Catalog):
    """One znode for each table: `zookeeper://zk1,zk2:2181/rowkey?timeout=5s`.

    All processes that reach ZooKeeper share it, whichever engine has the tables. Each call returns
    or raises within the timeout, 5 s unless the URL gives another, whatever happens to ZooKeeper.
    All catalogs of a process share a session with an ensemble, which is renewed in the background
    when it is lost. Everyone may read and write the znodes.

    Args:
        ensemble: the servers, the root znode and the timeout.
    """

    name = "zookeeper"

    def __init__(self, ensemble: Ensemble) -> None:
        from rowkey.zookeeper import ZooKeeperSession  # loads kazoo

        self._ensemble = ensemble
        self._tables_path, self._notes_path = f"{ensemble.root}/tables", f"{ensemble.root}/notes"
        self._acquired_session: ZooKeeperSession | None = ZooKeeperSession.acquire(ensemble.hosts)
        self._watch_stops: list[Callable[[], None]] = []
        self._last_read_versions: dict[str, tuple[int, int]] = {}

    @classmethod
    def open(cls, location: str) -> ZooKeeperCatalog:
        """Open the catalog in a znode of the ZooKeeper servers that a URL names."""
        return cls(parse_ensemble(location))

    def read(self, table: str) -> CatalogEntry | None:
        path = _build_node_path(self._tables_path, table)
        with self._translate_errors(path):
            (znode,) = self._session.read_znodes((path,), self._compute_deadline_s())
        if znode is None:
            return None
        entry = parse_entry(znode.data, table, self._format_node(path))
        self._last_read_versions[table] = entry.version, znode.creation_id
        return entry

    def write(self, table: str, entry: CatalogEntry, expected_version: int | None) -> int:
        """Replace the entry of a table by compare-and-set; return its new version.

        If the answer to a write is lost, the znode is read to find out: each document has an id of
        its write. If that takes longer than the timeout, the error says the outcome is unknown.

        Cost: two round trips and one write of ZooKeeper's log.
        """
        path, version, until = (
            _build_node_path(self._tables_path, table),
            (expected_version or 0) + 1,
            self._compute_deadline_s(),
        )
        data = format_entry(entry, table, version, token_hex(8)).encode()
        self._check_size(path, data)
        write_state = _WriteState()
        with self._translate_errors(path, write_state):
            while True:
                # A removal changes the folder's version, so the folder is read before the entry.
                folder, znode = self._session.read_znodes((self._tables_path, path), until)
                if znode is not None and znode.data == data:
                    break  # an earlier attempt has written it
                self._check_entry(table, path, znode, expected_version, write_state)
                if folder is None:
                    self._make_folder(self._tables_path, until)
                    continue
                steps = _build_replace_steps(path, data, znode, self._tables_path, folder)
                if self._change_nodes(steps, until, write_state):
                    break
        self._last_read_versions.pop(table, None)
        return version

    def _check_entry(
        self,
        table: str,
        path: str,
        node: Znode | None,
        expected_version: int | None,
        write_state: _WriteState,
    ) -> None:
        """Raise an error if the entry is not the one that the write expects.

        Raises:
            Conflict: another client has written it.
            Unavailable: another client has written it, perhaps after a write of this one whose
                outcome is unknown.
        """
        version = (
            None if node is None else parse_entry(node.data, table, self._format_node(path)).version
        )
        own_versions = expected_version, (expected_version or 0) + 1
        if write_state.is_unknown and version not in own_versions:
            what = (
                "the connection was lost during a write, and another client wrote the entry since"
            )
            raise Unavailable(self._format_node(path), what, remedy=UNKNOWN_OUTCOME_HINT)
        check_version(table, version, expected_version)
        last_read = self._last_read_versions.get(table)
        if (
            node is not None
            and last_read is not None
            and last_read[0] == version
            and last_read[1] != node.creation_id
        ):
            what, allowed = "its entry was removed and created again", "the entry that was read"
            remedy = "Read the entry again, then repeat the change."
            raise Conflict(f"table {table}", what, allowed, remedy)

    def remove(self, table: str, expected_version: int | None = None) -> None:
        path, notes_path, until = (
            _build_node_path(self._tables_path, table),
            _build_node_path(self._notes_path, table),
            self._compute_deadline_s(),
        )
        creation_id, write_state = None, _WriteState()
        with self._translate_errors(path, write_state):
            while True:
                znode, notes = self._session.read_znodes((path, notes_path), until)
                if znode is not None and creation_id not in (None, znode.creation_id):
                    return  # it was removed, and another one was created since
                if znode is not None and expected_version is not None:
                    version = parse_entry(znode.data, table, self._format_node(path)).version
                    check_removal(table, version, expected_version)
                steps = _build_remove_steps(path, znode, notes_path, notes, self._tables_path)
                if not steps or self._change_nodes(steps, until, write_state):
                    self._last_read_versions.pop(table, None)
                    return
                creation_id = None if znode is None else znode.creation_id

    def read_notes(self, table: str) -> dict[str, str]:
        path = _build_node_path(self._notes_path, table)
        with self._translate_errors(path):
            (znode,) = self._session.read_znodes((path,), self._compute_deadline_s())
        return self._parse_notes(path, znode)

    def write_note(self, table: str, note_name: str, text: str | None) -> None:
        path, until, write_state = (
            _build_node_path(self._notes_path, table),
            self._compute_deadline_s(),
            _WriteState(),
        )
        with self._translate_errors(path, write_state):
            while True:
                folder, znode = self._session.read_znodes((self._notes_path, path), until)
                old_notes = self._parse_notes(path, znode)
                notes = {key: value for key, value in old_notes.items() if key != note_name}
                notes |= {} if text is None else {note_name: text}
                data = json.dumps(notes, ensure_ascii=False).encode()
                self._check_size(path, data)
                if folder is None:
                    self._make_folder(self._notes_path, until)
                    continue
                step = ZnodeChange("create", path, data)
                if znode is not None:
                    step = ZnodeChange("set", path, data, znode.version)
                if notes == old_notes or self._change_nodes([step], until, write_state):
                    return

    def _parse_notes(self, path: str, node: Znode | None) -> dict[str, str]:
        """Return the notes of a table from the JSON object in their znode.

        Raises:
            CorruptionError: the znode does not contain one.
        """
        if node is None:
            return {}
        url, allowed = self._format_node(path), "a JSON object of names and texts"
        try:
            notes = json.loads(node.data)
        except (ValueError, RecursionError) as problem:
            what = f"the progress of the table's loads is not valid JSON: {problem}"
            raise CorruptionError(url, what, allowed, NOTES_REMEDY) from problem
        if not isinstance(notes, dict):
            what = (
                f"the progress of the table's loads is not a JSON object but {format_value(notes)}"
            )
            raise CorruptionError(url, what, allowed, NOTES_REMEDY)
        return {str(name): str(text) for name, text in notes.items()}

    def list_tables(self) -> list[str]:
        with self._translate_errors(self._tables_path):
            return sorted(
                map(
                    unquote,
                    self._session.list_children(self._tables_path, self._compute_deadline_s()),
                )
            )

    def watch(self, table: str, callback: Callable[[], None]) -> None:
        """Call a function when the znode of a table's entry changes, until the catalog closes."""
        self._watch_stops.append(
            self._session.watch_znode(_build_node_path(self._tables_path, table), callback)
        )

    def close(self) -> None:
        """Stop all watches and release the shared ZooKeeper session; may be called twice."""
        session, self._acquired_session = self._acquired_session, None
        if session is not None:
            for stop in self._watch_stops:
                stop()
            session.release()

    @property
    def _session(self) -> ZooKeeperSession:
        """The ZooKeeper session; `Closed` is raised once the catalog is closed."""
        if self._acquired_session is None:
            raise Closed(
                str(self._ensemble),
                "this catalog is closed",
                remedy="Open the catalog or its table again.",
            )
        return self._acquired_session

    def _make_folder(self, folder: str, deadline_s: float) -> None:
        """Create a parent znode and its parents unless they exist; the caller reads them again."""
        names = folder.split("/")[1:]
        with suppress(ZooKeeperUnreachable):
            for count in range(1, len(names) + 1):
                self._session.change_znodes(
                    [ZnodeChange("create", f"/{'/'.join(names[:count])}")], deadline_s
                )

    def _change_nodes(
        self, steps: list[ZnodeChange], deadline_s: float, write_state: _WriteState
    ) -> bool:
        """Change znodes; return False if they differ from what was read, or the answer is lost."""
        try:
            return self._session.change_znodes(steps, deadline_s)
        except ZooKeeperUnreachable as unreachable:
            write_state.is_unknown = write_state.is_unknown or unreachable.is_sent
            return False

    def _compute_deadline_s(self) -> float:
        """Return when a call that starts now must end, by the monotonic clock."""
        return monotonic() + self._ensemble.timeout_s

    def _format_node(self, path: str) -> str:
        """Return the URL of a znode, for errors."""
        return f"zookeeper://{self._ensemble.hosts}{path}"

    def _check_size(self, path: str, data: bytes) -> None:
        """Raise `NotSupported` if a document is too large for a znode."""
        if len(data) > MAX_DOCUMENT_BYTES:
            what = f"the document has {len(data):,} bytes"
            allowed = f"at most {MAX_DOCUMENT_BYTES:,} bytes"
            raise NotSupported(self._format_node(path), what, allowed, TOO_LARGE_HINT)

    @contextmanager
    def _translate_errors(
        self, path: str, write_state: _WriteState | None = None
    ) -> Iterator[None]:
        """Convert errors of ZooKeeper to `Unavailable`, with the URL of the znode."""
        try:
            yield
        except ZooKeeperUnreachable as unreachable:
            what = f"ZooKeeper does not answer within {self._ensemble.timeout_s:g} s: {unreachable}"
            remedy = _choose_remedy(write_state, RETRY_HINT)
            raise Unavailable(self._format_node(path), what, remedy=remedy) from unreachable
        except ZooKeeperDenied as denied:
            remedy = _choose_remedy(write_state, DENIED_HINT)
            raise Unavailable(self._format_node(path), str(denied), remedy=remedy) from denied


@dataclass(slots=True)
class _WriteState:
    """Whether the outcome of a write is unknown, because its answer was lost."""

    is_unknown: bool = False


def _choose_remedy(write_state: _WriteState | None, hint: str) -> str:
    """Return what to do about a failed call; for a write also whether it may have succeeded."""
    if write_state is None:
        return hint
    return UNKNOWN_OUTCOME_HINT if write_state.is_unknown else f"{hint} {UNCHANGED_HINT}"


def _build_node_path(folder: str, table: str) -> str:
    """Return the znode path of a table in a folder, with names escaped for ZooKeeper.

    >>> _build_node_path("/tables", "app:logs"), _build_node_path("/tables", "..")
    ('/tables/app%3Alogs', '/tables/%2E%2E')
    """
    name = quote(table, safe="")
    return f"{folder}/{name if name.strip('.') else name.replace('.', '%2E')}"


def _build_replace_steps(
    path: str, data: bytes, node: Znode | None, folder: str, folder_node: Znode
) -> list[ZnodeChange]:
    """Return the steps that write a document to a znode that is still as it was read.

    A znode that is created again begins with version 0, so its version alone does not identify it.
    Each removal changes the version of the folder, which must be unchanged.
    """
    if node is None:
        return [ZnodeChange("create", path, data)]
    unchanged = ZnodeChange("check", folder, version=folder_node.version)
    return [unchanged, ZnodeChange("set", path, data, node.version)]


def _build_remove_steps(
    path: str, node: Znode | None, notes_path: str, notes_node: Znode | None, folder: str
) -> list[ZnodeChange]:
    """Return the steps that remove an entry and the notes of its table, if they exist."""
    steps = []
    if node is not None:
        steps = [ZnodeChange("delete", path, version=node.version), ZnodeChange("set", folder)]
    return steps if notes_node is None else [*steps, ZnodeChange("delete", notes_path)]


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The servers of ZooKeeper, the znode that holds the catalog, and the timeout of a call.

    Args:
        hosts: `host:port` of each server, with commas between them.
        root: the path of the znode.
        timeout_s: the longest time that a call takes, in seconds.
    """

    hosts: str
    root: str = DEFAULT_ROOT
    timeout_s: float = DEFAULT_TIMEOUT_S

    def __str__(self) -> str:
        return f"zookeeper://{self.hosts}{self.root}"


def parse_ensemble(location: str) -> Ensemble:
    """Parse the URL of a catalog in ZooKeeper.

    The default port is 2181, the default znode `/rowkey`, the default timeout 5 s.

    Args:
        location: the URL after `zookeeper:`.

    Raises:
        InvalidArgument: the URL is malformed.

    >>> parse_ensemble("//zk1,zk2:2182?timeout=500ms")
    Ensemble(hosts='zk1:2181,zk2:2182', root='/rowkey', timeout_s=0.5)
    """
    from rowkey.hbase import parse_url  # the other catalogs do not need it

    place, mark, query = location.partition("?")
    if not place.startswith("//"):
        _raise_invalid_url("the URL names no servers")
    hosts, _, path = place[2:].partition("/")
    # Hosts and path have the syntax of a cluster URL, which names servers of ZooKeeper too.
    cluster_url = f"hbase://{hosts}/{path if path.strip('/') else DEFAULT_ROOT[1:]}"
    try:
        address = str(parse_url(cluster_url)).removeprefix("hbase://")
    except InvalidArgument as error:
        mistake = error.mistake
        path = mistake.path.replace("url", "catalog", 1)
        raise InvalidArgument(path, mistake.problem, mistake.expected, mistake.remedy) from error
    nodes, slash, root = address.partition("/")
    return Ensemble(nodes, slash + root, _parse_timeout(query) if mark else DEFAULT_TIMEOUT_S)


def _parse_timeout(query: str) -> float:
    """Return the timeout in seconds from the query of a URL, whose only option is `timeout`."""
    options = parse_qsl(query, keep_blank_values=True)
    for name, _ in options:
        if name != "timeout":
            _raise_invalid_url(
                f"{format_value(name)} is not an option of the URL",
                "timeout",
                suggest_name(name, ("timeout",)),
            )
    if len(options) != 1:
        _raise_invalid_url(f"the query ?{query} gives no timeout, or several", "?timeout=5s")
    match = _DURATION.fullmatch(options[0][1])
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not MIN_TIMEOUT_S <= seconds <= MAX_TIMEOUT_S:
        what = f"the timeout {format_value(options[0][1])} is not valid"
        _raise_invalid_url(what, "a time from 10ms to 10m, such as 5s")
    return seconds


def _raise_invalid_url(problem: str, expected: str = URL_FORMAT, remedy: str = "") -> NoReturn:
    raise InvalidArgument("catalog", problem, expected, remedy)
