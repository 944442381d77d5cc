from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rowkey.hbase.errors as errors_package
from rowkey.errors import Closed, InvalidArgument, NotSupported, RowkeyError, Unavailable
from rowkey.hbase.errors import (
    AuthenticationFailed,
    AuthenticationNeeded,
    BusyError,
    CallTimedOut,
    ClientClosed,
    ConnectionLost,
    DoNotRetryIO,
    FailedAction,
    FatalConnection,
    HBaseError,
    InvalidRequest,
    MaybeApplied,
    NotServingRegion,
    OperationTimedOut,
    PartialBatchFailure,
    RegionMoved,
    RemoteError,
    RetryNowError,
    ScannerLost,
    ServerGone,
    StaleLocationError,
    TableNotFound,
    parse_remote_error,
)

H = "org.apache.hadoop.hbase."

BASE_BY_JAVA_CLASS = {
    "NotServingRegionException": StaleLocationError,
    "exceptions.RegionMovedException": StaleLocationError,
    "exceptions.FailedSanityCheckException": StaleLocationError,
    "regionserver.WrongRegionException": StaleLocationError,
    "exceptions.RegionOpeningException": BusyError,
    "RegionTooBusyException": BusyError,
    "CallQueueTooBigException": BusyError,
    "quotas.RpcThrottlingException": BusyError,
    "CallDroppedException": BusyError,
    "PleaseHoldException": BusyError,
    "ipc.ServerNotRunningYetException": BusyError,
    "regionserver.RegionServerStoppedException": ServerGone,
    "regionserver.RegionServerAbortedException": ServerGone,
    "MultiActionResultTooLarge": RetryNowError,
    "RetryImmediatelyException": RetryNowError,
    "UnknownScannerException": ScannerLost,
    "exceptions.ScannerResetException": ScannerLost,
    "exceptions.OutOfOrderScannerNextException": ScannerLost,
    "regionserver.NoSuchColumnFamilyException": InvalidRequest,
    "TableNotFoundException": InvalidRequest,
    "TableExistsException": InvalidRequest,
    "TableNotDisabledException": InvalidRequest,
    "TableNotEnabledException": InvalidRequest,
    "NamespaceNotFoundException": InvalidRequest,
    "NamespaceExistException": InvalidRequest,
    "constraint.ConstraintException": InvalidRequest,
    "InvalidFamilyOperationException": InvalidRequest,
    "exceptions.MergeRegionException": InvalidRequest,
    "UnknownRegionException": InvalidRequest,
    "client.WrongRowIOException": InvalidRequest,
    "snapshot.SnapshotExistsException": InvalidRequest,
    "snapshot.SnapshotCreationException": InvalidRequest,
    "snapshot.SnapshotDoesNotExistException": InvalidRequest,
    "DoNotRetryIOException": InvalidRequest,
    "security.AccessDeniedException": InvalidRequest,
    "ipc.FatalConnectionException": FatalConnection,
    "ipc.WrongVersionException": FatalConnection,
    "ipc.BadAuthException": AuthenticationNeeded,
}
"""The expected base class of each Java class. Source: facts of the protocol, 3.9 and 3.14."""

OUR_MISTAKES = [
    "Row length is 0",
    "Row length 32768 is > 32767",
    "Family cannot be null",
    "versions must be positive",
    "maxStamp is smaller than minStamp",
]


def list_classes(kind: type[HBaseError] = HBaseError) -> Iterator[type[HBaseError]]:
    """Yield a class of errors and all subclasses in rowkey.hbase.errors."""
    if kind.__module__.startswith("rowkey.hbase.errors"):
        yield kind
    for below in kind.__subclasses__():
        yield from list_classes(below)


def read_error(java: str, says: str = "it is so", *, do_not_retry: bool = False) -> HBaseError:
    """Return the error that is read from an exception as a server sends it."""
    trace = f"{java}: {says}\n\tat org.apache.hadoop.hbase.X.y(X.java:1)\n"
    return parse_remote_error(java, trace, do_not_retry, server="rs1:16020")


