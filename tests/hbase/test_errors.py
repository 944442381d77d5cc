from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rowkey.hbase.errors as room
from rowkey.errors import Refused, RowkeyError, Unsupported
from rowkey.hbase.errors import (
    AskedWrongly,
    AtOnceError,
    AuthenticationNeeded,
    BusyError,
    CallTimedOut,
    ConnectionLost,
    DoNotRetryIO,
    ElsewhereError,
    Failure,
    FatalConnection,
    HBaseError,
    MaybeApplied,
    NotServingRegion,
    OutOfTime,
    RegionMoved,
    RemoteError,
    ScannerLost,
    ServerGone,
    SomeFailed,
    TableNotFound,
    from_remote,
)

H = "org.apache.hadoop.hbase."

SORTED = {
    "NotServingRegionException": ElsewhereError,
    "exceptions.RegionMovedException": ElsewhereError,
    "exceptions.FailedSanityCheckException": ElsewhereError,
    "regionserver.WrongRegionException": ElsewhereError,
    "exceptions.RegionOpeningException": BusyError,
    "RegionTooBusyException": BusyError,
    "CallQueueTooBigException": BusyError,
    "quotas.RpcThrottlingException": BusyError,
    "CallDroppedException": BusyError,
    "PleaseHoldException": BusyError,
    "ipc.ServerNotRunningYetException": BusyError,
    "regionserver.RegionServerStoppedException": ServerGone,
    "regionserver.RegionServerAbortedException": ServerGone,
    "MultiActionResultTooLarge": AtOnceError,
    "RetryImmediatelyException": AtOnceError,
    "UnknownScannerException": ScannerLost,
    "exceptions.ScannerResetException": ScannerLost,
    "exceptions.OutOfOrderScannerNextException": ScannerLost,
    "regionserver.NoSuchColumnFamilyException": AskedWrongly,
    "TableNotFoundException": AskedWrongly,
    "TableExistsException": AskedWrongly,
    "TableNotDisabledException": AskedWrongly,
    "TableNotEnabledException": AskedWrongly,
    "NamespaceNotFoundException": AskedWrongly,
    "NamespaceExistException": AskedWrongly,
    "constraint.ConstraintException": AskedWrongly,
    "InvalidFamilyOperationException": AskedWrongly,
    "exceptions.MergeRegionException": AskedWrongly,
    "UnknownRegionException": AskedWrongly,
    "client.WrongRowIOException": AskedWrongly,
    "snapshot.SnapshotExistsException": AskedWrongly,
    "snapshot.SnapshotCreationException": AskedWrongly,
    "snapshot.SnapshotDoesNotExistException": AskedWrongly,
    "DoNotRetryIOException": AskedWrongly,
    "security.AccessDeniedException": AskedWrongly,
    "ipc.FatalConnectionException": FatalConnection,
    "ipc.WrongVersionException": FatalConnection,
    "ipc.BadAuthException": AuthenticationNeeded,
}
"""What to do about each class; written apart from the code. Source: facts of the protocol, 3.9
and 3.14, by their tables.
"""

OUR_MISTAKES = [
    "Row length is 0",
    "Row length 32768 is > 32767",
    "Family cannot be null",
    "versions must be positive",
    "maxStamp is smaller than minStamp",
]


def kinds(kind: type[HBaseError] = HBaseError) -> Iterator[type[HBaseError]]:
    """A class of errors and all below it that this room has."""
    if kind.__module__.startswith("rowkey.hbase.errors"):
        yield kind
    for below in kind.__subclasses__():
        yield from kinds(below)


def sent(java: str, says: str = "it is so", *, do_not_retry: bool = False) -> HBaseError:
    """What is read of an exception as a server sends it."""
    trace = f"{java}: {says}\n\tat org.apache.hadoop.hbase.X.y(X.java:1)\n"
    return from_remote(java, trace, do_not_retry, server="rs1:16020")


