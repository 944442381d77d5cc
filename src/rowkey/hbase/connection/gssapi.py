"""Kerberos through the GSS-API library of the system, called by ctypes.

Source: RFC 2744 (the C bindings), RFC 4121 (the tokens of Kerberos).
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_int, c_size_t, c_uint32, c_void_p
from functools import cache
from typing import Any, Final, NamedTuple

from rowkey.errors import Unavailable

_LIBRARY_NAMES: Final = (
    "libgssapi_krb5.so.2",
    "/System/Library/Frameworks/GSS.framework/GSS",
)
"""The library of MIT Kerberos on Linux, and the framework of macOS."""

_ERROR_MASK: Final = 0xFFFF0000
_NO_CREDENTIALS: Final = 7 << 16
_DEFECTIVE_TOKEN: Final = 9 << 16
_CREDENTIALS_EXPIRED: Final = 11 << 16
"""Routine errors of a major status. Source: RFC 2744, 3.9.1."""

_CONTINUE_NEEDED: Final = 1
_CONTEXT_FLAGS: Final = 2 | 4 | 8 | 16 | 32
"""Mutual authentication, replay detection, sequence, confidentiality and integrity."""

_INITIATE: Final = 1
_BY_GSS_CODE: Final = 1
_BY_MECHANISM_CODE: Final = 2


class _Buffer(ctypes.Structure):
    """gss_buffer_desc."""

    _fields_ = (("length", c_size_t), ("value", c_void_p))


class _Oid(ctypes.Structure):
    """gss_OID_desc."""

    _fields_ = (("length", c_uint32), ("elements", c_void_p))


class _OidSet(ctypes.Structure):
    """gss_OID_set_desc."""

    _fields_ = (("count", c_size_t), ("elements", POINTER(_Oid)))


class _StoreElement(ctypes.Structure):
    """gss_key_value_element_desc."""

    _fields_ = (("key", ctypes.c_char_p), ("value", ctypes.c_char_p))


class _Store(ctypes.Structure):
    """gss_key_value_set_desc."""

    _fields_ = (("count", c_uint32), ("elements", POINTER(_StoreElement)))


_KERBEROS_BYTES: Final = ctypes.create_string_buffer(bytes.fromhex("2a864886f712010202"), 9)
_NAME_BYTES: Final = ctypes.create_string_buffer(bytes.fromhex("2a864886f71201020201"), 10)
_KERBEROS: Final = _Oid(9, ctypes.cast(_KERBEROS_BYTES, c_void_p))
_PRINCIPAL_NAME: Final = _Oid(10, ctypes.cast(_NAME_BYTES, c_void_p))
"""The mechanism, and the type of names such as hbase/host@REALM. Source: RFC 1964, 1 and 2.1.1."""


class _Failure(NamedTuple):
    """What a code of Kerberos means to a user, and what to do."""

    problem: str
    remedy: str


_CLOCK: Final = _Failure(
    "the clock of this machine, of the KDC or of the server is off by more than Kerberos allows",
    "Set the clocks, for instance by NTP.",
)
_EXPIRED: Final = _Failure(
    "the Kerberos ticket has expired", "Run kinit again, or name a keytab, which renews tickets."
)
_NO_TICKET: Final = _Failure(
    "there is no Kerberos ticket", "Run kinit, or name a principal and its keytab."
)
_KEY_MISSING: Final = 181
_FAILURES: Final[dict[int, _Failure]] = {
    6: _Failure("the KDC does not know the principal of the client", "Correct the principal."),
    7: _Failure(
        "the KDC does not know the principal of the server",
        "Set server_principal to hbase.regionserver.kerberos.principal of hbase-site.xml.",
    ),
    24: _Failure(
        "the KDC does not accept the key of the keytab", "Get a new keytab of this principal."
    ),
    32: _EXPIRED,
    37: _CLOCK,
    154: _Failure("the realm has no KDC in krb5.conf", "Correct the realm, or add it to [realms]."),
    156: _Failure(
        "no KDC of the realm answers",
        "Check [realms] of krb5.conf, and that the KDC runs and can be reached.",
    ),
    _KEY_MISSING: _Failure(
        "the keytab has no key of the principal", "Correct the principal; klist -k lists keys."
    ),
    195: _NO_TICKET,
    141: _NO_TICKET,
}
"""By the number of the error in the table krb5. Source: MIT Kerberos, krb5_err.et."""

_FIRST_CODE: Final = -1765328384
"""The code of number 0 of the table krb5."""


class GssError(Exception):
    """A call of the GSS-API failed.

    Args:
        problem: what is wrong.
        remedy: what to do about it, or an empty string.
        is_temporary: whether a retry may help, because no KDC answered.
    """

    def __init__(self, problem: str, remedy: str = "", *, is_temporary: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.is_temporary = problem, remedy, is_temporary


@cache
def load_library() -> ctypes.CDLL:
    """Return the GSS-API library of the system.

    Raises:
        Unavailable: it is not installed.
    """
    for name in _LIBRARY_NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    what = f"the library {_LIBRARY_NAMES[0]}, which auth=kerberos needs, is not installed"
    remedy = "Install libgssapi-krb5-2 (Debian) or krb5-libs (Red Hat)."
    raise Unavailable("auth", what, "", remedy)


class GssContext:
    """The client's end of one security context with a server.

    Args:
        server_principal: `hbase/host@REALM`; without a realm that of the host.
        principal: of the client; empty for that of the ticket cache.
        keytab: path of the file with its key, or empty to use the ticket cache.

    Raises:
        GssError: there is no valid ticket, and none can be had.
        Unavailable: the library is missing.
    """

    def __init__(self, server_principal: str, principal: str = "", keytab: str = "") -> None:
        self._library = load_library()
        self._context, self._credential = c_void_p(), c_void_p()
        self._name = self._import_name(server_principal)
        self.is_complete = False
        if principal or keytab:
            self._acquire_credential(principal, keytab)

    def _import_name(self, principal: str) -> c_void_p:
        """Return the library's own form of the name of a principal; the caller releases it."""
        name = c_void_p()
        self._call(
            "gss_import_name", _to_buffer(principal.encode()), byref(_PRINCIPAL_NAME), byref(name)
        )
        return name

    def _acquire_credential(self, principal: str, keytab: str) -> None:
        """Take a credential of the ticket cache, or of a keytab.

        The library keeps tickets of a keytab in a cache in memory, and gets new ones when half of
        their life is over, so a client that takes a credential for each connection never ends.
        """
        if keytab and not os.access(keytab, os.R_OK):
            what = f"the keytab {keytab} is missing or may not be read"
            raise GssError(what, "Correct the path, or the rights of the file.")
        own_name = self._import_name(principal) if principal else c_void_p()
        store = None
        if keytab:
            cache_name = f"MEMORY:rowkey-{os.getpid()}-{principal}-{keytab}"
            elements = (_StoreElement * 2)(
                _StoreElement(b"client_keytab", os.fsencode(keytab)),
                _StoreElement(b"ccache", os.fsencode(cache_name)),
            )
            store = byref(_Store(2, elements))
        mechanisms = byref(_OidSet(1, ctypes.pointer(_KERBEROS)))
        try:
            self._call(
                "gss_acquire_cred_from", own_name, c_uint32(0), mechanisms, c_int(_INITIATE),
                store, byref(self._credential), None, None,
            )  # fmt: skip
        except GssError as error:
            if keytab and error.remedy == _NO_TICKET.remedy:
                what = f"the keytab {keytab} has no key of {principal or 'a principal'}"
                raise GssError(what, _FAILURES[_KEY_MISSING].remedy) from None
            raise
        finally:
            self._library.gss_release_name(byref(c_uint32()), byref(own_name))

    def step(self, token: bytes = b"") -> bytes:
        """Return the next token for the server, given its last one; empty if it needs none."""
        answer = _Buffer()
        status = self._call(
            "gss_init_sec_context", self._credential, byref(self._context), self._name,
            byref(_KERBEROS), c_uint32(_CONTEXT_FLAGS), c_uint32(0), None, _to_buffer(token), None,
            byref(answer), None, None,
        )  # fmt: skip
        self.is_complete = not status & _CONTINUE_NEEDED
        return self._take(answer)

    def wrap(self, data: bytes, *, encrypts: bool) -> bytes:
        """Return a token that protects the bytes.

        Args:
            data: the bytes.
            encrypts: whether they are also encrypted.
        """
        token = _Buffer()
        self._call(
            "gss_wrap", self._context, c_int(encrypts), c_uint32(0), _to_buffer(data),
            byref(c_int()), byref(token),
        )  # fmt: skip
        return self._take(token)

    def unwrap(self, token: bytes, *, is_encrypted: bool = False) -> bytes:
        """Return the bytes that a token of the server protects.

        Raises:
            GssError: the token was changed, repeated, or is not encrypted although it must be.
        """
        data, was_encrypted = _Buffer(), c_int()
        status = self._call(
            "gss_unwrap", self._context, _to_buffer(token), byref(data), byref(was_encrypted), None
        )
        clear = self._take(data)
        if status:
            raise GssError("a message of the server was repeated, lost or out of order", "")
        if is_encrypted and not was_encrypted.value:
            raise GssError("a message of the server is not encrypted", "")
        return clear

    def _call(self, function: str, *arguments: Any) -> int:
        """Call a function of the library with its minor status first; return the major status."""
        minor = c_uint32()
        status: int = getattr(self._library, function)(byref(minor), *arguments) & 0xFFFFFFFF
        if status & _ERROR_MASK:
            raise self._build_error(status, minor.value)
        return status

    def _build_error(self, status: int, minor: int) -> GssError:
        """Return the error of a failed call."""
        number = ctypes.c_int32(minor).value - _FIRST_CODE
        failure = _FAILURES.get(number)
        if failure is None and status & _ERROR_MASK == _CREDENTIALS_EXPIRED:
            failure = _EXPIRED
        if failure is None and status & _ERROR_MASK == _NO_CREDENTIALS:
            failure = _NO_TICKET
        details = self._describe(minor, _BY_MECHANISM_CODE) or self._describe(status, _BY_GSS_CODE)
        if failure is None:
            return GssError(f"Kerberos failed: {details}", "")
        what = f"{failure.problem} ({details})" if details else failure.problem
        return GssError(what, failure.remedy, is_temporary=number == 156)

    def _describe(self, code: int, code_type: int) -> str:
        """Return the library's text of a status code."""
        text = _Buffer()
        more = c_uint32()
        self._library.gss_display_status(
            byref(c_uint32()), c_uint32(code), c_int(code_type), byref(_KERBEROS), byref(more),
            byref(text),
        )  # fmt: skip
        return self._take(text).decode(errors="replace")

    def _take(self, buffer: _Buffer) -> bytes:
        """Return the bytes of a buffer of the library, and release it."""
        data = ctypes.string_at(buffer.value, buffer.length) if buffer.length else b""
        self._library.gss_release_buffer(byref(c_uint32()), byref(buffer))
        return data

    def __del__(self) -> None:
        library = getattr(self, "_library", None)
        if library is not None and hasattr(self, "_name"):
            library.gss_delete_sec_context(byref(c_uint32()), byref(self._context), None)
            library.gss_release_name(byref(c_uint32()), byref(self._name))
            library.gss_release_cred(byref(c_uint32()), byref(self._credential))


def _to_buffer(data: bytes) -> Any:
    """Return a reference to a buffer with these bytes; it keeps them alive."""
    buffer = _Buffer(len(data), ctypes.cast(ctypes.c_char_p(data), c_void_p))
    buffer.data = data
    return byref(buffer)
