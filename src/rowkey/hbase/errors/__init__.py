"""Errors of a cluster, named after HBase's and sorted by how to handle them.

```
HBaseError
├── InvalidRequest       raise at once: the caller must change the request
├── StaleLocationError   look up the region again
├── BusyError            retry later at the same server
├── ServerGone           drop the server's connection and its regions
├── ScannerLost          open a new scanner after the last row
├── RetryNowError        request the rest at once
├── RemoteError          an unknown class: retry a few times
├── AuthenticationNeeded the server needs Kerberos or TLS, for which the client is not set
├── AuthenticationFailed correct the ticket, the key, the certificate or the settings
├── OverwrittenAnswer    send an increment again, whose nonce the server knows
├── OperationTimedOut    the time or the attempts of an operation are used up
├── MaybeApplied         read the row to see whether the change is applied
├── PartialBatchFailure  some actions of a batch failed, the others are applied
└── ClientClosed         connect again
```
"""

from rowkey.hbase.errors.client_errors import (
    AuthenticationFailed,
    AuthenticationNeeded,
    BusyError,
    CallTimedOut,
    ClientClosed,
    ConnectionLost,
    FailedAction,
    FatalConnection,
    HBaseError,
    HeaderRefused,
    InvalidRequest,
    MalformedAnswer,
    MaybeApplied,
    OperationTimedOut,
    OverwrittenAnswer,
    PartialBatchFailure,
    RemoteError,
    RetryNowError,
    ScannerLost,
    ServerGone,
    StaleLocationError,
    UnknownHost,
)
from rowkey.hbase.errors.remote_error_parser import parse_remote_error
from rowkey.hbase.errors.server_errors import (
    AccessDenied,
    CallDropped,
    CallQueueTooBig,
    ConstraintViolated,
    DoNotRetryIO,
    FailedSanityCheck,
    IllegalArgument,
    InvalidFamilyOperation,
    MasterInitializing,
    MergeRegion,
    MultiActionResultTooLarge,
    NamespaceExist,
    NamespaceNotFound,
    NoSuchColumnFamily,
    NotMaster,
    NotServingRegion,
    OutOfOrderScannerNext,
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

__all__ = [
    "AccessDenied",
    "AuthenticationFailed",
    "AuthenticationNeeded",
    "BusyError",
    "CallDropped",
    "CallQueueTooBig",
    "CallTimedOut",
    "ClientClosed",
    "ConnectionLost",
    "ConstraintViolated",
    "DoNotRetryIO",
    "FailedAction",
    "FailedSanityCheck",
    "FatalConnection",
    "HBaseError",
    "HeaderRefused",
    "IllegalArgument",
    "InvalidFamilyOperation",
    "InvalidRequest",
    "MalformedAnswer",
    "MasterInitializing",
    "MaybeApplied",
    "MergeRegion",
    "MultiActionResultTooLarge",
    "NamespaceExist",
    "NamespaceNotFound",
    "NoSuchColumnFamily",
    "NotMaster",
    "NotServingRegion",
    "OperationTimedOut",
    "OutOfOrderScannerNext",
    "OverwrittenAnswer",
    "PartialBatchFailure",
    "RegionMoved",
    "RegionOpening",
    "RegionServerAborted",
    "RegionServerStopped",
    "RegionTooBusy",
    "RemoteError",
    "RetryImmediately",
    "RetryNowError",
    "RpcThrottling",
    "ScannerLost",
    "ScannerReset",
    "ServerGone",
    "ServerNotRunningYet",
    "SnapshotProblem",
    "StaleLocationError",
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
    "parse_remote_error",
]
