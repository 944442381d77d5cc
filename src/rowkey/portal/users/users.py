"""The users of a portal: names, roles and hashed passwords, from a TOML file."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rowkey.design import parse_toml
from rowkey.durable_files import read_regular_file
from rowkey.errors import InvalidDesign, Mistake, Unavailable
from rowkey.portal.settings import InvalidPortalSettings
from rowkey.portal.users.proxy_login import ProxyLogin, parse_proxy
from rowkey.portal.users.roles import MAX_NAME_LENGTH, Role, find_role_mistake

MAX_PASSWORD_BYTES = 1_024
"""Bytes of a password; a longer one is wrong without being hashed."""
MAX_VERIFICATIONS = 2
"""Passwords that are verified at once; each takes 64 MiB and a core for some tens of ms."""
_PASSWORD_HASH = re.compile(
    r"\$argon2id\$v=19\$m=\d{1,7},t=\d{1,3},p=\d{1,3}\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{20,128}"
)
"""The hash of a password, as argon2 writes it."""
_MAX_USERS_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class User:
    """A user of a portal.

    Args:
        name: by which the user logs in, and which the audit log shows.
        role: what the user may do.
        password_hash: the hashed password, as argon2 writes it; empty for a user who comes through
            a proxy only.
    """

    name: str
    role: Role
    password_hash: str = ""


def hash_password(password: str) -> str:
    """Return the hash of a password for the users file.

    Cost: some tens of milliseconds and 64 MiB, so that nobody can try many.

    Raises:
        Unavailable: the package argon2-cffi is not installed.
    """
    return str(_build_hasher().hash(password))


def _build_hasher() -> Any:
    """Return the hasher of passwords with the parameters that argon2-cffi recommends.

    Raises:
        Unavailable: the package argon2-cffi is not installed.
    """
    try:
        from argon2 import PasswordHasher
    except ImportError:
        what = "the package argon2-cffi is not installed"
        remedy = "Install it: pip install 'rowkey[portal]'."
        raise Unavailable("passwords", what, remedy=remedy) from None
    return PasswordHasher()


class UserDirectory:
    """The users of a file, who log in by their passwords or through a proxy.

    ```toml
    [users.ann]
    role = "operator"
    password = "$argon2id$..."

    [proxy]                      # only behind a proxy that authenticates users
    address = "10.0.0.5"
    header = "X-Forwarded-User"
    other_users = "viewer"       # the role of users who are not named here
    ```

    Args:
        users: the users by name.
        proxy: the proxy that names users; None without one.
    """

    def __init__(self, users: Mapping[str, User], proxy: ProxyLogin | None = None) -> None:
        self.users, self.proxy = users, proxy
        self._hasher = _build_hasher()
        self._verifiers = ThreadPoolExecutor(MAX_VERIFICATIONS, "rowkey login")

    @classmethod
    def read(cls, path: Path) -> UserDirectory:
        """Read the users file.

        Raises:
            InvalidPortalSettings: it cannot be read or has mistakes; all are reported, with lines.
            Unavailable: the package argon2-cffi is not installed.
        """
        try:
            tree, source_map = parse_toml(
                read_regular_file(path, _MAX_USERS_BYTES).decode(), str(path)
            )
            proxy, mistakes = parse_proxy(tree["proxy"]) if "proxy" in tree else (None, [])
            users, user_mistakes = _parse_users(tree)
            mistakes += user_mistakes
            located = source_map.locate_mistakes(mistakes)
        except InvalidDesign as problem:
            users, proxy, located = {}, None, list(problem.mistakes)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
            why = getattr(problem, "strerror", None) or "it is not UTF-8"
            users, proxy, located = {}, None, [Mistake("", f"the file cannot be read: {why}")]
        if located:
            raise InvalidPortalSettings.from_mistakes([_place(path, one) for one in located])
        return cls(users, proxy)

    @property
    def has_passwords(self) -> bool:
        """Whether somebody can log in by a password."""
        return any(user.password_hash for user in self.users.values())

    def find_proxied_user(self, address: str, values: Sequence[str]) -> User | None:
        """Return the user whom the proxy names; None if it names none, or one who is refused.

        Args:
            address: where the connection comes from.
            values: the values of the proxy's header in the request.
        """
        name = "" if self.proxy is None else self.proxy.read_name(address, values)
        if self.proxy is None or not name:
            return None
        role = self.proxy.other_users
        return self.users.get(name) or (None if role is None else User(name, role))

    @cached_property
    def _decoy_hash(self) -> str:
        """A hash that is verified for unknown names, made as that of the first user.

        An unknown name then takes as long as a known one.
        """
        from argon2 import PasswordHasher, extract_parameters

        stored = next(user.password_hash for user in self.users.values() if user.password_hash)
        hasher = PasswordHasher.from_parameters(extract_parameters(stored))
        return str(hasher.hash("no user has this password"))

    async def verify(self, name: str, password: str) -> User | None:
        """Return the user of a name and a password; None if one of them is wrong.

        The time does not tell which of both is wrong. Few passwords are verified at once, in
        threads of their own: the others wait, and those that answer pages do not.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._verifiers, self._verify, name, password)

    def _verify(self, name: str, password: str) -> User | None:
        """Return the user of a name and a password; None if one of them is wrong."""
        from argon2.exceptions import Argon2Error, InvalidHashError

        if not self.has_passwords:
            return None
        user = self.users.get(name)
        user = user if user is not None and user.password_hash else None
        is_short = len(password.encode("utf-8", "surrogatepass")) <= MAX_PASSWORD_BYTES
        try:
            stored = self._decoy_hash if user is None else user.password_hash
            is_right = self._hasher.verify(stored, password if is_short else "")
        except (Argon2Error, InvalidHashError, UnicodeEncodeError):
            is_right = False
        return user if is_right and is_short else None


