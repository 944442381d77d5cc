"""ZooKeeper in every kind of outage: calls end in time with an error and change nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from secrets import token_hex
from threading import Barrier
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl

from catalog.outages import call_within, link_zookeeper
from catalog.wires import open_black_hole
from catalog.writers import DESIGN
from catalog.zookeepers import ZooKeeper, count_threads_and_files
from rowkey.catalog import CatalogEntry, open_catalog
from rowkey.errors import Conflict, CorruptionError, RowkeyError, Unavailable
from rowkey.zookeeper import connection

if TYPE_CHECKING:
    from catalog.outages import ZooKeeperLink
    from rowkey.catalog import Catalog

T = TypeVar("T")
FIRST = CatalogEntry.from_design(DESIGN, (b"a",), 1_000)
DEADLINE_S = 0.5
OUTAGES = ("killed", "paused", "held")
BACK_S = 10.0
"""After an outage calls work again within this time."""


@pytest.fixture
def root() -> str:
    """Return a znode path that no other test uses."""
    return f"/rowkey/{token_hex(4)}"


@pytest.fixture
def link(zookeeper: ZooKeeper) -> Iterator[ZooKeeperLink]:
    """Yield a link to ZooKeeper that a test can break."""
    with link_zookeeper(zookeeper) as way:
        yield way


CALLS: dict[str, Callable[[Catalog], object]] = {
    "read": lambda catalog: catalog.read("logs"),
    "write": lambda catalog: catalog.write("logs", FIRST, 1),
    "create": lambda catalog: catalog.write("new", FIRST, None),
    "remove": lambda catalog: catalog.remove("logs", 1),
    "notes": lambda catalog: catalog.read_notes("logs"),
    "note": lambda catalog: catalog.write_note("logs", "load", "1"),
    "tables": lambda catalog: catalog.list_tables(),
}
CHANGES = ("write", "create", "remove", "note")


def list_errors(catalog: Catalog) -> dict[str, str]:
    """Return the error of each call, which must fail within its timeout, and close the catalog."""
    told = {name: get_error(catalog, name) for name in CALLS}
    call_within(1.0, catalog.close)
    return told


def list_concurrent_errors(catalog: Catalog) -> dict[str, str]:
    """Return the errors of all calls made at the same time, which must not delay each other."""
    with ThreadPoolExecutor(len(CALLS)) as pool:
        told = dict(zip(CALLS, pool.map(partial(get_error, catalog), CALLS), strict=True))
    call_within(1.0, catalog.close)
    return told


def get_error(catalog: Catalog, name: str) -> str:
    """Return the error of one call, which must fail within its timeout."""
    with pytest.raises(Unavailable) as caught:
        call_within(DEADLINE_S, partial(CALLS[name], catalog))
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "is_connected"), [*((kind, True) for kind in OUTAGES), ("paused", False)]
)
def test_each_catalog_call_ends_in_time_in_an_outage_and_changes_nothing(
    link: ZooKeeperLink, root: str, kind: str, *, is_connected: bool
) -> None:
    """Each call and close end in time in an outage, and change nothing."""
    with closing(open_catalog(link.url(root, "20s"))) as catalog:
        catalog.write("logs", FIRST, None)
        catalog.write_note("logs", "load", "0")
    catalog = open_catalog(link.url(root, "500ms"))
    if is_connected:
        assert ["logs"] == catalog.list_tables()
    with link.outage(kind):
        told = list_errors(catalog) if kind == "killed" else list_concurrent_errors(catalog)
    assert all("ZooKeeper does not answer within 0.5 s: " in said for said in told.values())
    assert all(said.endswith("Nothing was changed.") for name, said in told.items()
               if name in CHANGES)  # fmt: skip
    with closing(open_catalog(link.url(root, "20s"))) as catalog:
        found = catalog.read("logs")
        assert found is not None
        assert (1, ["logs"], {"load": "0"}) == (
            found.version, catalog.list_tables(), catalog.read_notes("logs")
        )  # fmt: skip


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ("no-such-host.invalid", "the host name no-such-host.invalid cannot be resolved: "),
        ("127.0.0.1:1", "the server does not accept connections: Connection refused"),
        (
            "127.0.0.1:1,no-such-host.invalid",
            "(the host name no-such-host.invalid cannot|the server does not accept)",
        ),
    ],
)
def test_an_unknown_host_and_a_closed_port_are_each_reported(hosts: str, message: str) -> None:
    """An unknown host and a port without a server are each reported."""
    told = list_concurrent_errors(open_catalog(f"zookeeper://{hosts}?timeout=500ms"))
    assert re.search(f"does not answer within 0.5 s: {message}", told["tables"])


@pytest.mark.usefixtures("zookeeper")
def test_a_server_with_older_data_than_the_session_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server with older data than the session refuses it, and a new session is opened."""
    monkeypatch.setattr(connection, "RENEW_AFTER_S", 1.0)
    with ZooKeeper() as server, closing(open_catalog(server.url(timeout="3s"))) as catalog:
        for version in range(9):
            catalog.write("logs", FIRST, version or None)
        with server.kill_temporarily():
            server.wipe()
        assert [] == retry_until_answered(catalog.list_tables)
        assert 1 == retry_until_answered(lambda: catalog.write("logs", FIRST, None))


