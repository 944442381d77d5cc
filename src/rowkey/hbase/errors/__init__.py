"""Errors of a cluster, named after HBase's and sorted by what to do about them.

```
HBaseError
├── AskedWrongly         raise at once: change what is asked
├── ElsewhereError       look up the region again
├── BusyError            ask the same server later
├── ServerGone           drop the server's connection and its regions
├── ScannerLost          open a new scanner behind the last row
├── AtOnceError          ask for the rest at once
├── RemoteError          an unknown class: ask again a few times
├── AuthenticationNeeded Kerberos or TLS, not spoken here
├── OutOfTime            the budget of an operation is used up
├── MaybeApplied         read what the row holds
└── SomeFailed           of a batch: the others are applied
```
"""

from rowkey.hbase.errors.answers import (
    AccessDenied,
    CallDropped,
    CallQueueTooBig,
    ConstraintViolated,
    DoNotRetryIO,
    FailedSanityCheck,
    IllegalArgument,
    InvalidFamilyOperation,
    MergeRegion,
    MultiActionResultTooLarge,
    NamespaceExist,
    NamespaceNotFound,
    NoSuchColumnFamily,
    NotMaster,
    NotServingRegion,
    OutOfOrderScannerNext,
    PleaseHold,
    RegionMoved,
    RegionOpening,
    RegionServerAborted,
    RegionServerStopped,
    RegionTooBusy,
    RetryImmediately,
    RpcThrottling,
    ScannerReset,
    ServerNotRunningYet,
    SnapshotProblem,
    TableExists,
    TableNotDisabled,
    TableNotEnabled,
    TableNotFound,
    TimeoutIO,
    UnknownRegion,
    UnknownScanner,
    WrongRegion,
    WrongRow,
)
from rowkey.hbase.errors.own import (
    AuthenticationNeeded,
    CallTimedOut,
    ConnectionLost,
    Failure,
    FatalConnection,
    HeaderRefused,
    MalformedAnswer,
    MaybeApplied,
    OutOfTime,
    SomeFailed,
    UnknownHost,
)
from rowkey.hbase.errors.reading import from_remote
from rowkey.hbase.errors.sorts import (
    AskedWrongly,
    AtOnceError,
    BusyError,
    ElsewhereError,
    HBaseError,
    RemoteError,
    ScannerLost,
    ServerGone,
)

__all__ = [
    "AccessDenied",
    "AskedWrongly",
    "AtOnceError",
    "AuthenticationNeeded",
    "BusyError",
    "CallDropped",
    "CallQueueTooBig",
    "CallTimedOut",
    "ConnectionLost",
    "ConstraintViolated",
    "DoNotRetryIO",
    "ElsewhereError",
    "FailedSanityCheck",
    "Failure",
    "FatalConnection",
    "HBaseError",
    "HeaderRefused",
    "IllegalArgument",
    "InvalidFamilyOperation",
    "MalformedAnswer",
    "MaybeApplied",
    "MergeRegion",
    "MultiActionResultTooLarge",
    "NamespaceExist",
    "NamespaceNotFound",
    "NoSuchColumnFamily",
    "NotMaster",
    "NotServingRegion",
    "OutOfOrderScannerNext",
    "OutOfTime",
    "PleaseHold",
    "RegionMoved",
    "RegionOpening",
    "RegionServerAborted",
    "RegionServerStopped",
    "RegionTooBusy",
    "RemoteError",
    "RetryImmediately",
    "RpcThrottling",
    "ScannerLost",
    "ScannerReset",
    "ServerGone",
    "ServerNotRunningYet",
    "SnapshotProblem",
    "SomeFailed",
    "TableExists",
    "TableNotDisabled",
    "TableNotEnabled",
    "TableNotFound",
    "TimeoutIO",
    "UnknownHost",
    "UnknownRegion",
    "UnknownScanner",
    "WrongRegion",
    "WrongRow",
    "from_remote",
]
