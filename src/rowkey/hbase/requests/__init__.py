"""The requests of HBase's protocol: each encodes itself and decodes its answer, without I/O."""

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.scan_response import ScanResponse
from rowkey.hbase.requests.append import Append
from rowkey.hbase.requests.check_and_mutate import CheckAndMutate
from rowkey.hbase.requests.get import Exists, Get
from rowkey.hbase.requests.increment import Increment
from rowkey.hbase.requests.multi import Action, Multi, Outcome
from rowkey.hbase.requests.mutate import DeleteRow, Mutate, MutateRow, build_mutation
from rowkey.hbase.requests.raw_multi import ActionFailure, RawMulti
from rowkey.hbase.requests.scanners import CloseScanner, NextRows, OpenScanner, RenewScanner

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