NOTES = [b"", b"{", b"[]", b"\xff\xfe", b"x" * 1_040_000]


@pytest.mark.parametrize("data", NOTES, ids=[repr(data[:20]) for data in NOTES])
def test_malformed_notes_are_reported_and_removed_with_the_table(
    zookeeper: ZooKeeper, root: str, data: bytes
) -> None:
    """Malformed notes are reported on reading and writing, and removed with the table."""
    client = KazooClient(zookeeper.hosts)
    client.start()
    try:
        client.ensure_path(f"{root}/notes")
        client.create(f"{root}/notes/logs", data)
        with closing(open_catalog(zookeeper.url(root, "20s"))) as catalog:
            for name in ("notes", "note"):
                said = rf"{root}/notes/logs: the progress of .* is not .*expected a JSON object of"
                with pytest.raises(CorruptionError, match=said):
                    CALLS[name](catalog)
            catalog.remove("logs")
            assert {} == catalog.read_notes("logs")
    finally:
        client.stop()
        client.close()


def test_each_call_to_a_server_that_never_answers_ends_in_time() -> None:
    """Each call to a server that accepts connections and never answers ends in time."""
    with open_black_hole() as hosts:
        told = list_concurrent_errors(open_catalog(f"zookeeper://{hosts}?timeout=500ms"))
    assert all("ZooKeeper does not answer within 0.5 s" in said for said in told.values())


def test_a_catalog_works_if_one_of_its_servers_answers(zookeeper: ZooKeeper, root: str) -> None:
    """A catalog works if one of its servers answers and the others are silent or refuse."""
    with open_black_hole() as hole:
        hosts = f"{hole},127.0.0.1:1,{zookeeper.hosts}"
        with closing(open_catalog(f"zookeeper://{hosts}{root}?timeout=20s")) as catalog:
            assert 1 == catalog.write("logs", FIRST, None)


@pytest.mark.usefixtures("zookeeper")
def test_a_zookeeper_server_without_a_quorum_is_reported_as_read_only() -> None:
    """A server without a quorum is read-only, and the error says so."""
    with ZooKeeper(lost=2) as alone:
        told = list_concurrent_errors(open_catalog(alone.url(timeout="500ms")))
    assert all("as one without a quorum does" in said for said in told.values())


def test_a_znode_that_denies_access_is_reported_by_name(zookeeper: ZooKeeper, root: str) -> None:
    """A znode whose access list denies us is reported by name at once."""
    client = KazooClient(zookeeper.hosts, auth_data=[("digest", "u:p")])
    client.start()
    try:
        mine = [make_digest_acl("u", "p", all=True)]
        for node in ("tables", "tables/logs", "notes", "notes/logs"):
            client.create(f"{root}/{node}", b"{}", acl=mine, makepath=True)
    finally:
        client.stop()
        client.close()
    told = list_errors(open_catalog(zookeeper.url(root, "500ms")))
    assert all("the access list (ACL) of the znode does not allow this (NoAuth)" in said
               for said in told.values())  # fmt: skip
    assert f"{root}/tables/logs: " in told["read"]


