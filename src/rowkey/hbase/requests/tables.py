"""The master's requests on tables and namespaces, and on the procedures that they start."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.schema import FamilySchema, ProcedureRequest, TableSchema
from rowkey.hbase.wire.names import encode_table_name, parse_table_name, shorten_table_name
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)


@dataclass(frozen=True, slots=True)
class CreateTable(ProcedureRequest):
    """Create a table.

    HBase accepts split keys in any order and attributes with any value; the sender checks them.

    Args:
        splits: split keys, strictly ascending, none empty.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, CreateTableRequest {1:table_schema, 2:split_keys*, 3:nonce_group,
        4:nonce}.
    """

    method = "CreateTable"
    schema: TableSchema
    splits: tuple[bytes, ...] = ()

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        splits = b"".join(encode_bytes(2, split) for split in self.splits)
        return encode_message(1, self.schema.encode()) + splits + self.encode_nonce(3), b""


@dataclass(frozen=True, slots=True)
class DeleteTable(ProcedureRequest):
    """Delete a disabled table and its data.

    Args:
        table: the table's name.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, DeleteTableRequest {1:table_name, 2:nonce_group, 3:nonce}.
    """

    method = "DeleteTable"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class EnableTable(ProcedureRequest):
    """Enable a disabled table: its regions are opened.

    Args:
        table: the table's name.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, EnableTableRequest {1:table_name, 2:nonce_group, 3:nonce}.
    """

    method = "EnableTable"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class DisableTable(ProcedureRequest):
    """Disable a table: its regions are closed.

    Args:
        table: the table's name.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, DisableTableRequest {1:table_name, 2:nonce_group, 3:nonce}.
    """

    method = "DisableTable"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class TruncateTable(ProcedureRequest):
    """Delete all rows of a disabled table and enable it.

    Args:
        table: the table's name.
        keep_splits: whether it keeps its split keys; otherwise it has one region.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, TruncateTableRequest {1:tableName, 2:preserveSplits, 3:nonce_group,
        4:nonce}.
    """

    method = "truncateTable"
    table: str
    keep_splits: bool = True

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + encode_bool(
            2, self.keep_splits
        ) + self.encode_nonce(3), b""


@dataclass(frozen=True, slots=True)
class ModifyTable(ProcedureRequest):
    """Replace the schema of a table; attributes that are not sent get their default.

    Args:
        schema: the complete new schema.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, ModifyTableRequest {1:table_name, 2:table_schema, 3:nonce_group, 4:nonce}.
    """

    method = "ModifyTable"
    schema: TableSchema

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.schema.name)) + encode_message(
            2, self.schema.encode()
        ) + self.encode_nonce(3), b""


@dataclass(frozen=True, slots=True)
class AddColumn(ProcedureRequest):
    """Add a family to a table.

    Args:
        table: the table's name.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, AddColumnRequest {1:table_name, 2:column_families, 3:nonce_group,
        4:nonce}.
    """

    method = "AddColumn"
    table: str
    family: FamilySchema

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + encode_message(
            2, self.family.encode()
        ) + self.encode_nonce(3), b""


@dataclass(frozen=True, slots=True)
class ModifyColumn(ProcedureRequest):
    """Replace the schema of a family; attributes that are not sent get their default.

    Args:
        table: the table's name.
        family: the complete new schema of the family.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, ModifyColumnRequest {1:table_name, 2:column_families, 3:nonce_group,
        4:nonce}.
    """

    method = "ModifyColumn"
    table: str
    family: FamilySchema

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + encode_message(
            2, self.family.encode()
        ) + self.encode_nonce(3), b""


@dataclass(frozen=True, slots=True)
class DeleteColumn(ProcedureRequest):
    """Delete a family of a table and its data.

    Args:
        table: the table's name.
        family: the family's name.
        nonce: see `ProcedureRequest`.

    Source: Master.proto, DeleteColumnRequest {1:table_name, 2:column_name, 3:nonce_group, 4:nonce}.
    """

    method = "DeleteColumn"
    table: str
    family: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + encode_bytes(
            2, self.family.encode()
        ) + self.encode_nonce(3), b""


@dataclass(frozen=True, slots=True)
class GetTableDescriptors(Request[TableSchema | None]):
    """Ask for the schema of a table; None if there is no such table.

    Args:
        table: the table's name.

    Source: Master.proto, GetTableDescriptorsRequest {1:table_names*, 3:include_sys_tables}; an
        unknown table is an empty list, not an error.
    """

    service = "MasterService"
    method = "GetTableDescriptors"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)) + encode_bool(3, True), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> TableSchema | None:
        schemas = [TableSchema.from_message(one) for one in answer.iter_messages(1)]
        names = [schema.name for schema in schemas]
        if names and names != [shorten_table_name(self.table)]:
            raise WireFormatError(f"the schemas of {names} were sent", f"that of {self.table}")
        return schemas[0] if schemas else None


@dataclass(frozen=True, slots=True)
class GetTableNames(Request[list[str]]):
    """Ask for the names of all tables except HBase's own, in ascending order.

    Args:
        namespace: only tables of this namespace; None for all.

    Source: Master.proto, GetTableNamesRequest {1:regex, 2:include_sys_tables, 3:namespace}.
    """

    service = "MasterService"
    method = "GetTableNames"
    namespace: str | None = None

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_bool(2, False) + encode_text(3, self.namespace), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[str]:
        return sorted(map(parse_table_name, answer.iter_messages(1)))


class TableState(IntEnum):
    """The state of a table. Source: HBase.proto, TableState.State."""

    ENABLED = 0
    """Its regions are open."""
    DISABLED = 1
    """Its regions are closed."""
    DISABLING = 2
    """Its regions are being closed."""
    ENABLING = 3
    """Its regions are being opened; also the state of a table that is being created."""


@dataclass(frozen=True, slots=True)
class GetTableState(Request[TableState]):
    """Ask for the state of a table; an unknown table raises TableNotFound.

    Args:
        table: the table's name.

    Source: Master.proto, GetTableStateResponse {1:table_state{1:state}}.
    """

    service = "MasterService"
    method = "GetTableState"
    table: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_table_name(self.table)), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> TableState:
        state = answer.require_message(1).require_fields(1).get_uint(1)
        try:
            return TableState(state)
        except ValueError:
            raise WireFormatError(f"a table has the state {state}", "a state from 0 to 3") from None


@dataclass(frozen=True, slots=True)
class CreateNamespace(ProcedureRequest):
    """Create a namespace.

    Args:
        nonce: see `ProcedureRequest`.

    Source: Master.proto, CreateNamespaceRequest {1:namespaceDescriptor{1:name}, 2:nonce_group,
        3:nonce}.
    """

    method = "CreateNamespace"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_message(1, encode_bytes(1, self.name.encode())) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class DeleteNamespace(ProcedureRequest):
    """Delete an empty namespace.

    Args:
        nonce: see `ProcedureRequest`.

    Source: Master.proto, DeleteNamespaceRequest {1:namespaceName, 2:nonce_group, 3:nonce}.
    """

    method = "DeleteNamespace"
    name: str

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_text(1, self.name) + self.encode_nonce(2), b""


@dataclass(frozen=True, slots=True)
class ListNamespaces(Request[list[str]]):
    """Ask for the names of all namespaces in ascending order, including HBase's own.

    Source: Master.proto, ListNamespaceDescriptorsResponse {1:namespaceDescriptor{1:name}*}.
    """

    service = "MasterService"
    method = "ListNamespaceDescriptors"

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return b"", b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> list[str]:
        namespaces = answer.iter_messages(1)
        return sorted(
            one.require_fields(1).get_bytes(1).decode("utf-8", "replace") for one in namespaces
        )


class ProcedureState(IntEnum):
    """The state of a procedure. Source: Master.proto, GetProcedureResultResponse.State."""

    NOT_FOUND = 0
    """The master does not know it, or has removed it since it ended."""
    RUNNING = 1
    """It is running."""
    FINISHED = 2
    """It has ended, with or without an error."""


class ProcedureResult(NamedTuple):
    """The state of a procedure and its error.

    Args:
        java_class: the Java class of the error it ended with; empty if it succeeded.
    """

    state: ProcedureState
    java_class: str = ""
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class GetProcedureResult(Request[ProcedureResult]):
    """Ask for the state of a procedure.

    Args:
        number: the procedure id that the master returned when it started.

    Source: Master.proto, GetProcedureResultResponse {1:state, 5:exception{2:{1:class, 2:message}}};
        the method's name begins with a small letter.
    """

    service = "MasterService"
    method = "getProcedureResult"
    number: int

    def encode(self, region: bytes) -> tuple[bytes, bytes]:
        return encode_uint(1, self.number), b""

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> ProcedureResult:
        try:
            state = ProcedureState(answer.require_fields(1).get_uint(1))
        except ValueError:
            what = f"a procedure has the state {answer.get_uint(1)}"
            raise WireFormatError(what, "a state from 0 to 2") from None
        exception = answer.get_message(5)
        if exception is None:
            return ProcedureResult(state)
        generic = exception.get_message(2) or ProtoMessage(b"")
        java = generic.get_text(1) or "java.lang.Exception"
        return ProcedureResult(state, java, generic.get_text(2))
