"""The settings of a portal: what it shows, where it listens, and who may do what."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from rowkey.durable_files import read_regular_file
from rowkey.engines import ENGINES
from rowkey.errors import Mistake, SeveralMistakesError
from rowkey.messages import format_value

DEFAULT_PORT = 8765
STATE_FOLDER = ".rowkey-portal"
"""The folder of a portal's own files, in the folder of the designs."""
_HOST_NAME = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?)(:\d{1,5})?")
"""A name or an address in a `Host` header, with or without a port."""


_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,1024}")
"""A token of a request, as RFC 6750 has it, and long enough not to be guessed."""
_MAX_TOKEN_BYTES = 1 << 16


class InvalidPortalSettings(SeveralMistakesError):
    """Settings with which no portal is started: one is wrong, or they are not safe together.

    >>> print(InvalidPortalSettings("--port", "70000 is not a port", "0..65535"))
    --port: 70000 is not a port; expected 0..65535.
    """

    @classmethod
    def from_mistakes(cls, mistakes: list[Mistake]) -> Self:
        """Return the error with all mistakes of the settings."""
        first, *others = mistakes
        return cls(first.path, first.problem, first.expected, first.remedy, others)


@dataclass(frozen=True, slots=True)
class PortalSettings:
    """What a portal shows, where it listens, and who may do what.

    Args:
        folder: the folder with the design files.
        url: the URL of the engine with the tables; None shows design files only.
        host: the address to listen on.
        port: the port to listen on; 0 for any free one.
        host_names: other names under which browsers reach the portal, as in a `Host` header. A
            request for any other name is refused: a page of another site could point a name of its
            own to this machine.
        is_read_only: whether all requests that change something are refused.
        users_file: names, roles and hashed passwords of users. Without it, one person works on this
            machine, with a token that is printed at the start.
        certificate_file: the TLS certificate; None for plain HTTP.
        key_file: its private key.
        state_folder: where the portal stores its own files; a hidden folder in `folder` if None.
        start_page: the steps of the path of the page that is open after the login; none for the
            list of tables.
        alert_url: where a table that turns hot or cools is reported, by a POST of a JSON document;
            None reports nowhere.
        metrics_token_file: a file with the token by which Prometheus reads `/metrics` without a
            session; None needs a session.

    Raises:
        InvalidPortalSettings: with every mistake.

    >>> from pathlib import Path
    >>> PortalSettings(Path()).origin
    'http://127.0.0.1:8765'
    >>> PortalSettings(Path(), host="0.0.0.0")
    Traceback (most recent call last):
    rowkey.portal.settings.InvalidPortalSettings: --host: 0.0.0.0 is reachable from other mac...
    """

    folder: Path
    url: str | None = None
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    host_names: tuple[str, ...] = ()
    is_read_only: bool = False
    users_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    state_folder: Path | None = None
    start_page: tuple[str, ...] = ()
    alert_url: str | None = None
    metrics_token_file: Path | None = None

    def __post_init__(self) -> None:
        if mistakes := list(self._find_mistakes()):
            raise InvalidPortalSettings.from_mistakes(mistakes)
        # Tasks run in other folders, so no path may depend on the current one.
        object.__setattr__(self, "folder", self.folder.absolute())
        for name in ("users_file", "key_file", "state_folder", "metrics_token_file"):
            if (path := getattr(self, name)) is not None:
                object.__setattr__(self, name, path.absolute())

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the portal."""
        return _is_loopback(self.host)

    @property
    def is_encrypted(self) -> bool:
        """Whether the portal speaks HTTPS."""
        return self.certificate_file is not None

    @property
    def audit_file(self) -> Path:
        """The file of the audit log."""
        return self.storage_folder / "audit.jsonl"

    @property
    def login_link_file(self) -> Path:
        """The file with the hash of a login link that a command has created."""
        return self.storage_folder / "login-link"

    @property
    def storage_folder(self) -> Path:
        """The folder of the portal's own files: audit log, uploaded samples and simulations."""
        return self.state_folder or self.folder / STATE_FOLDER

    @property
    def live_file(self) -> Path:
        """The file with the load of tables over time, and alerts."""
        return self.storage_folder / "live.sqlite"

    @property
    def origin(self) -> str:
        """The beginning of the portal's URLs, as it is printed at the start."""
        name = self.host_names[0] if _is_wildcard(self.host) else self.host
        host = f"[{name}]" if ":" in name and name.count(":") > 1 and name[0] != "[" else name
        scheme = "https" if self.is_encrypted else "http"
        has_port = re.search(r":\d+\Z", host) is not None and not host.endswith("]")
        is_default = self.port == self._default_port
        return f"{scheme}://{host}" if has_port or is_default else f"{scheme}://{host}:{self.port}"

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """The values of a `Host` header that the portal answers, in lower case.

        >>> from pathlib import Path
        >>> sorted(PortalSettings(Path()).allowed_hosts)
        ['127.0.0.1:8765', '[::1]:8765', 'localhost:8765']
        """
        names = set(self.host_names)
        if self.is_local or _is_wildcard(self.host):
            names |= {"127.0.0.1", "[::1]", "localhost"}
        if not _is_wildcard(self.host):
            names.add(f"[{self.host}]" if ":" in self.host else self.host)
        allowed = set()
        for name in map(str.lower, names):
            if re.search(r"[^]:]:\d+\Z|\]:\d+\Z", name):
                allowed.add(name)
                continue
            allowed.add(f"{name}:{self.port}")
            if self.port == self._default_port or name in map(str.lower, self.host_names):
                allowed.add(name)
        return frozenset(allowed)

    @property
    def _default_port(self) -> int:
        """The port that a URL of the portal's scheme need not name."""
        return 443 if self.is_encrypted else 80

    def _find_mistakes(self) -> Iterator[Mistake]:
        yield from self._find_file_mistakes()
        schemes = [engine_class.scheme for engine_class in ENGINES.values()]
        if self.url is not None and self.url.partition(":")[0] not in schemes:
            what = f"no storage engine is called {format_value(self.url.partition(':')[0])}"
            yield Mistake("--on", what, " or ".join(f"{one}:..." for one in schemes))
        if not 0 <= self.port <= 65_535:
            yield Mistake("--port", f"{self.port} is not a port", "0..65535")
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            if self.host != "localhost":
                what = f"{format_value(self.host)} is not an address of this machine"
                yield Mistake("--host", what, "an IP address such as 127.0.0.1, or localhost")
        for name in self.host_names:
            if not _HOST_NAME.fullmatch(name):
                what = f"{format_value(name)} is not the name of a host"
                yield Mistake("--host-name", what, "a name such as portal.example.org")
        yield from self._find_alert_mistakes()
        if not self.is_local:
            yield from self._find_exposure_mistakes()

    def _find_file_mistakes(self) -> Iterator[Mistake]:
        if not self.folder.is_dir():
            what = f"{format_value(str(self.folder))} is not a folder"
            yield Mistake("FOLDER", what, "a folder with design files", "Create it, or correct it.")
        if (self.certificate_file is None) != (self.key_file is None):
            yield Mistake("--tls-key", "a certificate and its key belong together", "both files")
        for option, path in (
            ("--auth", self.users_file),
            ("--tls-certificate", self.certificate_file),
            ("--tls-key", self.key_file),
            ("--metrics-token", self.metrics_token_file),
        ):
            if path is not None and not path.is_file():
                yield Mistake(option, f"there is no file {format_value(str(path))}")
        if self.metrics_token_file is not None and self.metrics_token_file.is_file():
            token = read_token(self.metrics_token_file)
            if not _TOKEN.fullmatch(token):
                what = f"the file has a token of {len(token)} characters, or others than a URL has"
                expected = "at least 16 letters, digits, - . _ ~ + / or ="
                yield Mistake("--metrics-token", what, expected, "Make one: openssl rand -hex 32")

    def _find_alert_mistakes(self) -> Iterator[Mistake]:
        """Yield what is wrong with the URL for alerts; it may hold a secret, and is not shown."""
        if self.alert_url is None:
            return
        try:
            parts = urlsplit(self.alert_url)
            is_usable = parts.scheme in ("http", "https") and bool(parts.hostname)
            _ = parts.port  # raises if it is no number, or too large
        except ValueError:
            is_usable = False
        if not is_usable or not self.alert_url.isascii() or re.search(r"[\s\0]", self.alert_url):
            what, expected = (
                "this is not a URL for alerts",
                "a URL such as https://example.org/hook",
            )
            yield Mistake("--alert-url", what, expected)
        elif parts.username is not None or parts.fragment:
            what = "a URL for alerts can have no user and no fragment"
            yield Mistake("--alert-url", what, "a URL such as https://example.org/hook")

    def _find_exposure_mistakes(self) -> Iterator[Mistake]:
        """Yield what keeps a portal from being reached by other machines safely."""
        if self.users_file is None:
            what = f"{self.host} is reachable from other machines, and nobody would have to log in"
            remedy = "Give --auth FILE with users and passwords, or leave --host out."
            yield Mistake("--host", what, "127.0.0.1 without --auth", remedy)
        if _is_wildcard(self.host) and not self.host_names:
            what = f"{self.host} is every address of this machine, so its name is unknown"
            yield Mistake("--host-name", what, remedy="Give --host-name portal.example.org.")


def read_token(path: Path) -> str:
    """Return the token in a file, without white space around it; empty if it cannot be read."""
    try:
        return read_regular_file(path, _MAX_TOKEN_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_wildcard(host: str) -> bool:
    """Return whether an address stands for all addresses of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