@pytest.mark.parametrize("do_not_retry", [True, False])
@pytest.mark.parametrize("java", sorted(BASE_BY_JAVA_CLASS))
def test_the_java_class_and_not_the_retry_flag_decides_about_a_retry(
    java: str, do_not_retry: bool
) -> None:
    """The Java class decides about a retry, since `do_not_retry` is wrong for many classes."""
    error = read_error(H + java, do_not_retry=do_not_retry)
    assert BASE_BY_JAVA_CLASS[java] is next(
        one for one in type(error).__mro__ if one in BASE_BY_JAVA_CLASS.values()
    )
    assert (H + java, "it is so", "rs1:16020") == (
        error.java_class,
        error.remote_message,
        error.server,
    )
    simple = java.rpartition(".")[2]
    assert str(error).startswith(f"rs1:16020: HBase answered {simple}: it is so.")


def test_every_java_class_maps_to_one_error() -> None:
    """Each Java class belongs to one error class."""
    claims = [(name, kind) for kind in list_classes() for name in vars(kind).get("java_names", ())]
    assert len(claims) == len(dict(claims))
    assert claims == [(name, type(read_error(name))) for name, _ in claims]


def test_every_client_error_is_exported_and_has_one_base_error() -> None:
    """Each error is exported and belongs to exactly one of rowkey's base errors."""
    assert {kind.__name__ for kind in list_classes()} <= set(errors_package.__all__)
    assert all(issubclass(kind, RowkeyError) for kind in list_classes())
    sorts = [kind for kind in list_classes() if kind is not HBaseError]
    actions = (InvalidArgument, Unavailable, NotSupported, Closed)
    assert all(1 == sum(issubclass(kind, one) for one in actions) for kind in sorts)
    assert all(
        kind.is_retriable != issubclass(kind, InvalidArgument) for kind in sorts if _is_sent(kind)
    )


def _is_sent(kind: type[HBaseError]) -> bool:
    own = (
        OperationTimedOut,
        MaybeApplied,
        PartialBatchFailure,
        AuthenticationFailed,
        AuthenticationNeeded,
        ClientClosed,
    )
    return not issubclass(kind, own)


@pytest.mark.parametrize("java", ["java.lang.RuntimeException", f"{H}NewException", ""])
def test_the_retry_flag_decides_for_an_unknown_java_class(java: str) -> None:
    """For an unknown class the retry flag decides, and the error has its name."""
    final, passing = read_error(java, do_not_retry=True), read_error(java)
    assert (InvalidRequest, False) == (type(final), final.is_retriable)
    assert (RemoteError, True, True) == (
        type(passing),
        passing.is_retriable,
        passing.is_likely_permanent,
    )
    assert java.rpartition(".")[2] in str(passing)


def test_a_java_class_in_any_package_of_hbase_is_known() -> None:
    """A class is known in any package of HBase, but not in one of another project."""
    assert NotServingRegion is type(read_error(f"{H}moved.NotServingRegionException"))
    assert RemoteError is type(read_error("com.example.NotServingRegionException"))


@pytest.mark.parametrize("message", OUR_MISTAKES)
def test_an_io_exception_of_a_bad_request_is_not_retried(message: str) -> None:
    """A known bad request is not retried, although the server's flag allows a retry."""
    assert InvalidRequest is type(read_error("java.io.IOException", message))
    assert RemoteError is type(read_error("java.io.IOException", "disk is on fire"))


def test_the_new_server_of_a_moved_region_is_read_from_the_error_text() -> None:
    """A moved region's new server is read from the text, as batches have no field."""
    says = (
        "Region moved to: hostname=rs-2.example port=16021 startCode=1700000000123."
        " As of locationSeqNum=42."
    )
    error = read_error(f"{H}exceptions.RegionMovedException", says)
    assert isinstance(error, RegionMoved)
    told = (error.host, error.port, error.start_code, error.seqnum)
    assert ("rs-2.example", 16021, 1700000000123, 42) == told


def test_the_new_server_of_a_moved_region_is_read_from_the_error_fields() -> None:
    """A moved region's new server is read from the fields, and None if malformed."""
    java = f"{H}exceptions.RegionMovedException"
    error = parse_remote_error(java, f"{java}: hostname=a port=1", False, "b", 2)
    assert isinstance(error, RegionMoved)
    assert ("b", 2, None, None) == (error.host, error.port, error.start_code, error.seqnum)
    empty = parse_remote_error(java, "port=99999", False, None, 70_000)
    assert isinstance(empty, RegionMoved)
    assert (None, None) == (empty.host, empty.port)


