"""Users whom a proxy in front of the portal has authenticated, by a header that it sends."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rowkey.errors import Mistake
from rowkey.messages import format_value
from rowkey.portal.users.roles import MAX_NAME_LENGTH, Role, find_role_mistake

DEFAULT_HEADER = "X-Forwarded-User"
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_KEYS = ("address", "header", "other_users")


@dataclass(frozen=True, slots=True)
class ProxyLogin:
    """A proxy that names the user of each request in a header.

    Every program on the machine of the address can send that header, so no other people may have
    access to it.

    Args:
        address: the IP address that the proxy's connections come from; the header of any other is
            ignored.
        header: the header with the name of the user. The proxy must replace the one of the browser.
        other_users: the role of users whom the file does not name; None refuses them.

    >>> proxy = ProxyLogin("10.0.0.5")
    >>> proxy.read_name("10.0.0.5", ["ann"]), proxy.read_name("10.0.0.5", ["ann", "root"])
    ('ann', '')
    """

    address: str
    header: str = DEFAULT_HEADER
    other_users: Role | None = None

    def is_sender(self, address: str) -> bool:
        """Return whether a connection comes from the proxy."""
        return address == self.address

    def read_name(self, address: str, values: Sequence[str]) -> str:
        """Return the name of the user of a request; an empty text if the proxy names none.

        Args:
            address: where the connection comes from.
            values: the values of the header in the request, in their order.
        """
        if not self.is_sender(address) or len(values) != 1:  # with two, one is not of the proxy
            return ""
        name = values[0]
        return name if name.isprintable() and len(name) <= MAX_NAME_LENGTH else ""


def parse_proxy(words: Any) -> tuple[ProxyLogin | None, list[Mistake]]:
    """Return the proxy that the table `[proxy]` of a users file declares, and all its mistakes."""
    if not isinstance(words, dict):
        return None, [Mistake("proxy", "this is not a table", " and ".join(_KEYS))]
    mistakes = list(_find_mistakes(words))
    if mistakes:
        return None, mistakes
    role = words.get("other_users")
    return ProxyLogin(
        str(ipaddress.ip_address(words["address"])),
        words.get("header", DEFAULT_HEADER),
        None if role is None else Role[role.upper()],
    ), []


def _find_mistakes(words: Mapping[str, Any]) -> Iterator[Mistake]:
    for key in words.keys() - set(_KEYS):
        yield Mistake(f"proxy.{key}", "the key is unknown", ", ".join(_KEYS))
    address, header = words.get("address"), words.get("header", DEFAULT_HEADER)
    try:
        ipaddress.ip_address(address if isinstance(address, str) else "")
    except ValueError:
        what = f"{format_value(address)} is not an IP address"
        yield Mistake("proxy.address", what, "the address of the proxy, such as 10.0.0.5")
    if not isinstance(header, str) or not _HEADER_NAME.fullmatch(header):
        what = f"{format_value(header)} is not the name of a header"
        yield Mistake("proxy.header", what, f"a name such as {DEFAULT_HEADER}")
    if "other_users" in words:
        yield from find_role_mistake("proxy.other_users", words["other_users"])
