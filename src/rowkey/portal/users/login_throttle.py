"""Slows down who guesses passwords, without keeping out who knows one."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock


def find_network(address: str) -> str:
    """Return what stands for one client: an IPv4 address, or the network of an IPv6 one.

    A client has all addresses of its /64. Source: RFC 6177, section 2.

    >>> find_network("::ffff:10.0.0.5"), find_network("2001:db8::1"), find_network("")
    ('10.0.0.5', '2001:db8::/64', '')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


MAX_FREE_FAILURES = 5
"""Wrong passwords of one user from one address before further ones are slowed down."""
MAX_USER_FAILURES = 20
"""Wrong passwords of one user from all addresses before each address has one free try only."""
FAILURE_WINDOW_S = 900.0
"""Seconds after the last wrong password in which the earlier ones count."""
GAP_S = 1.0
"""Seconds between two passwords of one user from addresses that have guessed wrong before."""
MAX_DELAY_S = 10.0
"""Seconds that a password waits at most; where more of them wait, it is refused."""
MAX_ADDRESS_LOGINS = 4
"""Passwords of one address that are verified at once, or come next."""
MAX_COUNTERS = 10_000
"""Users with an address, and users, whose wrong passwords are counted; the oldest is forgotten."""


class TooManyLogins(Exception):
    """Raised for a password that is not verified, as too many came before it."""


class LoginThrottle:
    """Decides how long a password waits before it is verified.

    Passwords of a user are slowed down at the addresses where they were wrong, so that the user can
    log in elsewhere at once. Names that nobody has are counted as well: they must look the same.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._failures: OrderedDict[bytes, tuple[int, float]] = OrderedDict()
        """How many passwords were wrong, and when the last: by user, and by user and address."""
        self._slots: OrderedDict[bytes, float] = OrderedDict()
        """By user, when the last password is verified that has to wait."""
        self._running: Counter[str] = Counter()

    def reserve_slot(self, address: str, name: str) -> float:
        """Return the seconds that a password waits before it is verified.

        Args:
            address: where the password comes from.
            name: the user's name.

        Raises:
            TooManyLogins: too many wait already.
        """
        user, now_s = _hash_key(name), self._clock()
        with self._lock:
            is_guessed = self._count_failures(user) >= MAX_USER_FAILURES
            free = 1 if is_guessed else MAX_FREE_FAILURES
            if self._count_failures(_hash_key(name, find_network(address))) < free:
                return GAP_S if is_guessed else 0.0
            slot_s = max(now_s, self._slots.get(user, 0.0)) + GAP_S
            if slot_s > now_s + MAX_DELAY_S:
                raise TooManyLogins
            self._slots[user] = slot_s
            self._slots.move_to_end(user)
            while len(self._slots) > MAX_COUNTERS:
                self._slots.popitem(last=False)
        return slot_s - now_s

    @contextmanager
    def open_login(self, address: str, *, is_shared: bool = False) -> Iterator[None]:
        """Take one of the few logins of an address for a `with` block.

        Args:
            address: where the password comes from.
            is_shared: whether many people come from the address, as from that of a proxy.

        Raises:
            TooManyLogins: all are taken.
        """
        network = find_network(address)
        with self._lock:
            if self._running[network] >= MAX_ADDRESS_LOGINS and not is_shared:
                raise TooManyLogins
            self._running[network] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[network] -= 1
                if not self._running[network]:
                    del self._running[network]

    def note_failure(self, address: str, name: str) -> None:
        """Count a wrong password; also before it is verified, as many may be tried at once."""
        with self._lock:
            for key in (_hash_key(name), _hash_key(name, find_network(address))):
                count = self._count_failures(key)
                self._failures[key] = (count + 1, self._clock())
                self._failures.move_to_end(key)
            while len(self._failures) > MAX_COUNTERS:
                self._failures.popitem(last=False)

    def note_success(self, address: str, name: str) -> None:
        """Forget the wrong passwords of a user from one address."""
        with self._lock:
            found = self._failures.pop(_hash_key(name, find_network(address)), None)
            total = self._count_failures(_hash_key(name))
            if found and total:
                self._failures[_hash_key(name)] = (max(total - found[0], 0), self._clock())

    def _count_failures(self, key: bytes) -> int:
        """Return how many passwords were wrong, if the last was not long ago."""
        count, last_s = self._failures.get(key, (0, 0.0))
        return count if last_s > self._clock() - FAILURE_WINDOW_S else 0


def _hash_key(*parts: str) -> bytes:
    """Return a key of fixed size for a name of any length, perhaps with an address."""
    digest = sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()
