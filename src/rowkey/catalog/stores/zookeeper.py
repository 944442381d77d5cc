"""The catalog `zookeeper`."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from rowkey.catalog.contract import Catalog, check_removed, check_version
from rowkey.catalog.document import entry_of, text_of
from rowkey.catalog.keeper.ensemble import Away, Change, Denied, parse_ensemble
from rowkey.errors import Conflict, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.catalog.entry import Entry
    from rowkey.catalog.keeper.ensemble import Ensemble, Node
    from rowkey.catalog.keeper.session import Session

BYTES_MOST = 1_000_000
"""Of a document. ZooKeeper closes the connection on a request of more than 1,048,575 bytes, and
beside the data stand a path, a list of who may read it and a header. Source: jute.maxbuffer."""
ELSEWHERE = 'ZooKeeper takes no more (jute.maxbuffer); write catalog = "table" in the design.'
NOTHING = "Nothing was changed."
UNKNOWN = "Whether it was changed is not known: read it again."


class ZooKeeper(Catalog):
    """One node a table below a node of ZooKeeper: `zookeeper://zk1,zk2:2181/rowkey?timeout=5s`.

    Everyone who reaches ZooKeeper shares it, whichever engine has the tables. Each call returns or
    raises within the time-out, 5 s unless the URL gives another, whatever has become of ZooKeeper.
    All catalogs of a process share a session with an ensemble, which is renewed in the background
    where it is lost. Nodes are made so that everyone may read and write them.

    Args:
        ensemble: where it is.
    """

    name = "zookeeper"

    def __init__(self, ensemble: Ensemble) -> None:
        from rowkey.catalog.keeper.session import Session  # kazoo is loaded where it is used

        self._ensemble = ensemble
        self._tables, self._notes = f"{ensemble.root}/tables", f"{ensemble.root}/notes"
        self._held: Session | None = Session.of(ensemble.hosts)
        self._watching: list[Callable[[], None]] = []
        self._seen: dict[str, tuple[int, int]] = {}

    @classmethod
    def open(cls, where: str) -> ZooKeeper:
        return cls(parse_ensemble(where))

    def read(self, table: str) -> Entry | None:
        path = _below(self._tables, table)
        with self._telling(path):
            (found,) = self._session.look((path,), self._until())
        if found is None:
            return None
        entry = entry_of(found.data, table, self._at(path))
        self._seen[table] = entry.version, found.born
        return entry

    def write(self, table: str, entry: Entry, expected: int | None) -> int:
        """Replace the entry of a table; see the contract.

        A write whose answer is lost is looked for: its document has a mark of its own. What cannot
        be found out within the time-out is told to be unknown.

        Cost: two round trips and one write of ZooKeeper's log.
        """
        path, version, until = _below(self._tables, table), (expected or 0) + 1, self._until()
        data = text_of(entry, table, version, token_hex(8)).encode()
        self._check_size(path, data)
        doubt = _Doubt()
        with self._telling(path, doubt):
            while True:
                # A removal counts in the folder, which is looked at first: none goes unseen.
                folder, found = self._session.look((self._tables, path), until)
                if found is not None and found.data == data:
                    break  # it was written after all
                self._require(table, path, found, expected, doubt)
                if folder is None:
                    self._make(self._tables, until)
                    continue
                steps = _replacing(path, data, found, self._tables, folder)
                if self._change(steps, until, doubt):
                    break
        self._seen.pop(table, None)
        return version

    def _require(
        self, table: str, path: str, found: Node | None, expected: int | None, doubt: _Doubt
    ) -> None:
        """Refuse to write over an entry that is not the one that was read.

        Raises:
            Conflict: it is another one.
            Unsupported: it is another one, and may stand on one that was written here.
        """
        held = None if found is None else entry_of(found.data, table, self._at(path)).version
        if doubt.stands and held not in (expected, (expected or 0) + 1):
            what = "it was changed after the connection was lost in which it was written"
            raise Unsupported(self._at(path), what, remedy=UNKNOWN)
        check_version(table, held, expected)
        seen = self._seen.get(table)
        if found is not None and seen is not None and seen[0] == held and seen[1] != found.born:
            raise Conflict(f"table {table}", "its entry was made anew", "the one that was read")

    def remove(self, table: str, expected: int | None = None) -> None:
        path, noted, until = _below(self._tables, table), _below(self._notes, table), self._until()
        born, doubt = None, _Doubt()
        with self._telling(path, doubt):
            while True:
                found, notes = self._session.look((path, noted), until)
                if found is not None and born not in (None, found.born):
                    return  # it is gone, and was made anew since
                if found is not None and expected is not None:
                    held = entry_of(found.data, table, self._at(path)).version
                    check_removed(table, held, expected)
                steps = _removing(path, found, noted, notes, self._tables)
                if not steps or self._change(steps, until, doubt):
                    self._seen.pop(table, None)
                    return
                born = None if found is None else found.born

    def notes(self, table: str) -> dict[str, str]:
        path = _below(self._notes, table)
        with self._telling(path):
            (found,) = self._session.look((path,), self._until())
        return self._noted(path, found)

    def note(self, table: str, word: str, text: str | None) -> None:
        path, until, doubt = _below(self._notes, table), self._until(), _Doubt()
        with self._telling(path, doubt):
            while True:
                folder, found = self._session.look((self._notes, path), until)
                told = self._noted(path, found)
                kept = {key: value for key, value in told.items() if key != word}
                kept |= {} if text is None else {word: text}
                data = json.dumps(kept, ensure_ascii=False).encode()
                self._check_size(path, data)
                if folder is None:
                    self._make(self._notes, until)
                    continue
                step = Change("create", path, data)
                if found is not None:
                    step = Change("set", path, data, found.version)
                if kept == told or self._change([step], until, doubt):
                    return

    def _noted(self, path: str, found: Node | None) -> dict[str, str]:
        """The notes that a node holds."""
        if found is None:
            return {}
        try:
            told = json.loads(found.data)
        except (ValueError, RecursionError) as problem:
            raise Unsupported(self._at(path), f"it holds no notes: {problem}") from problem
        if not isinstance(told, dict):
            raise Unsupported(self._at(path), "it holds no notes", "an object of texts")
        return {str(word): str(text) for word, text in told.items()}

    def tables(self) -> list[str]:
        with self._telling(self._tables):
            return sorted(map(unquote, self._session.names(self._tables, self._until())))

    def watch(self, table: str, changed: Callable[[], None]) -> None:
        self._watching.append(self._session.watch(_below(self._tables, table), changed))

    def close(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            for stop in self._watching:
                stop()
            held.release()

    @property
    def _session(self) -> Session:
        if self._held is None:
            raise Unsupported(str(self._ensemble), "this catalog is closed", "an open one")
        return self._held

    def _make(self, folder: str, until: float) -> None:
        """Make a folder, and those above it, unless they are there; who calls looks again."""
        names = folder.split("/")[1:]
        with suppress(Away):
            for count in range(1, len(names) + 1):
                self._session.change([Change("create", f"/{'/'.join(names[:count])}")], until)

    def _change(self, steps: list[Change], until: float, doubt: _Doubt) -> bool:
        """Change nodes; if the answer is lost, it is in doubt, and to be looked for."""
        try:
            return self._session.change(steps, until)
        except Away as away:
            doubt.stands = doubt.stands or away.sent
            return False

    def _until(self) -> float:
        """When a call that begins now must be over, by the monotonic clock."""
        return monotonic() + self._ensemble.timeout_s

    def _at(self, path: str) -> str:
        """A node, as errors name it."""
        return f"zookeeper://{self._ensemble.hosts}{path}"

    def _check_size(self, path: str, data: bytes) -> None:
        if len(data) > BYTES_MOST:
            what = f"{len(data):,} bytes are to be kept"
            raise Unsupported(self._at(path), what, f"at most {BYTES_MOST:,}", ELSEWHERE)

    @contextmanager
    def _telling(self, path: str, doubt: _Doubt | None = None) -> Iterator[None]:
        """Raise what ZooKeeper refuses, or does not answer, as an error that names the node."""
        try:
            yield
        except Away as away:
            what = f"ZooKeeper does not answer within {self._ensemble.timeout_s:g} s: {away}"
            raise Unsupported(self._at(path), what, remedy=_remedy(doubt)) from away
        except Denied as denied:
            raise Unsupported(self._at(path), str(denied), remedy=_remedy(doubt)) from denied


@dataclass(slots=True)
class _Doubt:
    """Whether a change was handed over whose answer never came."""

    stands: bool = False


def _remedy(doubt: _Doubt | None) -> str:
    """What is known of a change that was not acknowledged; of a call that changes nothing, none."""
    if doubt is None:
        return ""
    return UNKNOWN if doubt.stands else NOTHING


def _below(folder: str, table: str) -> str:
    """The node of a table in a folder; no name of a table is one that ZooKeeper refuses.

    >>> _below("/tables", "app:logs"), _below("/tables", "..")
    ('/tables/app%3Alogs', '/tables/%2E%2E')
    """
    name = quote(table, safe="")
    return f"{folder}/{name if name.strip('.') else name.replace('.', '%2E')}"


def _replacing(
    path: str, data: bytes, found: Node | None, folder: str, counted: Node
) -> list[Change]:
    """How a node is given a document, if it is still as it was found.

    A node that is made anew begins again with version 0, so its version alone could be that of
    another one. Each removal counts in the folder, which must have seen none.
    """
    if found is None:
        return [Change("create", path, data)]
    unchanged = Change("check", folder, version=counted.version)
    return [unchanged, Change("set", path, data, found.version)]


def _removing(
    path: str, found: Node | None, noted: str, notes: Node | None, folder: str
) -> list[Change]:
    """How an entry and the notes of its table are removed, as far as they are there."""
    steps = []
    if found is not None:
        steps = [Change("delete", path, version=found.version), Change("set", folder)]
    return steps if notes is None else [*steps, Change("delete", noted)]
