"""The design files of one folder: their names, texts and versions; nothing outside is touched."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from rowkey.design import BOM, Design, parse_toml
from rowkey.durable_files import read_regular_file, replace_file, sync_directory
from rowkey.errors import Conflict, InvalidArgument, InvalidDesign, Mistake, Unavailable
from rowkey.messages import format_value

DESIGN_SUFFIX = ".toml"
SETTINGS_FILES = frozenset({"rowkey.toml", "pyproject.toml"})
"""TOML files that are no designs."""
MAX_NAME_BYTES = 120
MAX_FILE_BYTES = 1 << 18
"""Bytes of a design file; a larger one is no valid design."""
_FORBIDDEN_CHARACTERS = frozenset('/\\:*?"<>|%')
"""Characters that separate folders, or have a meaning in names or URLs on some system."""
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9]+")
_TEMPORARY_NAME = re.compile(r"\.[0-9a-f]{16}\.part")
"""The name of a file that becomes a design file once it is written whole."""
MAX_TABLE_CHARS = 100
_VISIBLE_BLANKS = "\t\n"
SETTLED_NS = 2_000_000_000
"""Nanoseconds after which a file that changes gets another time than before."""


Signature = tuple[int, int, int, int]
"""By what a changed file is told from the one before: its times, size and number."""


def sign_file(path: Path) -> Signature:
    """Return the signature of a file; zeros if there is none."""
    try:
        status = path.stat(follow_symlinks=False)
    except (OSError, ValueError):
        return 0, 0, 0, 0
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class DesignFileMissing(InvalidArgument):
    """The name of a file that is no design file of the folder."""


@dataclass(frozen=True)
class DesignFile:
    """A design file as it was read."""

    name: str
    content: bytes

    @cached_property
    def tree(self) -> dict[str, Any] | None:
        """The text as TOML; None if it is not valid TOML."""
        try:
            return parse_toml(self.text, "")[0]
        except InvalidDesign:
            return None

    @property
    def declared_table(self) -> str:
        """The name of the table that the text declares, right or wrong; empty if it has none."""
        table = (self.tree or {}).get("table")
        return table if isinstance(table, str) else ""

    @property
    def is_design(self) -> bool:
        """Whether the text is a design, perhaps a broken one, and not another TOML file.

        >>> texts = (b'table = "logs"', b"[tool.other]", b"table =")
        >>> [DesignFile("a.toml", text).is_design for text in texts]
        [True, False, True]
        """
        return not self.tree or bool({"table", "key", "fields"} & self.tree.keys())

    @cached_property
    def etag(self) -> str:
        """The version of the file: a hash of its bytes."""
        return sha256(self.content).hexdigest()[:32]

    @property
    def text(self) -> str:
        """The text of the file with line feeds; bytes that are not UTF-8 become escapes."""
        text = self.content.decode("utf-8", "backslashreplace")
        return text.removeprefix(BOM).replace("\r\n", "\n")

    @property
    def is_editable(self) -> bool:
        """Whether a text area shows the text as it is: UTF-8, and all characters visible.

        A character that hides or reorders others could show another design than the file has.
        """
        try:
            self.content.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return all(map(_is_visible, self.text))

    def encode_text(self, text: str) -> bytes:
        """Return an edited text as the bytes of this file, with its line ends and its mark."""
        text = text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")
        if b"\r\n" in self.content:
            text = text.replace("\n", "\r\n")
        mark = BOM if self.content.startswith(BOM.encode()) else ""
        return f"{mark}{text}".encode()


def _is_visible(character: str) -> bool:
    """Return whether a character shows itself, or is a blank."""
    category = unicodedata.category(character)
    is_hidden = category[0] == "C" or category in ("Zl", "Zp")
    return character in _VISIBLE_BLANKS or not is_hidden


class WorkspaceDesign(Design):
    """A design whose text does not decide which file is read as its sample.

    Args:
        shown_sample: the declared sample, if users may see it; else None.
    """

    shown_sample: Path | None = None

    @property
    def sample_path(self) -> Path | None:
        """The declared sample; None without one, and for one that is not read."""
        return self.shown_sample


class Workspace:
    """The design files of one folder; links and files of folders below it are not among them.

    Args:
        hidden_files: files and folders in it that are not shown, such as the users of the portal.
    """

    def __init__(self, folder: Path, hidden_files: frozenset[Path] = frozenset()) -> None:
        self.folder = folder.resolve()
        self.hidden_files = frozenset(path.resolve() for path in hidden_files)
        self._files: dict[str, tuple[Signature, DesignFile | None]] = {}

    def list_files(self) -> list[DesignFile]:
        """Return the design files by name, ascending, without those that cannot be read.

        Raises:
            Unavailable: the folder cannot be read.

        Cost: a file is read again if its time, size or number has changed, or it is very new.
        """
        try:
            with os.scandir(self.folder) as entries:
                names = sorted(entry.name for entry in entries if self._has_design_name(entry.name))
        except OSError as problem:
            what = f"the folder of the designs cannot be read: {problem.strerror}"
            remedy = "Check the disk and the permissions of the folder, and try again."
            raise Unavailable(str(self.folder), what, remedy=remedy) from problem
        known, listed = self._files, {}
        settled_ns = time.time_ns() - SETTLED_NS
        for name in names:
            signature = sign_file(self.folder / name)
            before = known.get(name)
            if before is not None and before[0] == signature and max(signature[:2]) < settled_ns:
                listed[name] = before
                continue
            file = None
            with suppress(DesignFileMissing, InvalidDesign, Unavailable):
                file = self.read(name)
            listed[name] = (signature, file)
        self._files = listed
        return [file for _, file in listed.values() if file is not None]

    def find_table_design(self, table: str) -> Design | None:
        """Return the design of the first file that declares a table; None if no valid one does."""
        name = self.find_table_file(table)
        return self.read_design(self.read(name)) if name else None

    def find_table_file(self, table: str) -> str:
        """Return the name of the first file that declares a table; empty if no valid one does."""
        for file in self.list_files():
            with suppress(InvalidDesign):
                if file.declared_table == table and self.read_design(file).table == table:
                    return file.name
        return ""

    def read(self, name: str) -> DesignFile:
        """Return a design file.

        Raises:
            DesignFileMissing: it is the name of no design file.
            InvalidDesign: the file is too large.
            Unavailable: the disk does not read it.
        """
        if not self._has_design_name(name):
            raise _build_missing_error(name)
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW
            content = read_regular_file(self.folder / name, MAX_FILE_BYTES, flags)
        except ValueError as problem:
            raise _build_missing_error(name) from problem
        except OSError as problem:
            if problem.errno == errno.EFBIG:
                what, allowed = f"the file is too large: {problem.strerror}", "one design"
                mistake = Mistake("", what, allowed, "Edit it outside of the portal.")
                raise InvalidDesign([mistake], name) from problem
            if problem.errno != errno.EIO:
                raise _build_missing_error(name) from problem
            what = f"the file cannot be read: {problem.strerror}"
            raise Unavailable(name, what, remedy="Check the disk, and try again.") from problem
        file_read = DesignFile(name, content)
        if not file_read.is_design:
            raise _build_missing_error(name)
        return file_read

    def write(self, name: str, text: str, etag: str | None) -> DesignFile:
        """Write a design file, unless another one has changed it since it was read.

        Args:
            etag: the version that was read; None for a file that is new.

        Returns:
            The file as it is now.

        Raises:
            Conflict: the file has another version, is there already, or is gone.
            InvalidArgument: no design file can have this name, the text is too long, or it has
                characters that do not show, before or now.
            Unavailable: it cannot be written.
        """
        self.check_name(name)
        with self._lock(name):
            current = self._read_version(name, etag)
            new = DesignFile(name, current.encode_text(text))
            _check_edit(current, new)
            self._replace(name, new.content, is_new=etag is None)
        return new

    def remove(self, name: str, etag: str) -> None:
        """Remove a design file, unless another one has changed it since it was read.

        Raises:
            Conflict: the file has another version, or is gone.
            InvalidArgument: no design file can have this name.
            Unavailable: it cannot be removed.
        """
        self.check_name(name)
        with self._lock(name):
            self._read_version(name, etag)
            try:
                (self.folder / name).unlink()
            except OSError as problem:
                what = f"the file cannot be removed: {problem.strerror}"
                raise Unavailable(name, what) from problem
            sync_directory(self.folder)

    def remove_temporary_files(self) -> None:
        """Remove what portals have left that were killed while they wrote a file.

        Raises:
            Unavailable: the folder cannot be locked or changed.
        """
        with self._lock(str(self.folder)):  # nobody writes one now
            for path in self.folder.iterdir():
                if _TEMPORARY_NAME.fullmatch(path.name):
                    try:
                        path.unlink(missing_ok=True)
                    except OSError as problem:
                        what = f"the file cannot be removed: {problem.strerror}"
                        raise Unavailable(path.name, what) from problem

    def read_design(self, file: DesignFile) -> Design:
        """Return the design of a file.

        The files of its companions are read, if they are design files of the folder too. It has the
        sample that it declares only if `find_sample` finds it.

        Raises:
            InvalidDesign: with every mistake, each with its line.
        """
        text = file.content.decode("utf-8", "surrogateescape")
        design = WorkspaceDesign.loads(text, source=file.name)
        companions = design.declaration.companions
        mistakes = [
            Mistake(f"companions.{name}", what, "the name of a design file of this folder")
            for name, path in companions.items()
            if (what := self._find_companion_problem(path))
        ]
        if mistakes:
            assert design.source is not None, "it has a text"
            located = design.source.source_map.locate_mistakes(mistakes)
            raise InvalidDesign(located, file.name)
        if companions:
            design = WorkspaceDesign.loads(text, source=file.name, directory=self.folder)
        assert isinstance(design, WorkspaceDesign), "it is loaded as one"
        design.shown_sample = self.find_sample(design)
        return design

    def find_sample(self, design: Design) -> Path | None:
        """Return the sample that a design declares, if it is a plain file below the folder.

        A link, a file elsewhere, a hidden or a TOML file is not: the text of a design would decide
        on what is read, such as the users of the portal.
        """
        declared = design.declaration.sample
        if declared is None or declared.path is None:
            return None
        try:
            path = (self.folder / declared.path).absolute()
            is_inside = path.resolve() == path and path.is_relative_to(self.folder)
            return path if is_inside and path.is_file() and self._is_shown(path) else None
        except (OSError, ValueError):  # a name that no file can have
            return None

    def _is_shown(self, path: Path) -> bool:
        """Return whether users may see the events of a file below the folder."""
        steps = path.relative_to(self.folder).parts
        return (
            path.suffix != DESIGN_SUFFIX
            and not any(step.startswith(".") for step in steps)
            and not any(path.is_relative_to(hidden) for hidden in self.hidden_files)
        )

    def _find_companion_problem(self, path: str) -> str:
        """Return why a companion's file is not read, or an empty string."""
        try:
            self.read(path)
        except (DesignFileMissing, Unavailable) as problem:
            return problem.mistake.problem
        except InvalidDesign as problem:
            return problem.mistakes[0].problem
        return ""

    def check_name(self, name: str) -> None:
        """Raise unless a design file of the folder may have a name.

        Raises:
            InvalidArgument: no design file can have it.
        """
        if not self._has_design_name(name):
            what = f"{format_value(name)} is not the name of a design file"
            allowed = f"a name such as logs{DESIGN_SUFFIX}, without a folder"
            raise InvalidArgument("file", what, allowed)

    def _has_design_name(self, name: str) -> bool:
        """Return whether a design file may have a name."""
        return (
            name.endswith(DESIGN_SUFFIX)
            and name.isprintable()
            and not _FORBIDDEN_CHARACTERS.intersection(name)
            and not name.startswith((".", " ", "-", "~"))
            and len(name) > len(DESIGN_SUFFIX)
            and len(name.encode("utf-8", "surrogatepass")) <= MAX_NAME_BYTES
            and name not in SETTINGS_FILES
            and (self.folder / name) not in self.hidden_files
        )

    def _read_version(self, name: str, etag: str | None) -> DesignFile:
        """Return the file as it is, empty if it is new.

        Raises:
            Conflict: it is not of this version.
        """
        try:
            current = self.read(name)
        except DesignFileMissing as problem:
            if etag is None:
                return DesignFile(name, b"")
            what = "the file was removed since it was read"
            raise Conflict(name, what, remedy="Save it under another name.") from problem
        if current.etag != etag:
            what = "there is a file of this name" if etag is None else "the file has changed"
            remedy = "Choose another name." if etag is None else "Compare both texts."
            raise Conflict(name, what, "the version that was read", remedy)
        return current

    def _replace(self, name: str, content: bytes, *, is_new: bool) -> None:
        """Write a file whole: after a crash, the old text or the new one is there.

        Raises:
            Conflict: it was to be new and is there.
            Unavailable: it cannot be written.
        """
        path, temporary = self.folder / name, self.folder / f".{token_hex(8)}.part"
        try:
            mode = 0o666 if is_new else stat.S_IMODE(path.stat(follow_symlinks=False).st_mode)
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
            if is_new:
                with temporary.open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(temporary, path)  # which fails if the file is there
                sync_directory(self.folder)
            else:
                replace_file(path, content, temporary)
        except FileExistsError as problem:
            what = "there is a file of this name"
            raise Conflict(name, what, remedy="Choose another name.") from problem
        except OSError as problem:
            what = f"the file cannot be written: {problem.strerror}"
            raise Unavailable(name, what) from problem
        finally:
            temporary.unlink(missing_ok=True)

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        """Keep other portals from writing a file of the folder meanwhile.

        Raises:
            Unavailable: the folder cannot be locked.
        """
        import fcntl

        try:
            number = os.open(self.folder, os.O_RDONLY)
        except OSError as problem:
            what = f"the folder cannot be opened: {problem.strerror}"
            raise Unavailable(name, what) from problem
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            yield
        finally:
            os.close(number)


