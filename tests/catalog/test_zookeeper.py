"""The store `zookeeper` on a real server: concurrent writes, lost answers, notifications."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from threading import Event
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient

from catalog.outages import link_zookeeper
from catalog.writers import DESIGN
from rowkey.catalog import CatalogEntry, open_catalog
from rowkey.catalog.entry_document import format_entry
from rowkey.catalog.stores.zookeeper import MAX_DOCUMENT_BYTES, parse_ensemble
from rowkey.errors import Closed, Conflict, InvalidArgument, NotSupported, Unavailable

if TYPE_CHECKING:
    from catalog.outages import ZooKeeperLink
    from catalog.zookeepers import ZooKeeper
    from rowkey.catalog.stores.zookeeper import ZooKeeperCatalog as InZooKeeper

    Writers = Sequence[subprocess.Popen[str]]

FIRST = CatalogEntry.from_design(DESIGN, (b"a",), 1_000)
OTHER_ENTRY = replace(FIRST, codes={"host": ("a", "é\n")})
PATIENCE_S = 20.0


@pytest.fixture
def root() -> str:
    """Return a znode path that no other test uses."""
    return f"/rowkey/{token_hex(4)}"


@pytest.fixture
def catalog(zookeeper: ZooKeeper, root: str) -> Iterator[InZooKeeper]:
    """Return an empty catalog."""
    with closing(open_zookeeper_catalog(zookeeper.url(root))) as catalog:
        yield catalog


@pytest.fixture
def kazoo_client(zookeeper: ZooKeeper) -> Iterator[KazooClient]:
    """Yield a plain kazoo client without rowkey."""
    client = KazooClient(zookeeper.hosts)
    client.start()
    yield client
    client.stop()
    client.close()


@pytest.fixture
def link(zookeeper: ZooKeeper) -> Iterator[ZooKeeperLink]:
    """Yield a link to ZooKeeper that a test can break."""
    with link_zookeeper(zookeeper) as way:
        yield way


def open_zookeeper_catalog(url: str) -> InZooKeeper:
    """Open the catalog of a URL."""
    from rowkey.catalog.stores.zookeeper import ZooKeeperCatalog as InZooKeeper

    catalog = open_catalog(url)
    assert isinstance(catalog, InZooKeeper)
    return catalog


@pytest.mark.parametrize(
    ("where", "formatted", "seconds"),
    [
        ("//zk1", "zookeeper://zk1:2181/rowkey", 5.0),
        ("//zk1,zk2:2182/", "zookeeper://zk1:2181,zk2:2182/rowkey", 5.0),
        ("//zk1:1/a/b?timeout=500ms", "zookeeper://zk1:1/a/b", 0.5),
        ("//[::1]:1?timeout=0.5", "zookeeper://[::1]:1/rowkey", 0.5),
        ("//zk1?timeout=2m", "zookeeper://zk1:2181/rowkey", 120.0),
    ],
)
def test_a_catalog_url_has_default_port_root_and_timeout(
    where: str, formatted: str, seconds: float
) -> None:
    """Ports, the root znode and the timeout of a URL have defaults."""
    found = parse_ensemble(where)
    assert (formatted, seconds) == (str(found), found.timeout_s)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("zookeeper:", "names no servers; expected zookeeper://HOST"),
        ("zookeeper:zk1:2181", "names no servers"),
        ("zookeeper://", r"catalog.hosts\[0\]: the host is empty"),
        ("zookeeper://zk1:0", "'0' is not a port"),
        ("zookeeper://zk1/a/../b", "is not a znode path"),
        ("zookeeper://u:secret@zk1", "the URL has a login"),
        (
            "zookeeper://zk1?timeout=",
            "the timeout '' is not valid; expected a time from 10ms to 10m",
        ),
        ("zookeeper://zk1?timeout=1e9", "is not valid"),
        ("zookeeper://zk1?timeout=0", "is not valid"),
        ("zookeeper://zk1?time=5", "'time' is not an option of the URL; expected timeout"),
        ("zookeeper://zk1?", "gives no timeout, or several"),
    ],
)
def test_an_invalid_catalog_url_is_explained_without_its_password(url: str, message: str) -> None:
    """An invalid URL raises an error that says what is wrong and does not repeat a password."""
    with pytest.raises(InvalidArgument, match=message) as caught:
        open_catalog(url)
    assert "secret" not in str(caught.value)


def test_other_catalogs_and_the_parsing_of_a_url_do_not_import_kazoo() -> None:
    code = (
        "import sys\nfrom rowkey.catalog import CATALOGS, open_catalog\nlist(CATALOGS)\n"
        "from rowkey.errors import InvalidArgument\nopen_catalog('memory:')\n"
        "try:\n open_catalog('zookeeper://?')\nexcept InvalidArgument: pass\n"
        "print('kazoo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False\n" == done.stdout


@pytest.mark.parametrize("lost", ["request", "answer", "sense"])
def test_a_write_whose_answer_is_lost_is_done_exactly_once(
    link: ZooKeeperLink, root: str, lost: str
) -> None:
    """A write, removal or note with a lost answer is done exactly once."""
    with closing(open_zookeeper_catalog(link.url(root, "20s"))) as catalog:
        catalog.write("logs", FIRST, None)
        link.wire.lose(lost)
        assert 2 == catalog.write("logs", OTHER_ENTRY, 1)
        link.wire.lose(lost)
        assert 1 == catalog.write("made", FIRST, None)
        link.wire.lose(lost)
        catalog.write_note("logs", "load", lost)
        link.wire.lose(lost)
        catalog.remove("made", 1)
        found = catalog.read("logs")
        assert found is not None
        assert (OTHER_ENTRY.codes, 2, {"load": lost}, ["logs"], 4) == (
            found.codes, found.version, catalog.read_notes("logs"), catalog.list_tables(),
            link.wire.lost,
        )  # fmt: skip


@pytest.mark.parametrize("lost", ["request", "answer"])
def test_a_first_note_whose_answer_is_lost_is_written_once(
    link: ZooKeeperLink, root: str, lost: str
) -> None:
    """If the parent znodes are missing, a first note with a lost answer is written once."""
    with closing(open_zookeeper_catalog(link.url(root, "20s"))) as catalog:
        link.wire.lose(lost)
        catalog.write_note("logs", "load", "1")
        assert ({"load": "1"}, 1) == (catalog.read_notes("logs"), link.wire.lost)


def test_a_lost_write_that_was_overwritten_is_reported_as_unknown(
    zookeeper: ZooKeeper, link: ZooKeeperLink, root: str
) -> None:
    """A write with a lost answer that was overwritten since is reported as unknown."""
    with (
        closing(open_zookeeper_catalog(link.url(root, "20s"))) as mine,
        closing(open_zookeeper_catalog(zookeeper.url(root))) as o,
    ):
        mine.write("logs", FIRST, None)

        def meddle() -> None:
            found = o.read("logs")
            assert found is not None
            o.write("logs", FIRST, found.version)

        link.wire.before_cut = meddle
        link.wire.lose("answer")
        with pytest.raises(
            Unavailable, match=r"Whether this write was carried out is not known: read the entry ag"
        ):
            mine.write("logs", OTHER_ENTRY, 1)
        link.wire.lose("request")
        with pytest.raises(Conflict, match="the catalog now has version 4; expected version 3"):
            mine.write("logs", OTHER_ENTRY, 3)


def test_a_recreated_entry_of_the_same_version_is_not_replaced(
    zookeeper: ZooKeeper, root: str
) -> None:
    """A recreated entry with the version that was read is not replaced."""
    with (
        closing(open_zookeeper_catalog(zookeeper.url(root))) as one,
        closing(open_zookeeper_catalog(zookeeper.url(root))) as two,
    ):
        two.write("logs", FIRST, None)
        assert one.read("logs") is not None
        two.remove("logs")
        two.write("logs", OTHER_ENTRY, None)
        with pytest.raises(Conflict, match="its entry was removed and created again"):
            one.write("logs", FIRST, 1)
        found = one.read("logs")
        assert found is not None
        assert OTHER_ENTRY.codes == found.codes
        assert 2 == one.write("logs", FIRST, 1)


def test_an_entry_recreated_during_a_write_is_not_replaced(
    zookeeper: ZooKeeper, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that is recreated between the read and the write is not replaced."""
    with (
        closing(open_zookeeper_catalog(zookeeper.url(root))) as one,
        closing(open_zookeeper_catalog(zookeeper.url(root))) as two,
    ):
        two.write("logs", FIRST, None)
        assert one.read("logs") is not None
        change, is_first = one._change_nodes, True

        def late(*given: object) -> bool:
            nonlocal is_first
            if is_first:
                is_first = False
                two.remove("logs")
                two.write("logs", OTHER_ENTRY, None)
            return change(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(one, "_change_nodes", late)
        with pytest.raises(Conflict, match="its entry was removed and created again"):
            one.write("logs", FIRST, 1)
        found = two.read("logs")
        assert found is not None
        assert OTHER_ENTRY.codes == found.codes


def build_entry_of_size(size: int, version: int) -> CatalogEntry:
    """Return an entry whose document has this many bytes."""
    small = replace(FIRST, codes={"h": ("",)})
    lacks = size - len(format_entry(small, "logs", version, "0" * 16).encode())
    return replace(FIRST, codes={"h": ("x" * lacks,)})


def test_a_document_above_the_largest_size_is_refused(catalog: InZooKeeper) -> None:
    """A document of the largest size is stored, and one more byte is refused with a remedy."""
    most = build_entry_of_size(MAX_DOCUMENT_BYTES, 1)
    assert 1 == catalog.write("logs", most, None)
    with pytest.raises(NotSupported, match=r"1,000,001 bytes.*catalog = .table. in the design"):
        catalog.write("logs", build_entry_of_size(MAX_DOCUMENT_BYTES + 1, 2), 1)
    with pytest.raises(NotSupported, match="at most 1,000,000"):
        catalog.write_note("logs", "load", "x" * MAX_DOCUMENT_BYTES)
    found = catalog.read("logs")
    assert found is not None
    assert (most.codes, 1, {}) == (found.codes, found.version, catalog.read_notes("logs"))


def test_a_watcher_is_notified_of_a_change_at_once(
    zookeeper: ZooKeeper, link: ZooKeeperLink, root: str
) -> None:
    """A watcher is notified at once, also after a lost connection, and not after close."""
    told = Event()
    with closing(open_zookeeper_catalog(zookeeper.url(root))) as other:
        with closing(open_zookeeper_catalog(link.url(root, "20s"))) as catalog:
            catalog.watch("logs", told.set)
            assert catalog.read("logs") is None
            told.clear()
            other.write("logs", FIRST, None)
            assert told.wait(PATIENCE_S)
            told.clear()
            other.write("logs", OTHER_ENTRY, 1)
            assert told.wait(PATIENCE_S)
            with link.wire.refuse():
                other.write("logs", FIRST, 2)
                told.clear()
            assert told.wait(PATIENCE_S)
            told.clear()
            other.remove("logs")
            assert told.wait(PATIENCE_S)
        told.clear()
        other.write("logs", FIRST, None)
        assert not told.wait(0.2)


def test_background_pings_do_not_use_the_global_random_state(
    link: ZooKeeperLink, root: str
) -> None:
    """Background pings and retries do not use the global random state."""
    with closing(open_zookeeper_catalog(link.url(root, "500ms"))) as catalog:
        catalog.write("logs", FIRST, None)
        state = random.getstate()
        with link.wire.refuse(), pytest.raises(Unavailable, match="does not answer"):
            catalog.read("logs")
        until = time.monotonic() + PATIENCE_S
        while not is_readable(catalog):
            assert time.monotonic() < until
        assert state == random.getstate()


def is_readable(catalog: InZooKeeper) -> bool:
    """Return whether a catalog answers a read."""
    try:
        return catalog.read("logs") is not None
    except Unavailable:
        return False


def test_a_watch_callback_that_raises_stops_no_other_callback(
    zookeeper: ZooKeeper, root: str
) -> None:
    """A callback that raises stops neither other callbacks nor calls."""
    told = Event()

    def fail() -> None:
        raise ValueError

    with (
        closing(open_zookeeper_catalog(zookeeper.url(root))) as one,
        closing(open_zookeeper_catalog(zookeeper.url(root))) as two,
    ):
        one.watch("logs", fail)
        two.watch("logs", told.set)
        one.write("logs", FIRST, None)
        assert told.wait(PATIENCE_S)
        assert ["logs"] == two.list_tables()


def test_closing_a_catalog_keeps_the_session_open_for_another(
    zookeeper: ZooKeeper, root: str
) -> None:
    """Closing one catalog leaves another one on the same session open."""
    one, two = (
        open_zookeeper_catalog(zookeeper.url(root)),
        open_zookeeper_catalog(zookeeper.url(root, "1s")),
    )
    assert one._session is two._session
    one.close()
    one.close()
    assert two.list_tables() == []
    two.close()
    with pytest.raises(Closed, match="this catalog is closed"):
        two.list_tables()


FORKING = """
import os, sys
from rowkey.catalog import open_catalog
catalog = open_catalog(sys.argv[1])
before = catalog.read("logs").version
if (child := os.fork()) == 0:
    print(catalog.read("logs").version - before, flush=True)
    catalog.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
print(status, catalog.read("logs").version - before)
"""


def test_a_forked_child_opens_its_own_zookeeper_session(
    catalog: InZooKeeper, zookeeper: ZooKeeper
) -> None:
    """A forked child opens its own session, and closing it does not affect the parent."""
    catalog.write("logs", FIRST, None)
    url = zookeeper.url(catalog._ensemble.root)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING, url],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ("0\n0 0\n", "", 0) == (done.stdout, done.stderr, done.returncode)


