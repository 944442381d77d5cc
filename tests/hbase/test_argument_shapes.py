"""Arguments of every shape for every method of a table: sent, or refused as `InvalidArgument`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from rowkey import happybase
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.errors import InvalidArgument, RowkeyError
from rowkey.hbase import ReadSpec, ScanSpec, Settings
from rowkey.hbase.table import HBaseTable

CELL = Cell("d", b"q", LATEST, b"v")
MUTATION = RowCells(b"r", [CELL])
VALID = {
    "row": b"r", "rows": [b"r"], "read": ReadSpec(), "scan": ScanSpec(), "cells": [CELL],
    "values": {("d", b"q"): b"v"}, "mutations": [MUTATION, MUTATION], "blocks": [],
    "actions": [MUTATION], "amounts": [("d", b"q", 1)], "pieces": [("d", b"q", b"v")],
    "family": "d", "qualifier": b"q", "operator": "=", "value": b"v",
}  # fmt: skip
VALID_IN_HAPPYBASE = {
    "row": b"r", "rows": [b"r"], "column": b"d:q", "columns": [b"d:q"], "data": {b"d:q": b"v"},
    "value": 1,
}  # fmt: skip
ROW: Any = RowCells
WRONG: Any = CELL
SHAPES: list[Any] = [
    None, 5, -1, 2**70, 1.5, True, "x", "", "\ud800", b"x", b"", (), [], {}, {5}, object(),
    range(3), iter([1]), [5], [None], ["x"], [b"x"], [()], {5: 5}, {"d": b"v"}, {("d",): b"v"},
    {("d", b"q", 1): b"v"}, {("d", b"q"): "v"}, {("d", b"q"): None}, {("\ud800", b"q"): b"v"},
    [("d",)], [("d", b"q")], [("d", b"q", 1, 2)], [("d", "q", 1)], [(b"d", b"q", 1)],
    [("d", b"q", "x")], [("d", b"q", True)], [(None, b"q", 1)], [([], [], [])],
    [("\ud800", b"q", b"v")], [WRONG._replace(qualifier="q")], [WRONG._replace(family=None)],
    [WRONG._replace(family=[])], [WRONG._replace(family="\ud800")], [WRONG._replace(timestamp="1")],
    [WRONG._replace(value=None)], [WRONG._replace(cell_type="x")], [WRONG._replace(ttl_ms="x")],
    [ROW(b"r", None)], [ROW(None, [])], [ROW("r", [WRONG])],
    [ROW(b"r", [5])], [ROW(b"r", [("d", b"q")])], [ROW(b"r", iter([WRONG]))],
]  # fmt: skip
"""Values of which each argument accepts few."""


class RequestSent(Exception):
    """Raised instead of sending a request to a server."""


class EncodingCaller:
    """A caller that encodes requests and sends none."""

    settings = Settings()

    def call_row(self, table: str, row: bytes, request: Any, **options: Any) -> None:
        """Encode a request of one row."""
        request.encode(b"region")
        raise RequestSent

    def __getattr__(self, name: str) -> Any:
        raise RequestSent


class OpenConnection:
    """A connection of the happybase layer, of which only tables are used."""

    def __init__(self, table: HBaseTable) -> None:
        self.client = self
        self._table = table

    def table(self, name: str) -> HBaseTable:
        """Return the native table."""
        return self._table


def build_table() -> HBaseTable:
    """Return a table whose requests are encoded and not sent."""
    return HBaseTable(EncodingCaller(), "t")  # type: ignore[arg-type]


def build_happybase_table() -> happybase.Table:
    """Return the same as a table of happybase."""
    return happybase.Table(b"t", OpenConnection(build_table()))  # type: ignore[arg-type]


def list_methods(thing: object) -> list[tuple[str, str]]:
    """Return every public method with each of its arguments, callbacks left out."""
    methods = inspect.getmembers(thing, inspect.ismethod)
    return [
        (name, argument)
        for name, method in methods
        if not name.startswith("_")
        for argument in inspect.signature(method).parameters
        if argument != "check_send"
    ]


@pytest.mark.parametrize(
    ("build", "valid"),
    [
        (build_table, VALID),
        (build_happybase_table, VALID_IN_HAPPYBASE),
        (lambda: build_happybase_table().batch(), VALID_IN_HAPPYBASE),
    ],
    ids=["native", "happybase", "happybase batch"],
)
def test_a_client_argument_of_any_type_is_sent_or_refused(
    build: Callable[[], object], valid: dict[str, Any]
) -> None:
    """No method raises an error from inside the client for an argument of a wrong shape."""
    refused_count = 0
    for name, argument in list_methods(build()):
        for shape in SHAPES:
            method = getattr(build(), name)
            needed = inspect.signature(method).parameters
            arguments = {one: valid[one] for one in needed if one in valid} | {argument: shape}
            with suppress(RequestSent):
                try:
                    _finish(method(**arguments))
                except RowkeyError as problem:
                    refused_count += isinstance(problem, InvalidArgument)
    assert refused_count > 200


@pytest.mark.parametrize("spec", [ReadSpec, ScanSpec])
def test_a_read_selection_of_any_type_is_built_or_refused(spec: type) -> None:
    """The selection of a read refuses arguments of a wrong shape."""
    refused_count = 0
    for argument in inspect.signature(spec).parameters:
        for shape in SHAPES:
            try:
                spec(**{argument: shape})
            except InvalidArgument:
                refused_count += 1
    assert refused_count > 200


def _finish(result: object) -> None:
    """Read what a method returned up to its first row."""
    if inspect.isgenerator(result):
        next(result, None)
