"""The requests that clients send to region servers: a file for each, bytes both ways, no socket."""

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.scan_answer import ScanAnswer
from rowkey.hbase.requests.append import Append
from rowkey.hbase.requests.check_and_mutate import CheckAndMutate
from rowkey.hbase.requests.close_scanner import CloseScanner
from rowkey.hbase.requests.delete_row import DeleteRow
from rowkey.hbase.requests.exists import Exists
from rowkey.hbase.requests.get import Get
from rowkey.hbase.requests.increment import Increment
from rowkey.hbase.requests.multi import Action, Multi, Outcome
from rowkey.hbase.requests.mutate import Mutate
from rowkey.hbase.requests.mutate_row import MutateRow, writing
from rowkey.hbase.requests.next_rows import NextRows
from rowkey.hbase.requests.open_scanner import OpenScanner
from rowkey.hbase.requests.raw_multi import ActionFailure, RawMulti
from rowkey.hbase.requests.renew_scanner import RenewScanner

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
    "ScanAnswer",
    "writing",
]