def _place(path: Path, mistake: Mistake) -> Mistake:
    """Return a mistake of the users file with the option and line in front."""
    line = f":{mistake.line}" if mistake.line else ""
    where = f" {mistake.path}" if mistake.path else ""
    return Mistake(f"--auth {path}{line}{where}", mistake.problem, mistake.expected, mistake.remedy)


def _parse_users(tree: Mapping[str, Any]) -> tuple[dict[str, User], list[Mistake]]:
    """Return the users of a parsed file by name, and all mistakes in it."""
    mistakes = [
        Mistake(key, "the key is unknown", "users or proxy")
        for key in tree.keys() - {"users", "proxy"}
    ]
    has_proxy = "proxy" in tree
    declared = tree.get("users", {} if has_proxy else None)
    if not isinstance(declared, dict) or not (declared or has_proxy):
        expected = "a table [users.NAME] for each user"
        return {}, [*mistakes, Mistake("users", "no user is declared", expected)]
    users = {}
    for name, words in declared.items():
        problems = list(_find_user_mistakes(f"users.{name}", name, words, has_proxy=has_proxy))
        mistakes += problems
        if not problems:
            users[name] = User(name, Role[words["role"].upper()], words.get("password", ""))
    return users, mistakes


def _find_user_mistakes(path: str, name: str, words: Any, *, has_proxy: bool) -> Iterator[Mistake]:
    if not isinstance(words, dict):
        yield Mistake(path, "this is not a table", "role and password")
        return
    if not name or not name.isprintable() or len(name) > MAX_NAME_LENGTH:
        what = "the name is not printable, or too long"
        yield Mistake(path, what, f"1 to {MAX_NAME_LENGTH} characters")
    for key in words.keys() - {"role", "password"}:
        yield Mistake(f"{path}.{key}", "the key is unknown", "role or password")
    yield from find_role_mistake(f"{path}.role", words.get("role"))
    if has_proxy and "password" not in words:
        return
    password = words.get("password")
    if not isinstance(password, str) or not _PASSWORD_HASH.fullmatch(password):
        what = "this is not the hash of a password"
        remedy = "Make one by rowkey portal --hash-password; never store the password itself."
        yield Mistake(f"{path}.password", what, "a text that begins with $argon2id$", remedy)
