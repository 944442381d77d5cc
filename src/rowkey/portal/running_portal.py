"""The portal that runs with a state folder: no other may, and a command gets a link to it."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.durable_files import make_directory, read_regular_file, replace_file
from rowkey.errors import NotSupported, Unavailable
from rowkey.portal.users.sessions import TOKEN_BYTES, hash_token

if TYPE_CHECKING:
    from rowkey.portal.settings import PortalSettings

LOCK_FILE = "lock"
"""The file that a running portal has locked, in the folder of its own files; it has its URL."""
MAX_LOCK_BYTES = 4_096


@contextmanager
def lock_state(settings: PortalSettings) -> Iterator[None]:
    """Keep other portals from the folder of this one's files, for a `with` block.

    The lock ends with the process, also after kill -9.

    Args:
        settings: those of the portal, with the port that it listens on.

    Raises:
        Unavailable: another portal has it, or it cannot be written.
    """
    folder = settings.storage_folder
    try:
        make_directory(folder)
        ignored = folder / ".gitignore"
        if not ignored.exists():  # it is new, also where a portal was killed meanwhile
            folder.chmod(0o700)  # samples and results may be of production
            replace_file(ignored, b"*\n", folder / "gitignore.part")
        number = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        what = f"the portal cannot write there: {problem.strerror}"
        remedy = "Choose another folder by --state."
        raise Unavailable(str(folder), what, remedy=remedy) from problem
    try:
        if not _lock(number):
            what = "another portal has this folder for its own files"
            remedy = "Use that portal, or choose another folder by --state."
            raise Unavailable(str(folder), what, remedy=remedy)
        settings.login_link_file.unlink(missing_ok=True)  # it was for an earlier start
        has_users = settings.users_file is not None
        content = json.dumps({"url": f"{settings.origin}/login", "has_users": has_users})
        os.ftruncate(number, 0)
        os.pwrite(number, content.encode(), 0)
        yield
    finally:
        os.close(number)


def create_login_link(settings: PortalSettings) -> str:
    """Return a link that logs in once to the portal that runs with the folder of some settings.

    The portal finds the hash of its token in a file; a link that was created before and not used
    is worth nothing any more.

    Raises:
        Unavailable: no portal runs with this folder, or this user may not write there.
        NotSupported: its users log in by their passwords.
    """
    folder = settings.storage_folder
    try:
        number = os.open(folder / LOCK_FILE, os.O_RDWR)
        try:
            is_running = not _lock(number)
        finally:
            os.close(number)
        portal = json.loads(read_regular_file(folder / LOCK_FILE, MAX_LOCK_BYTES) or b"{}")
    except FileNotFoundError:
        is_running, portal = False, {}
    except (OSError, ValueError) as problem:
        what = f"the files of the portal cannot be read: {problem}"
        raise Unavailable(str(folder), what) from problem
    if not is_running or "url" not in portal:
        what = "no running portal has this folder for its own files"
        remedy = "Give the designs or the --state with which it was started; or start it."
        raise Unavailable(str(folder), what, remedy=remedy)
    if portal["has_users"]:
        what = "the users of this portal log in by their passwords, or through a proxy"
        raise NotSupported("--new-link", what, remedy=f"Open {portal['url']}.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    path = settings.login_link_file
    try:
        replace_file(path, hash_token(token), path.with_suffix(".part"))
    except OSError as problem:
        what = f"the file cannot be written: {problem.strerror}"
        raise Unavailable(str(path), what) from problem
    return f"{portal['url']}?token={token}"


def take_login_link(path: Path, digest: bytes) -> bool:
    """Return whether a file has the hash of a token, which is then used up."""
    try:
        if not secrets.compare_digest(read_regular_file(path, len(digest)), digest):
            return False
        path.unlink()
    except OSError:  # there is none
        return False
    return True


def _lock(number: int) -> bool:
    """Lock an open file; return whether nobody else has."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
