"""Errors named after HBase's classes: what a server answers, each below what to do about it.

Source: HBase book, "Client", and the classes' own names; which of them a server really sends, and
when, was tried on 2.6.4.
"""

from __future__ import annotations

from typing import Any, Final

from rowkey.hbase.errors.sorts import (
    AskedWrongly,
    AtOnceError,
    BusyError,
    ElsewhereError,
    ScannerLost,
    ServerGone,
)

HBASE: Final = "org.apache.hadoop.hbase."
"""Package that HBase's own classes are in, or below."""


def _named(*names: str) -> tuple[str, ...]:
    return tuple(f"{HBASE}{name}" for name in names)


class DoNotRetryIO(AskedWrongly):
    """The server says that asking again is of no use."""

    names = _named(
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


class TableNotFound(AskedWrongly):
    """No table has that name."""

    names = _named("TableNotFoundException")
    advice = "Check its name, or create it."


class TableExists(AskedWrongly):
    """A table of that name is there."""

    names = _named("TableExistsException")
    advice = "Take another name, or delete that table."


class TableNotDisabled(AskedWrongly):
    """The table must be disabled for that."""

    names = _named("TableNotDisabledException")
    advice = "Disable the table first."


class TableNotEnabled(AskedWrongly):
    """The table is disabled."""

    names = _named("TableNotEnabledException")
    advice = "Enable the table first."


class NoSuchColumnFamily(AskedWrongly):
    """The table has no such family."""

    names = _named("regionserver.NoSuchColumnFamilyException")
    advice = "Name a family of the table, or add it."


class NamespaceNotFound(AskedWrongly):
    """No namespace has that name."""

    names = _named("NamespaceNotFoundException")
    advice = "Create the namespace first."


class NamespaceExist(AskedWrongly):
    """A namespace of that name is there."""

    names = _named("NamespaceExistException")


class InvalidFamilyOperation(AskedWrongly):
    """A family that is there cannot be added, one that is not cannot be changed."""

    names = _named("InvalidFamilyOperationException")


class ConstraintViolated(AskedWrongly):
    """A rule of the cluster forbids it: a namespace with tables cannot be deleted."""

    names = _named("constraint.ConstraintException")


class MergeRegion(AskedWrongly):
    """These regions cannot be merged: not adjacent, not two, or freshly split."""

    names = _named("exceptions.MergeRegionException")


class UnknownRegion(AskedWrongly):
    """The master knows no region of that (encoded) name."""

    names = _named("UnknownRegionException")


class WrongRow(AskedWrongly):
    """A cell belongs to another row than its mutation."""

    names = _named("client.WrongRowIOException")


class SnapshotProblem(AskedWrongly):
    """A snapshot is there already, is not there, or cannot be made."""

    names = _named(
        "snapshot.SnapshotExistsException",
        "snapshot.SnapshotDoesNotExistException",
        "snapshot.SnapshotCreationException",
        "snapshot.RestoreSnapshotException",
        "snapshot.CorruptedSnapshotException",
        "snapshot.TablePartiallyOpenException",
    )


class AccessDenied(AskedWrongly):
    """The user may not do that."""

    names = (
        *_named("security.AccessDeniedException"),
        "org.apache.hadoop.security.AccessControlException",
        "org.apache.hadoop.security.authorize.AuthorizationException",
    )
    advice = "Ask for the right, or ask as another user."


class IllegalArgument(AskedWrongly):
    """The request itself is malformed: a mistake of this client."""

    names = (
        "java.lang.IllegalArgumentException",
        "org.apache.hbase.thirdparty.com.google.protobuf.UninitializedMessageException",
        "org.apache.hbase.thirdparty.com.google.protobuf.InvalidProtocolBufferException",
    )


class NotServingRegion(ElsewhereError):
    """The region is closed, split, moved, disabled or dropped; the class does not tell which."""

    names = _named("NotServingRegionException")


class RegionMoved(ElsewhereError):
    """The region went to another server, which the error names; it may be a former home.

    Attributes:
        host: server it went to, or None if the text does not tell.
        port: its port.
        start_code: its start code.
        seqnum: number of the region's opening there; older than the cached one = stale hint.
    """

    names = _named("exceptions.RegionMovedException")

    def __init__(self, path: str, what: str, *pieces: str, **about: Any) -> None:
        super().__init__(path, what, *pieces, **about)
        self.host: str | None = None
        self.port: int | None = None
        self.start_code: int | None = None
        self.seqnum: int | None = None


class WrongRegion(ElsewhereError):
    """The row is not in the region it was sent to."""

    names = _named("regionserver.WrongRegionException")


class FailedSanityCheck(ElsewhereError):
    """The row of a put or delete is not in the region it was sent to."""

    names = _named("exceptions.FailedSanityCheckException")


class RegionOpening(BusyError):
    """The region is being opened on that server."""

    names = _named("exceptions.RegionOpeningException")


class RegionTooBusy(BusyError):
    """The region's memory is full until it is flushed; nothing was applied."""

    names = _named("RegionTooBusyException")


class CallQueueTooBig(BusyError):
    """The server has too many calls waiting."""

    names = _named("CallQueueTooBigException")


class CallDropped(BusyError):
    """The server dropped the call before it was begun."""

    names = _named("CallDroppedException")


class RpcThrottling(BusyError):
    """A quota is used up for now."""

    names = _named("quotas.RpcThrottlingException", "quotas.ThrottlingException")


class PleaseHold(BusyError):
    """The master is not initialised yet, or what was asked of is still in the making."""

    names = _named(
        "PleaseHoldException",
        "NotAllMetaRegionsOnlineException",
    )


class TimeoutIO(BusyError):
    """The server gave up amid the call, for it took too long there."""

    names = _named("exceptions.TimeoutIOException")
    unclear = True


class ServerNotRunningYet(BusyError):
    """The server is starting: its regions may be given to others, so look them up again as well."""

    names = _named("ipc.ServerNotRunningYetException")


class RegionServerStopped(ServerGone):
    """The server is being stopped."""

    names = _named("regionserver.RegionServerStoppedException")
    unclear = False


class RegionServerAborted(ServerGone):
    """The server has given up."""

    names = _named("regionserver.RegionServerAbortedException", "DroppedSnapshotException")
    unclear = False


class NotMaster(ServerGone):
    """The master was stopped, or another one is active: ask the registry for it."""

    names = _named("exceptions.MasterStoppedException", "MasterNotRunningException")
    unclear = False
    advice = "Look up which master is active."


class UnknownScanner(ScannerLost):
    """The scanner's lease ran out, or its region was opened anew."""

    names = _named("UnknownScannerException", "regionserver.LeaseException")


class ScannerReset(ScannerLost):
    """The server closed the scanner: what it reads was changed, or it took too long."""

    names = _named("exceptions.ScannerResetException")


class OutOfOrderScannerNext(ScannerLost):
    """An answer of the scanner was lost."""

    names = _named("exceptions.OutOfOrderScannerNextException")


class MultiActionResultTooLarge(AtOnceError):
    """The answers of a batch are too large together: the rest is to be asked again."""

    names = _named("MultiActionResultTooLarge")


class RetryImmediately(AtOnceError):
    """The server asks to be asked again."""

    names = _named("RetryImmediatelyException")
