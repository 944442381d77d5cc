"""Errors that servers send, named after HBase's classes and sorted by how to handle them.

Source: HBase book, "Client", and the classes' own names; which of them a server really sends, and
when, was tried on 2.6.4.
"""

from __future__ import annotations

from typing import Any

from rowkey.hbase.errors.client_errors import (
    HBASE_PACKAGE,
    BusyError,
    InvalidRequest,
    RetryNowError,
    ScannerLost,
    ServerGone,
    StaleLocationError,
)


def _qualify_names(*names: str) -> tuple[str, ...]:
    """Return Java class names with HBase's package in front."""
    return tuple(f"{HBASE_PACKAGE}{name}" for name in names)


class DoNotRetryIO(InvalidRequest):
    """The server says that a retry cannot help."""

    java_names = _qualify_names(
        "DoNotRetryIOException",
        "exceptions.RequestTooBigException",
        "regionserver.RowTooBigException",
        "client.RowTooBigException",
        "quotas.QuotaExceededException",
        "quotas.SpaceLimitingException",
        "exceptions.UnknownProtocolException",
        "ipc.UnsupportedCellCodecException",
        "ipc.UnsupportedCompressionCodecException",
    )


class TableNotFound(InvalidRequest):
    """No table has that name."""

    java_names = _qualify_names("TableNotFoundException")
    advice = "Check the name, or create the table."


class TableExists(InvalidRequest):
    """A table with that name exists."""

    java_names = _qualify_names("TableExistsException")
    advice = "Choose another name, or delete that table first."


class TableNotDisabled(InvalidRequest):
    """The table must be disabled first."""

    java_names = _qualify_names("TableNotDisabledException")
    advice = "Disable the table first."


class TableNotEnabled(InvalidRequest):
    """The table is disabled."""

    java_names = _qualify_names("TableNotEnabledException")
    advice = "Enable the table first."


class NoSuchColumnFamily(InvalidRequest):
    """The table has no such column family."""

    java_names = _qualify_names("regionserver.NoSuchColumnFamilyException")
    advice = "Name a column family of the table, or add it."


class NamespaceNotFound(InvalidRequest):
    """No namespace has that name."""

    java_names = _qualify_names("NamespaceNotFoundException")
    advice = "Create the namespace first."


class NamespaceExist(InvalidRequest):
    """A namespace with that name exists."""

    java_names = _qualify_names("NamespaceExistException")
    advice = "Use that namespace, or choose another name."


class InvalidFamilyOperation(InvalidRequest):
    """The column family to add exists, or the one to change does not."""

    java_names = _qualify_names("InvalidFamilyOperationException")
    advice = "Check which column families the table has with describe_table."


class ConstraintViolated(InvalidRequest):
    """A rule of the cluster forbids the request, such as deleting a namespace with tables."""

    java_names = _qualify_names("constraint.ConstraintException")
    advice = "Remove what the message names; a namespace must have no tables to be deleted."


class MergeRegion(InvalidRequest):
    """These regions cannot be merged: not adjacent, not two, or just split."""

    java_names = _qualify_names("exceptions.MergeRegionException")
    advice = "Name two adjacent regions; if one was just split, compact the table first."


class UnknownRegion(InvalidRequest):
    """The master knows no region with that (encoded) name."""

    java_names = _qualify_names("UnknownRegionException")
    advice = "List the regions again and name a current one."


class WrongRow(InvalidRequest):
    """A cell belongs to another row than its mutation."""

    java_names = _qualify_names("client.WrongRowIOException")
    advice = "Send each cell with the mutation of its own row."


class SnapshotProblem(InvalidRequest):
    """The snapshot exists already, does not exist, or cannot be made."""

    java_names = _qualify_names(
        "snapshot.SnapshotExistsException",
        "snapshot.SnapshotDoesNotExistException",
        "snapshot.SnapshotCreationException",
        "snapshot.RestoreSnapshotException",
        "snapshot.CorruptedSnapshotException",
        "snapshot.TablePartiallyOpenException",
    )
    advice = "Check the names of snapshot and table; list_snapshots lists the snapshots."


class AccessDenied(InvalidRequest):
    """The user has no permission for the request."""

    java_names = (
        *_qualify_names("security.AccessDeniedException"),
        "org.apache.hadoop.security.AccessControlException",
        "org.apache.hadoop.security.authorize.AuthorizationException",
    )
    advice = "Grant the user the permission, or connect as another user."