@pytest.mark.parametrize("do_not_retry", [True, False])
@pytest.mark.parametrize("java", sorted(SORTED))
def test_the_class_decides_and_not_the_servers_word(java: str, do_not_retry: bool) -> None:
    """`do_not_retry` is wrong for many classes, so it is not looked at."""
    error = sent(H + java, do_not_retry=do_not_retry)
    assert SORTED[java] is next(one for one in type(error).__mro__ if one in SORTED.values())
    assert (H + java, "it is so", "rs1:16020") == (error.java, error.says, error.server)
    simple = java.rpartition(".")[2]
    assert str(error).startswith(f"rs1:16020: {simple}: it is so.")


def test_every_java_class_is_read_as_one_error() -> None:
    """No name is claimed twice, and each is read as the class that claims it."""
    claims = [(name, kind) for kind in kinds() for name in vars(kind).get("names", ())]
    assert len(claims) == len(dict(claims))
    assert claims == [(name, type(sent(name))) for name, _ in claims]


def test_every_error_is_offered_by_the_room() -> None:
    """And each says in which way it is one of rowkey's."""
    assert {kind.__name__ for kind in kinds()} <= set(room.__all__)
    assert all(issubclass(kind, RowkeyError) for kind in kinds())
    sorts = [kind for kind in kinds() if kind is not HBaseError]
    assert all(issubclass(kind, Refused) != issubclass(kind, Unsupported) for kind in sorts)
    assert all(kind.retriable != issubclass(kind, Refused) for kind in sorts if _is_sent(kind))


def _is_sent(kind: type[HBaseError]) -> bool:
    own = (OutOfTime, MaybeApplied, SomeFailed, AuthenticationNeeded)
    return not issubclass(kind, own)


@pytest.mark.parametrize("java", ["java.lang.RuntimeException", f"{H}NewException", ""])
def test_of_an_unknown_class_the_server_decides(java: str) -> None:
    """Not again, or a few times; the name is in the text."""
    final, passing = sent(java, do_not_retry=True), sent(java)
    assert (AskedWrongly, False) == (type(final), final.retriable)
    assert (RemoteError, True, True) == (type(passing), passing.retriable, passing.few_times)
    assert java.rpartition(".")[2] in str(passing)


def test_a_class_that_changed_its_package_is_known() -> None:
    """HBase moves its classes; a class of another project with that name is another class."""
    assert NotServingRegion is type(sent(f"{H}moved.NotServingRegionException"))
    assert RemoteError is type(sent("com.example.NotServingRegionException"))


@pytest.mark.parametrize("says", OUR_MISTAKES)
def test_an_io_exception_of_our_making_is_not_asked_again(says: str) -> None:
    """The server says `do_not_retry` is false, and it can never succeed."""
    assert AskedWrongly is type(sent("java.io.IOException", says))
    assert RemoteError is type(sent("java.io.IOException", "disk is on fire"))


def test_where_a_region_moved_is_read_from_the_text() -> None:
    """In a batch there are no fields for it."""
    says = (
        "Region moved to: hostname=rs-2.example port=16021 startCode=1700000000123."
        " As of locationSeqNum=42."
    )
    error = sent(f"{H}exceptions.RegionMovedException", says)
    assert isinstance(error, RegionMoved)
    told = (error.host, error.port, error.start_code, error.seqnum)
    assert ("rs-2.example", 16021, 1700000000123, 42) == told


def test_where_a_region_moved_is_read_from_the_fields() -> None:
    """They come first; a text or a port that tells nothing leaves None."""
    java = f"{H}exceptions.RegionMovedException"
    error = from_remote(java, f"{java}: hostname=a port=1", False, "b", 2)
    assert isinstance(error, RegionMoved)
    assert ("b", 2, None, None) == (error.host, error.port, error.start_code, error.seqnum)
    empty = from_remote(java, "port=99999", False, None, 70_000)
    assert isinstance(empty, RegionMoved)
    assert (None, None) == (empty.host, empty.port)