GARBAGE = [b"", b"{", b"[]", b"\xff\xfe", b"x" * 1_040_000, b'{"format": 2, "table": "other"}']


@pytest.mark.parametrize("data", GARBAGE, ids=[repr(data[:20]) for data in GARBAGE])
def test_a_znode_with_garbage_is_reported_and_can_be_removed(
    zookeeper: ZooKeeper, root: str, data: bytes
) -> None:
    """A znode with garbage, nothing or a megabyte is reported, stays, and can be removed."""
    client = KazooClient(zookeeper.hosts)
    client.start()
    try:
        client.ensure_path(f"{root}/tables")
        client.create(f"{root}/tables/logs", data)
        with closing(open_catalog(zookeeper.url(root, "20s"))) as catalog:
            for name in ("read", "write", "remove"):
                with pytest.raises(
                    (CorruptionError, Unavailable),
                    match=rf"{root}/tables/logs: (it|the document) is ",
                ):
                    CALLS[name](catalog)
            assert data == client.get(f"{root}/tables/logs")[0]
            catalog.remove("logs")
            assert ([], {}) == (catalog.list_tables(), catalog.read_notes("logs"))
    finally:
        client.stop()
        client.close()


@pytest.mark.parametrize(
    ("kind", "outage_s"),
    [
        ("killed", 2.0),
        *(pytest.param(kind, 5.0, marks=pytest.mark.long) for kind in OUTAGES[1:]),
        pytest.param("held", 30.0, marks=pytest.mark.long),
    ],
)
def test_every_call_in_an_outage_ends_in_time_and_nothing_is_written_twice(
    link: ZooKeeperLink, root: str, kind: str, outage_s: float
) -> None:
    """Every call in an outage ends in time, and afterwards nothing was written twice."""
    with closing(open_catalog(link.url(root, "20s"))) as patient:  # a server that has just started
        patient.write("logs", FIRST, None)
    with closing(open_catalog(link.url(root, "500ms"))) as catalog:
        assert 1 == read_again(catalog).version
        with link.outage(kind):
            until = monotonic() + outage_s
            while monotonic() < until:
                with pytest.raises(Unavailable, match="does not answer"):
                    call_within(DEADLINE_S, lambda: catalog.read("logs"))
                with pytest.raises(Unavailable, match=r"does not answer.*Nothing was changed\."):
                    call_within(DEADLINE_S, lambda: catalog.write("logs", FIRST, 1))
        assert 1 == read_again(catalog).version
        assert 2 == catalog.write("logs", FIRST, 1)


@pytest.mark.parametrize("kind", ["paused", "held"])
def test_a_write_sent_into_an_outage_reports_an_unknown_outcome(
    link: ZooKeeperLink, root: str, kind: str
) -> None:
    """A write sent into an outage raises an error that its outcome is unknown."""
    with closing(open_catalog(link.url(root, "500ms"))) as catalog:
        catalog.write("logs", FIRST, None)
        changing, found = catalog._change_nodes, []  # type: ignore[attr-defined]

        def change(*given: object) -> bool:
            with link.outage(kind):
                found.append(changing(*given))
            return bool(found[-1])

        catalog._change_nodes = change  # type: ignore[attr-defined]
        with pytest.raises(Unavailable, match="is not known: read the entry again"):
            catalog.write("logs", FIRST, 1)
        del catalog._change_nodes  # type: ignore[attr-defined]
        version = read_again(catalog).version
        assert version in (1, 2)
        assert version + 1 == catalog.write("logs", FIRST, version)


def read_again(catalog: Catalog) -> CatalogEntry:
    """Return the entry as soon as it can be read again."""
    found = retry_until_answered(lambda: catalog.read("logs"))
    assert found is not None
    return found