def clean_table_name(stem: str) -> str:
    """Return the name of a table for the stem of a file's name.

    >>> clean_table_name("web logs-1"), clean_table_name("日志")
    ('web_logs_1', 'events')
    """
    return _UNSAFE_CHARACTERS.sub("_", stem).strip("_")[:MAX_TABLE_CHARS] or "events"


def _check_edit(current: DesignFile, new: DesignFile) -> None:
    """Raise unless a text area can show a file both before and after an edit.

    Raises:
        InvalidArgument: it cannot, or the new text is too long.
    """
    if not current.is_editable:
        what = "the file has characters that do not show, or is not UTF-8"
        raise InvalidArgument(current.name, what, remedy="Edit it outside of the portal.")
    for number, line in enumerate(new.text.split("\n"), 1):
        if hidden := [one for one in line if not _is_visible(one)]:
            what = f"line {number} has the character U+{ord(hidden[0]):04X}, which does not show"
            raise InvalidArgument("text", what, remedy="Remove it, or write a TOML escape.")
    if len(new.content) > MAX_FILE_BYTES:
        what = f"{len(new.content):,} bytes are too many"
        raise InvalidArgument("text", what, f"at most {MAX_FILE_BYTES:,} bytes")


def _build_missing_error(name: str) -> DesignFileMissing:
    what = f"the folder has no design file {format_value(name)}"
    return DesignFileMissing("file", what, remedy="Open the list of tables and choose one.")