def test_a_timestamp_out_of_range_is_not_a_wrong_region() -> None:
    """The same class is sent for both; looking up the region again would never help."""
    java = f"{H}exceptions.FailedSanityCheckException"
    says = "Timestamp for KV is out of range r1/d:q/9223372036854775000/Put"
    assert DoNotRetryIO is type(sent(java, says))
    assert room.FailedSanityCheck is type(sent(java, "Requested row out of range for HRegion t,,1"))


def test_a_cluster_with_kerberos_says_so() -> None:
    """Denied access is a matter of rights; a missing ticket is not."""
    java = f"{H}security.AccessDeniedException"
    assert AuthenticationNeeded is type(sent(java, "Authentication is required"))
    assert room.AccessDenied is type(sent(java, "Insufficient permissions for user 'ada'"))


@given(st.text(max_size=200), st.text(max_size=2_000), st.booleans())
def test_whatever_is_sent_becomes_an_error_of_one_line(java: str, trace: str, dnr: bool) -> None:
    """A hostile server cannot make another exception, or a page of text."""
    error = from_remote(java, trace, dnr, server="rs1:1")
    assert isinstance(error, HBaseError)
    assert 1 == len(str(error).splitlines())
    assert str(error).isprintable()


def test_a_long_trace_is_cut() -> None:
    """Its message alone is kept, and of that what can be read."""
    error = sent(f"{H}TableNotFoundException", "t" * 10_000_000)
    assert len(str(error)) < 1_000
    assert len(error.says) <= 64 << 10


def test_an_error_is_told_again_as_another_object() -> None:
    """Each waiting thread raises its own; all that it tells is the same."""
    error = sent(f"{H}TableNotFoundException")
    twin = error.again()
    assert twin is not error
    assert (type(error), str(error), vars(error)) == (type(twin), str(twin), vars(twin))
    moved = sent(f"{H}exceptions.RegionMovedException", "hostname=a port=1")
    assert vars(moved) == vars(moved.again())


def test_out_of_time_tells_the_last_error() -> None:
    """It is Python's TimeoutError as well."""
    last = ConnectionLost("rs1:16020", "closed the connection")
    error = OutOfTime("t1", "120 s are over", last=last, attempts=17)
    assert isinstance(error, TimeoutError)
    assert (last, 17) == (error.last, error.attempts)
    assert str(error).startswith("t1: 120 s are over (17 attempts). Last: rs1:16020: closed")
    assert str(error) == str(error.again())


def test_some_failed_groups_what_failed() -> None:
    """By what it is and where, the most frequent first; the failures themselves by index."""
    gone = TableNotFound("t1", "it is gone")
    late = CallTimedOut("rs2:1", "no answer")
    failures = [
        Failure(7, b"r7", b"t1,,1", "rs1:1", gone),
        Failure(2, b"r2", b"t1,x,2", "rs2:1", late),
        Failure(3, b"r3", b"t1,,1", "rs1:1", gone),
    ]
    error = SomeFailed("t1", failures, 10)
    assert [2, 3, 7] == [one.index for one in error.failures]
    lines = str(error).splitlines()
    assert "t1: 3 of 10 actions failed, the others are applied." == lines[0]
    assert "2 on rs1:1, region b't1,,1', first index 3 row b'r3'" in lines[1]
    assert "1 on rs2:1" in lines[2]
    assert (7, b"r7", b"t1,,1", "rs1:1", gone) == error.failures[-1]


def test_some_failed_does_not_print_a_thousand_groups() -> None:
    """Five, and how many more there are; `failures` has all."""
    gone = TableNotFound("t1", "it is gone")
    failures = [Failure(n, b"r", b"t1,%d" % n, "rs1:1", gone) for n in range(1_000)]
    error = SomeFailed("t1", failures, 1_000)
    assert 7 == len(str(error).splitlines())
    assert str(error).endswith("… and 995 more groups")
    assert 1_000 == len(error.failures)