def retry_until_answered(call: Callable[[], T]) -> T:
    """Repeat a call until it is answered, and return its result."""
    until = monotonic() + BACK_S
    while True:
        try:
            return call()
        except Unavailable:
            assert monotonic() < until


@pytest.mark.parametrize("runs", [3, pytest.param(100, marks=pytest.mark.long)])
def test_of_two_writers_that_lose_answers_only_the_one_that_reports_success_won(
    zookeeper: ZooKeeper, root: str, runs: int
) -> None:
    with link_zookeeper(zookeeper) as left, link_zookeeper(zookeeper) as right:
        catalogs = [open_catalog(way.url(root, "20s")) for way in (left, right)]
        catalogs[0].write("logs", FIRST, None)
        for run in range(runs):
            left.wire.lose("answer")
            right.wire.lose(("answer", "request", "")[run % 3])
            # Equal entries must not be taken for each other; different ones tell who it was.
            told = race_writers(catalogs, [("left", "right"), ("same", "same")][run % 2])
            found = catalogs[0].read("logs")
            assert found is not None
            assert ["lost", "won"] == sorted(said for _, said in told)
            (winner,) = (name for name, said in told if said == "won")
            assert ({"host": (winner,)}, run + 2) == (found.codes, found.version)
        for catalog in catalogs:
            catalog.close()


def race_writers(catalogs: list[Catalog], names: Sequence[str]) -> list[tuple[str, str]]:
    """Write the same version from several catalogs at once, and return the outcomes by name."""
    at_once = Barrier(len(catalogs))

    def work(name: str, catalog: Catalog) -> tuple[str, str]:
        entry = catalog.read("logs")
        assert entry is not None
        at_once.wait()
        try:
            catalog.write("logs", replace(entry, codes={"host": (name,)}), entry.version)
        except Conflict:
            return name, "lost"
        except RowkeyError as problem:
            return name, str(problem)
        return name, "won"

    with ThreadPoolExecutor(len(catalogs)) as pool:
        return list(pool.map(work, names, catalogs))


@pytest.mark.parametrize("outages", [10, pytest.param(100, marks=pytest.mark.long)])
def test_lost_connections_leave_no_threads_or_sockets_behind(
    link: ZooKeeperLink, root: str, outages: int
) -> None:
    """After many lost connections there are as many threads and sockets as after one."""
    with closing(open_catalog(link.url(root, "20s"))) as catalog:
        catalog.watch("logs", lambda: None)
        catalog.write("logs", FIRST, None)
        link.wire.close_all()
        assert ["logs"] == catalog.list_tables()
        before = count_own_resources(link)
        for _ in range(outages):
            link.wire.close_all()
            assert ["logs"] == catalog.list_tables()
        after = count_own_resources(link)
    assert all(abs(now - then) <= 2 for now, then in zip(after, before, strict=True))


def count_own_resources(way: ZooKeeperLink) -> tuple[int, int]:
    """Return the threads and files of this process without those of the proxy."""
    tasks, files = count_threads_and_files()
    return tasks - way.wire.threads, files - way.wire.files


QUIET = """
import sys
from rowkey.catalog import open_catalog
from rowkey.errors import Unavailable
for hosts in sys.argv[1:]:
    for is_closed in (True, False):
        catalog = open_catalog(f"zookeeper://{hosts}?timeout=200ms")
        try:
            catalog.read("logs")
        except Unavailable as problem:
            print("told")
        if is_closed:
            catalog.close()
"""


def test_a_program_whose_catalog_is_lost_prints_nothing_and_exits_at_once() -> None:
    """A program whose catalogs are lost gets errors, prints nothing else, and exits at once."""
    with open_black_hole() as hole:
        done = subprocess.run(
            [sys.executable, "-c", QUIET, "127.0.0.1:1", hole, "no-such-host.invalid"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (0, "told\n" * 6, "") == (done.returncode, done.stdout, done.stderr)