class IllegalArgument(InvalidRequest):
    """The request itself is malformed, which is a defect of this client."""

    java_names = (
        "java.lang.IllegalArgumentException",
        "org.apache.hbase.thirdparty.com.google.protobuf.UninitializedMessageException",
        "org.apache.hbase.thirdparty.com.google.protobuf.InvalidProtocolBufferException",
    )
    advice = "Check the arguments; if they are valid, report this as a defect of rowkey."


class NotServingRegion(StaleLocationError):
    """The region is closed, split, moved, disabled or dropped; the class does not say which."""

    java_names = _qualify_names("NotServingRegionException")


class RegionMoved(StaleLocationError):
    """The region moved to the server that the error names; that may be an earlier location.

    Attributes:
        host: server it moved to, or None if the text does not name it.
        port: its port.
        start_code: its start code.
        seqnum: number of the region's opening there; older than the cached one = stale hint.
    """

    java_names = _qualify_names("exceptions.RegionMovedException")

    def __init__(self, path: str, problem: str, *pieces: str, **about: Any) -> None:
        super().__init__(path, problem, *pieces, **about)
        self.host: str | None = None
        self.port: int | None = None
        self.start_code: int | None = None
        self.seqnum: int | None = None


class WrongRegion(StaleLocationError):
    """The row is not in the region it was sent to."""

    java_names = _qualify_names("regionserver.WrongRegionException")


class FailedSanityCheck(StaleLocationError):
    """The row of a put or delete is not in the region it was sent to."""

    java_names = _qualify_names("exceptions.FailedSanityCheckException")


class RegionOpening(BusyError):
    """The region is being opened on that server."""

    java_names = _qualify_names("exceptions.RegionOpeningException")


class RegionTooBusy(BusyError):
    """The region's memory is full until it is flushed; nothing was applied."""

    java_names = _qualify_names("RegionTooBusyException")
    advice = "Wait until the region has flushed its memstore, then write again."


class CallQueueTooBig(BusyError):
    """Too many calls wait at the server."""

    java_names = _qualify_names("CallQueueTooBigException")
    advice = "Wait a moment and try again, with fewer requests at a time."


class CallDropped(BusyError):
    """The server dropped the call before it started it."""

    java_names = _qualify_names("CallDroppedException")


class RpcThrottling(BusyError):
    """The user, table or namespace has used up its quota for now."""

    java_names = _qualify_names("quotas.RpcThrottlingException", "quotas.ThrottlingException")
    advice = "Wait until the quota allows more requests, or raise the quota."


class MasterInitializing(BusyError):
    """The master, or the table or namespace of the request, is still being initialized."""

    java_names = _qualify_names(
        "PleaseHoldException",
        "NotAllMetaRegionsOnlineException",
    )
    advice = "Wait until the master is initialized, then try again."


class TimeoutIO(BusyError):
    """The server gave up during the call because it took too long."""

    java_names = _qualify_names("exceptions.TimeoutIOException")
    is_outcome_unknown = True


class ServerNotRunningYet(BusyError):
    """The server is starting; its regions may be opened elsewhere, so look them up again."""

    java_names = _qualify_names("ipc.ServerNotRunningYetException")
    advice = "Wait until the server has started, then try again."


class RegionServerStopped(ServerGone):
    """The server is being stopped."""

    java_names = _qualify_names("regionserver.RegionServerStoppedException")
    is_outcome_unknown = False


class RegionServerAborted(ServerGone):
    """The server has aborted."""

    java_names = _qualify_names(
        "regionserver.RegionServerAbortedException", "DroppedSnapshotException"
    )
    is_outcome_unknown = False


class NotMaster(ServerGone):
    """The master was stopped, or another one is active: look it up in the registry."""

    java_names = _qualify_names("exceptions.MasterStoppedException", "MasterNotRunningException")
    is_outcome_unknown = False
    advice = "Try again when another master is active."


class UnknownScanner(ScannerLost):
    """The scanner's lease expired, or its region was opened again."""

    java_names = _qualify_names("UnknownScannerException", "regionserver.LeaseException")


class ScannerReset(ScannerLost):
    """The server closed the scanner: its files changed, or it took too long."""

    java_names = _qualify_names("exceptions.ScannerResetException")


class OutOfOrderScannerNext(ScannerLost):
    """An answer of the scanner was lost."""

    java_names = _qualify_names("exceptions.OutOfOrderScannerNextException")


class MultiActionResultTooLarge(RetryNowError):
    """The answers of a batch are too large together: request the rest again."""

    java_names = _qualify_names("MultiActionResultTooLarge")


class RetryImmediately(RetryNowError):
    """The server requests a retry at once."""

    java_names = _qualify_names("RetryImmediatelyException")
    advice = "Try again."
