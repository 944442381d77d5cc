"""The sessions of a portal: a one-time token or a password is exchanged for a cookie."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from rowkey.portal.users.login_throttle import LoginThrottle
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from rowkey.portal.users.users import UserDirectory


TOKEN_BYTES = 32
"""Random bytes of a token: 256 bits."""
MAX_SESSION_S = 12 * 3_600.0
"""Seconds after which a session ends, used or not."""
MAX_SESSIONS = 1_000
"""Sessions at once; with one more, the oldest ends."""
LOCAL_USER = "local"
"""The user who has the token that is printed at the start."""


@dataclass(frozen=True, slots=True)
class Session:
    """A user who is logged in.

    Args:
        user: the user's name.
        role: what the user may do.
        expires_s: when the session ends, by the clock of the store.
        is_proxied: whether a proxy has named the user, for one request.
    """

    user: str
    role: Role
    expires_s: float
    is_proxied: bool = False


class SessionStore:
    """The sessions of one portal, in memory: after a restart users log in again.

    Tokens are stored as hashes, and looked up by them, so that neither the time of a comparison
    nor a memory dump tells one.

    Args:
        users: who may log in by a password; None for one person with a one-time token.
        take_login_link: returns whether a command has created a link with the token of a hash,
            once; None without such links.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        users: UserDirectory | None = None,
        take_login_link: Callable[[bytes], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.users = users
        self._take_login_link = take_login_link
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[bytes, Session] = {}
        self._login_tokens: set[bytes] = set()
        self._throttle = LoginThrottle(clock)

    def create_login_token(self) -> str:
        """Return a new token that opens one session of the local user."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            self._login_tokens.add(hash_token(token))
        return token

    def exchange_token(self, token: str) -> str | None:
        """Return the cookie of a new session for a login token; None if it is wrong or used."""
        digest = hash_token(token)
        with self._lock:
            if digest in self._login_tokens:
                self._login_tokens.remove(digest)
            elif self._take_login_link is None or not self._take_login_link(digest):
                return None
        return self._open_session(LOCAL_USER, Role.OPERATOR)

    async def log_in(self, address: str, name: str, password: str) -> str | None:
        """Return the cookie of a new session for a name and a password; None if they are wrong.

        Args:
            address: where the connection comes from.
            name: the name of the user.
            password: the password.

        Raises:
            TooManyLogins: too many passwords were wrong, or come in now.

        Cost: some tens of milliseconds, whether the name is known or not; seconds after wrong ones.
        """
        if self.users is None:
            return None
        proxy, throttle = self.users.proxy, self._throttle
        delay_s = throttle.reserve_slot(address, name)
        throttle.note_failure(address, name)  # before it is one: many may be tried at once
        await asyncio.sleep(delay_s)
        is_shared = proxy is not None and proxy.is_sender(address)
        with throttle.open_login(address, is_shared=is_shared):
            user = await self.users.verify(name, password)
        if user is not None:
            throttle.note_success(address, name)
        return None if user is None else self._open_session(user.name, user.role)

    def find_session(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None if there is none, or it has ended."""
        digest = hash_token(cookie)
        with self._lock:
            session = self._sessions.get(digest)
            if session is not None and session.expires_s <= self._clock():
                del self._sessions[digest]
                return None
            return session

    def find_proxied_session(self, address: str, headers: Headers) -> Session | None:
        """Return a session for one request whose user the proxy names; None without such a user.

        Args:
            address: where the connection comes from.
        """
        if self.users is None or self.users.proxy is None:
            return None
        values = headers.getlist(self.users.proxy.header)
        user = self.users.find_proxied_user(address, values)
        if user is None:
            return None
        return Session(user.name, user.role, self._clock(), is_proxied=True)

    def end_session(self, cookie: str) -> None:
        """End the session of a cookie, if there is one."""
        with self._lock:
            self._sessions.pop(hash_token(cookie), None)

    def _open_session(self, user: str, role: Role) -> str:
        """Return the cookie of a new session."""
        cookie = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            while len(self._sessions) >= MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            expires_s = self._clock() + MAX_SESSION_S
            self._sessions[hash_token(cookie)] = Session(user, role, expires_s)
        return cookie


def hash_token(token: str) -> bytes:
    """Return the hash under which a token is stored."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