def test_table_names_that_are_no_znode_names_are_escaped(
    catalog: InZooKeeper, kazoo_client: KazooClient
) -> None:
    """Table names that are no znode names are escaped, and the folder lists only tables."""
    names = [".", "..", "a/b", "é", "%", "a b", "...", "\x00"]
    for name in names:
        catalog.write(name, FIRST, None)
        catalog.write_note(name, "w", name)
    assert sorted(names) == catalog.list_tables()
    assert names == [catalog.read_notes(name)["w"] for name in names]
    assert len(names) == len(kazoo_client.get_children(f"{catalog._ensemble.root}/tables"))


SCRIPT = Path(__file__).parent / "writers.py"


@contextmanager
def start_writers(url: str) -> Iterator[Writers]:
    """Start two processes that write the same entry when they are released."""
    command = [sys.executable, str(SCRIPT), "race", url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    yield running
    for one in running:
        one.communicate()


def read_lines(running: Writers) -> list[str]:
    """Return the next output line of each process."""
    return [one.stdout.readline().strip() for one in running if one.stdout is not None]


def release_writers(running: Writers) -> None:
    """Let all processes continue at the same time."""
    for one in running:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()


@pytest.mark.parametrize("runs", [3, pytest.param(100, marks=pytest.mark.long)])
def test_of_two_processes_that_replace_one_version_one_succeeds(
    catalog: InZooKeeper, zookeeper: ZooKeeper, runs: int
) -> None:
    """Of two processes that replace the same version one succeeds, and the other gets an error."""
    catalog.write("logs", FIRST, None)
    with start_writers(zookeeper.url(catalog._ensemble.root)) as running:
        for version in range(1, runs + 1):
            assert [f"read {version}"] * 2 == read_lines(running)
            release_writers(running)
            assert ["lost", f"won {version + 1}"] == sorted(read_lines(running))
            release_writers(running)
    found = catalog.read("logs")
    assert found is not None
    assert runs + 1 == found.version
