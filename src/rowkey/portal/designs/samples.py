"""Files of recorded events: those that users upload, and which one a form names."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from rowkey.durable_files import make_directory, sync_directory
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.messages import format_value
from rowkey.portal.tasks.results import MAX_RESULTS
from rowkey.workload import FORMATS, find_format_suffix

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.portal.portal import Portal
    from rowkey.portal.server.requests import PortalRequest


OWN_EVENTS, DECLARED_SAMPLE = "", "declared"
"""What a form sends for generated events and for the sample that the design declares."""


def find_sample(request: PortalRequest, designs: Sequence[Design]) -> Path | None:
    """Return the file of events that a form names; None for generated events of one design.

    Args:
        designs: the designs whose events are wanted; several replay one file.

    Raises:
        InvalidArgument: there is no such file, or several designs declare different ones.
    """
    if request.form.get("sample", OWN_EVENTS) == OWN_EVENTS and len(designs) == 1:
        return None
    declared = {request.portal.workspace.find_sample(one) for one in designs}
    return require_file(request, declared.pop() if len(declared) == 1 else None)


def require_file(request: PortalRequest, declared: Path | None) -> Path:
    """Return the file of events that a form names.

    Args:
        declared: the sample that is declared, if users may read it; else None.

    Raises:
        InvalidArgument: there is no such file.
    """
    choice = request.form.get("sample", "")
    if choice == DECLARED_SAMPLE:
        path = declared
    else:
        sample = request.portal.uploads.find(choice)
        path = None if sample is None else sample.path
    if path is None:
        what = "there is no such file, or the designs declare several samples"
        remedy = "Upload a file, declare one below the folder of the designs, or generate events."
        raise InvalidArgument("sample", what, remedy=remedy)
    return path


def find_last_sample(portal: Portal, design: str) -> str:
    """Return the id of the uploaded file that a design was last simulated by or drafted from.

    Returns:
        The id; empty if there is none, or if the file was removed meanwhile.
    """
    simulated = portal.simulations.list_requests(MAX_RESULTS)
    drafted = portal.drafts.list_requests(MAX_RESULTS)
    found = [one.sample_id for _, one in simulated if design in one.designs and one.sample_id]
    found += [one.sample_id for _, one in drafted if one.name == design]
    return next((one for one in found if portal.uploads.find(one)), "")


MAX_SAMPLE_BYTES = 256 << 20
"""Bytes of an uploaded file: a million events of 256 bytes."""
MAX_SAMPLES = 8
"""Uploaded files that are kept; with one more, the oldest is removed."""
MAX_RECEIVING = 8
"""Files that are uploaded at the same time."""
MAX_NAME_CHARS = 80
ID_BYTES = 8
_ID = re.compile(r"[0-9a-f]{16}")
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class UploadedSample:
    """A file of events that a user has uploaded.

    Args:
        id: what forms call it.
        uploaded_ms: when it was complete, in milliseconds since 1970.
    """

    id: str
    path: Path
    size_bytes: int
    uploaded_ms: int


class SampleUploads:
    """The uploaded files of one portal, each in a folder of its own.

    Args:
        folder: where they are stored; it is created with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._receiving: set[Path] = set()
        """The folders of the files that are uploaded now."""

    def list_samples(self) -> list[UploadedSample]:
        """Return the complete files, newest first."""
        folders = [one for one in self._list_folders() if _ID.fullmatch(one.name)]
        samples = [sample for one in folders if (sample := self.find(one.name))]
        return sorted(samples, key=lambda one: (-one.uploaded_ms, one.id))

    def find(self, sample_id: str) -> UploadedSample | None:
        """Return a complete file; None if there is none of this id."""
        if not _ID.fullmatch(sample_id):
            return None
        try:
            path = next((self.folder / sample_id).iterdir())
            state = path.stat()
        except (OSError, StopIteration):
            return None
        return UploadedSample(sample_id, path, state.st_size, state.st_mtime_ns // 1_000_000)

    async def receive(self, name: str, pieces: AsyncIterator[bytes]) -> UploadedSample:
        """Store a file as it comes in; none of it stays if that fails.

        Args:
            name: its name on the user's machine. Only its last step counts, and characters other
                than letters, digits, dots and dashes become `_`.
            pieces: its bytes, which are never held all at once.

        Raises:
            InvalidArgument: no format of samples has this suffix, or the file is empty.
            Unavailable: it cannot be written, or too many are uploaded now.
        """
        name = clean_sample_name(name)
        if len(self._receiving) >= MAX_RECEIVING:
            what = f"{MAX_RECEIVING} files are uploaded already"
            raise Unavailable(name, what, remedy="Wait until one of them is complete.")
        for folder in self._list_folders():  # of a portal that was killed meanwhile
            if folder.name.startswith(".") and folder not in self._receiving:
                shutil.rmtree(folder, ignore_errors=True)
        sample_id = token_hex(ID_BYTES)
        folder = self.folder / f".{sample_id}"
        self._receiving.add(folder)
        try:
            make_directory(folder)
            with (folder / name).open("xb") as file:
                async for piece in pieces:
                    file.write(piece)
                size_bytes = file.tell()
            if not size_bytes:
                raise InvalidArgument("sample", f"{name} is empty", "a file with events")
            folder.rename(self.folder / sample_id)
            sync_directory(self.folder)
        except OSError as problem:
            raise Unavailable(name, f"the file cannot be stored: {problem.strerror}") from problem
        finally:
            self._receiving.discard(folder)
            shutil.rmtree(folder, ignore_errors=True)
        for sample in self.list_samples()[MAX_SAMPLES:]:
            shutil.rmtree(sample.path.parent, ignore_errors=True)
        stored = self.find(sample_id)
        assert stored is not None, "it is the newest"
        return stored

    def _list_folders(self) -> list[Path]:
        """Return the folders of all files; none before the first one."""
        return list(self.folder.iterdir()) if self.folder.is_dir() else []


def clean_sample_name(name: str) -> str:
    r"""Return the name under which an uploaded file is stored.

    Raises:
        InvalidArgument: no format of samples has its suffix.

    >>> clean_sample_name("C:\\logs\\web 1.csv.gz"), clean_sample_name("../../.jsonl")
    ('web_1.csv.gz', 'sample.jsonl')
    """
    last = re.split(r"[/\\]", name)[-1]
    safe = _UNSAFE_CHARACTERS.sub("_", last)[-MAX_NAME_CHARS:]
    if safe.startswith((".", "-")):
        safe = f"sample{safe}"
    allowed = list_sample_suffixes()
    from pathlib import Path

    if find_format_suffix(Path(safe)) not in allowed:
        what = f"{format_value(last)} has the suffix of no format of samples"
        raise InvalidArgument("sample", what, " ".join(allowed), "Rename the file.")
    return safe


def list_sample_suffixes() -> list[str]:
    """Return the suffixes of files that can be samples, in alphabetical order."""
    return sorted({suffix for one in FORMATS.values() for suffix in one.suffixes})
