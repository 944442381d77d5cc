"""The requests of HBase's protocol: each encodes itself and decodes its answer, without I/O."""

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.reads import ScanResponse
from rowkey.hbase.requests.multi import Action, ActionFailure, Multi, Outcome, RawMulti
from rowkey.hbase.requests.row_reads import (
    CloseScanner,
    Exists,
    Get,
    NextRows,
    OpenScanner,
    RenewScanner,
)
from rowkey.hbase.requests.row_writes import (
    Append,
    CheckAndMutate,
    DeleteRow,
    Increment,
    Mutate,
    MutateRow,
    build_mutation,
)

__all__ = [
    "Action",
    "ActionFailure",
    "Append",
    "CheckAndMutate",
    "CloseScanner",
    "DeleteRow",
    "Exists",
    "Get",
    "Increment",
    "Multi",
    "Mutate",
    "MutateRow",
    "NextRows",
    "OpenScanner",
    "Outcome",
    "RawMulti",
    "RenewScanner",
    "Request",
    "ScanResponse",
    "build_mutation",
]