def test_a_timestamp_out_of_range_is_not_treated_as_a_wrong_region() -> None:
    """A timestamp out of range is not treated as a wrong region of the same class."""
    java = f"{H}exceptions.FailedSanityCheckException"
    says = "Timestamp for KV is out of range r1/d:q/9223372036854775000/Put"
    assert DoNotRetryIO is type(read_error(java, says))
    assert errors_package.FailedSanityCheck is type(
        read_error(java, "Requested row out of range for HRegion t,,1")
    )


def test_a_missing_kerberos_ticket_is_not_access_denied() -> None:
    """A missing Kerberos ticket is not AccessDenied, which means permissions."""
    java = f"{H}security.AccessDeniedException"
    assert AuthenticationNeeded is type(read_error(java, "Authentication is required"))
    assert errors_package.AccessDenied is type(
        read_error(java, "Insufficient permissions for user 'ada'")
    )


@given(st.text(max_size=200), st.text(max_size=2_000), st.booleans())
def test_any_remote_error_becomes_one_line(java: str, trace: str, dnr: bool) -> None:
    """Any remote error becomes one line without raising another exception."""
    error = parse_remote_error(java, trace, dnr, server="rs1:1")
    assert isinstance(error, HBaseError)
    assert 1 == len(str(error).splitlines())
    assert str(error).isprintable()


def test_only_the_message_of_a_long_stack_trace_is_kept() -> None:
    """Only the message of a long trace is kept, as far as it can be decoded."""
    error = read_error(f"{H}TableNotFoundException", "t" * 10_000_000)
    assert len(str(error)) < 1_000
    assert len(error.remote_message) <= 64 << 10


def test_a_copied_error_is_another_object_with_the_same_attributes() -> None:
    error = read_error(f"{H}TableNotFoundException")
    twin = error.copy_error()
    assert twin is not error
    assert (type(error), str(error), vars(error)) == (type(twin), str(twin), vars(twin))
    moved = read_error(f"{H}exceptions.RegionMovedException", "hostname=a port=1")
    assert vars(moved) == vars(moved.copy_error())


def test_operation_timed_out_has_the_last_error() -> None:
    """OperationTimedOut has the last error and is also Python's TimeoutError."""
    last = ConnectionLost("rs1:16020", "closed the connection")
    error = OperationTimedOut("t1", "120 s are over", last_error=last, attempts=17)
    assert isinstance(error, TimeoutError)
    assert (last, 17) == (error.last_error, error.attempts)
    assert str(error).startswith("t1: 120 s are over (17 attempts). Last error: rs1:16020: closed")
    assert str(error) == str(error.copy_error())


def test_the_error_of_a_failed_batch_groups_its_failures() -> None:
    """A failed batch's text groups errors, and `failures` lists them by index."""
    gone = TableNotFound("t1", "it is gone")
    late = CallTimedOut("rs2:1", "no answer")
    failures = [
        FailedAction(7, b"r7", b"t1,,1", "rs1:1", gone),
        FailedAction(2, b"r2", b"t1,x,2", "rs2:1", late),
        FailedAction(3, b"r3", b"t1,,1", "rs1:1", gone),
    ]
    error = PartialBatchFailure("t1", failures, 10)
    assert [2, 3, 7] == [one.index for one in error.failures]
    lines = str(error).splitlines()
    assert "t1: 3 of 10 actions failed, the others are applied." == lines[0]
    assert "2 actions on rs1:1, region b't1,,1', first index 3, row b'r3'" in lines[1]
    assert "1 action on rs2:1" in lines[2]
    assert (7, b"r7", b"t1,,1", "rs1:1", gone) == error.failures[-1]


def test_the_error_of_a_failed_batch_prints_five_groups() -> None:
    """A failed batch prints five groups and how many more there are."""
    gone = TableNotFound("t1", "it is gone")
    failures = [FailedAction(n, b"r", b"t1,%d" % n, "rs1:1", gone) for n in range(1_000)]
    error = PartialBatchFailure("t1", failures, 1_000)
    lines = str(error).splitlines()
    assert 8 == len(lines)
    assert "… and 995 more groups" == lines[6]
    assert "Send the failed actions again; `failures` lists them." == lines[7]
    assert 1_000 == len(error.failures)
