"""The limits of a client with their defaults, and the deadline of a call."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final, Self

from rowkey.boottime import read_boottime_s
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value

_MAX_LIMIT_S: Final = 86_400.0
"""Most seconds of any limit; a larger number is probably in another unit."""

_LIMIT_RANGES: Final[dict[str, tuple[float, float]]] = {
    "operation_timeout_s": (0.001, _MAX_LIMIT_S),
    "call_timeout_s": (0.001, _MAX_LIMIT_S),
    "connect_timeout_s": (0.001, _MAX_LIMIT_S),
    "max_attempts": (1, 1_000_000),
    "retry_pause_s": (0.0, _MAX_LIMIT_S),
    "max_retry_pause_s": (0.0, _MAX_LIMIT_S),
    "max_in_flight": (1, 1_000_000),
    "scan_answer_bytes": (1, 100 << 20),
    "scan_answer_rows": (1, 2**31 - 1),
    "batch_bytes": (1, 200 << 20),
    "batch_actions": (1, 5_000),
}
"""The minimum and the maximum of each limit.

Source: `hbase.server.scanner.max.result.size` is 100 MB, `hbase.ipc.max.request.size` 256 MB (a
batch also has headers), `hbase.rpc.rows.warning.threshold` 5,000 actions.
"""


PROTECTIONS: Final = {"authentication": 1, "integrity": 2, "privacy": 4}
"""The bit of each value of `protection`. Source: RFC 4752, 3.3."""


SECURITY_SETTINGS: Final = (
    "site",
    "auth",
    "principal",
    "keytab",
    "server_principal",
    "protection",
    "tls",
    "ca_file",
    "cert_file",
    "key_file",
)
"""The settings that the URL of a cluster may have; `site` is the folder of hbase-site.xml."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of an HBase client: timeouts, attempts, pauses and sizes.

    Args:
        operation_timeout_s: seconds that one operation may take with all its retries; the default
            is the time until the regions of a dead server are open on other servers.
        call_timeout_s: seconds that one attempt may take; then its connection is closed.
        connect_timeout_s: seconds that opening one connection may take.
        max_attempts: most attempts of one operation.
        retry_pause_s: seconds of the first pause between attempts; doubled each time, with jitter.
        max_retry_pause_s: seconds of the longest pause.
        max_in_flight: most calls in flight on one connection; further calls wait.
        scan_answer_bytes: most bytes of one answer of a scan.
        scan_answer_rows: most rows of one answer of a scan.
        batch_bytes: most bytes of one request of a batch to one server.
        batch_actions: most actions of one request of a batch to one server.
        user: effective user; the login name if empty.
        compress: whether cell blocks are compressed with zlib, both ways.
        auth: `simple`, or `kerberos`.
        principal: of the client, such as `etl@EXAMPLE.COM`; that of the ticket cache if empty.
        keytab: path of the keytab with its key; the ticket cache is used if empty.
        server_principal: of the servers; `_HOST` stands for the host of each.
        protection: one or more of `authentication`, `integrity` and `privacy`, with commas; the
            first that a server offers is used.
        tls: whether all connections to servers use TLS.
        ca_file: PEM file of the authorities that sign the servers' certificates; those of the
            system if empty.
        cert_file: PEM file of the client's certificate, if the servers ask for one.
        key_file: PEM file of its key, if it is not in cert_file.

    Raises:
        InvalidArgument: a limit is not a number, or out of its range.

    Source: session time-out of HBase 90 s and recovery 1–8 s, measured on 2.6.4.

    >>> Settings(call_timeout_s=0)
    Traceback (most recent call last):
    rowkey.errors.InvalidArgument: argument call_timeout_s: 0 is out of range; expected a number ...
    """

    operation_timeout_s: float = 120.0
    call_timeout_s: float = 10.0
    connect_timeout_s: float = 5.0
    max_attempts: int = 200
    retry_pause_s: float = 0.05
    max_retry_pause_s: float = 1.0
    max_in_flight: int = 256
    scan_answer_bytes: int = 2 << 20
    scan_answer_rows: int = 10_000
    batch_bytes: int = 2 << 20
    batch_actions: int = 4_000
    user: str = ""
    compress: bool = False
    auth: str = "simple"
    principal: str = ""
    keytab: str = ""
    server_principal: str = "hbase/_HOST"
    protection: str = "authentication"
    tls: bool = False
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""

    def __post_init__(self) -> None:
        for setting in fields(self):
            if setting.name in _LIMIT_RANGES:
                value = getattr(self, setting.name)
                _check_limit(setting.name, value, is_integer=setting.type == "int")
            value = getattr(self, setting.name)
            if setting.type == "str" and not isinstance(value, str):
                raise InvalidArgument(
                    setting.name, f"{format_value(value)} is not a text", "a text"
                )
            if setting.type == "bool" and not isinstance(value, bool):
                what = f"{format_value(value)} is not a boolean"
                raise InvalidArgument(setting.name, what, "True or False")
        self._check_security()
        if self.max_retry_pause_s < self.retry_pause_s:
            what = f"{self.max_retry_pause_s:g} is less than retry_pause_s, {self.retry_pause_s:g}"
            raise InvalidArgument("max_retry_pause_s", what, f"at least {self.retry_pause_s:g}")

    def _check_security(self) -> None:
        """Raise `InvalidArgument` if a setting of Kerberos is unknown, or lacks another one."""
        if self.auth not in {"simple", "kerberos"}:
            what = f"{format_value(self.auth)} is unknown"
            raise InvalidArgument("auth", what, "simple or kerberos")
        for name in self.protection.split(","):
            if name.strip() not in PROTECTIONS:
                what = f"{format_value(name.strip())} is unknown"
                raise InvalidArgument(
                    "protection", what, f"one or more of {', '.join(PROTECTIONS)}"
                )
        if self.key_file and not self.cert_file:
            what = "the key has no certificate"
            raise InvalidArgument("key_file", what, "", "Set cert_file, or remove key_file.")

    def limit_times(self, seconds: float) -> Settings:
        """Return settings under which no operation takes longer than some seconds.

        >>> Settings().limit_times(3.0).connect_timeout_s
        3.0
        """
        return replace(
            self,
            operation_timeout_s=min(self.operation_timeout_s, seconds),
            call_timeout_s=min(self.call_timeout_s, seconds),
            connect_timeout_s=min(self.connect_timeout_s, seconds),
        )


def _check_limit(name: str, value: object, *, is_integer: bool) -> None:
    """Raise `InvalidArgument` if a limit is not a number, or out of its range."""
    minimum, maximum = _LIMIT_RANGES[name]
    allowed = f"a {'whole ' * is_integer}number from {minimum:g} to {maximum:,.15g}"
    is_number = isinstance(value, int if is_integer else int | float)
    if not is_number or isinstance(value, bool):
        raise InvalidArgument(
            name, f"{format_value(value)} is not a {'whole ' * is_integer}number", allowed
        )
    assert isinstance(value, int | float)
    if not minimum <= value <= maximum:
        raise InvalidArgument(name, f"{format_value(value)} is out of range", allowed)


class Deadline:
    """The time at which a call gives up, by a clock that goes on while the machine sleeps.

    >>> Deadline.from_now(0).is_expired
    True
    >>> Deadline.from_now(3600).shorten_to(10).get_remaining_s() <= 10
    True
    """

    __slots__ = ("expires_at",)

    def __init__(self, expires_at: float) -> None:
        self.expires_at = expires_at

    @classmethod
    def from_now(cls, seconds: float) -> Self:
        """Return the deadline this number of seconds from now."""
        return cls(read_boottime_s() + seconds)

    def get_remaining_s(self) -> float:
        """Return the seconds until the deadline, never below 0."""
        return max(0.0, self.expires_at - read_boottime_s())

    @property
    def is_expired(self) -> bool:
        """Whether the deadline has passed."""
        return read_boottime_s() >= self.expires_at

    def shorten_to(self, seconds: float) -> Deadline:
        """Return the earlier of this deadline and the one this number of seconds from now."""
        expires_at = read_boottime_s() + seconds
        return Deadline(expires_at) if expires_at < self.expires_at else self
