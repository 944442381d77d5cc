"""Requests for jobs and their results, as files that stay after a restart."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import Field, asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rowkey.durable_files import make_directory, read_regular_file, replace_file
from rowkey.portal.jobs.jobs import Job, JobLimits, create_job_id
from rowkey.stored_messages import iter_messages, restore_messages

MAX_RESULTS = 50
"""Results of one store that are kept; with one more, the oldest is removed."""
_ID = re.compile(r"[0-9a-f]{32}")
_REQUEST_FILE, _RESULT_FILE = "request.json", "result.json"
_MESSAGES = "messages"
_MAX_DOCUMENT_BYTES = 1 << 28


class JobRequest(Protocol):
    """What a user wants from a job: a dataclass of JSON values."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def created_ms(self) -> int:
        """When, in milliseconds since 1970."""
        ...


RequestT = TypeVar("RequestT", bound=JobRequest)


class JobResults(Generic[RequestT]):
    """The requests for one function and its results, each in a folder of its own.

    Args:
        folder: where they are stored; it is created with the first one.
        request_class: the class of the requests.
        function: answers a request in a process of its own, as `Job` says. Its document may hold
            messages; it returns `pack_messages(document)`.
    """

    def __init__(
        self, folder: Path, request_class: type[RequestT], function: Callable[..., dict[str, Any]]
    ) -> None:
        self.folder = folder
        self._request_class = request_class
        self._function = f"{function.__module__}:{function.__name__}"

    def create_job(
        self, request: RequestT, limits: JobLimits | None = None, **arguments: Any
    ) -> Job:
        """Store a request, and return the job that answers it.

        Args:
            request: what is wanted.
            limits: what the job may use; as other jobs if None.
            arguments: those of the function.

        Raises:
            OSError: it cannot be written.
        """
        self.remove(*self.list_ids()[MAX_RESULTS - 1 :])
        job_id = create_job_id()
        folder = self.folder / job_id
        make_directory(folder)
        path = folder / _REQUEST_FILE
        replace_file(path, json.dumps(asdict(request)).encode(), path.with_suffix(".part"))
        return Job(job_id, self._function, arguments, folder / _RESULT_FILE, limits=limits)

    def find_folder(self, job_id: str) -> Path | None:
        """Return the folder of a request; None for a text that is no id."""
        return self.folder / job_id if _ID.fullmatch(job_id) else None

    def remove(self, *job_ids: str) -> None:
        """Remove requests with their results, each as a whole; also what a kill has left of one."""
        for folder in filter(None, map(self.find_folder, job_ids)):
            with suppress(FileNotFoundError):  # another request has removed it
                folder.rename(folder.with_name(f".{folder.name}"))
        for hidden in self.folder.glob(".*"):
            shutil.rmtree(hidden, ignore_errors=True)

    def list_ids(self) -> list[str]:
        """Return the ids of the stored requests, newest first."""
        if not self.folder.is_dir():
            return []
        times: dict[str, int] = {}
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if _ID.fullmatch(entry.name):
                    with suppress(FileNotFoundError):  # another request has removed it
                        times[entry.name] = entry.stat().st_ctime_ns
        requests = {name: self.read_request(name) for name in times}
        created = {name: one.created_ms if one else 0 for name, one in requests.items()}
        return sorted(times, key=lambda name: (-created[name], -times[name]))

    def list_requests(self, count: int) -> list[tuple[str, RequestT]]:
        """Return the newest requests with their ids, newest first.

        Args:
            count: how many at most.
        """
        requests = ((one, self.read_request(one)) for one in self.list_ids()[:count])
        return [(job_id, request) for job_id, request in requests if request is not None]

    def read_request(self, job_id: str) -> RequestT | None:
        """Return a request; None if there is none of this id, or another version wrote it."""
        document = self._read(job_id, _REQUEST_FILE)
        try:
            return None if document is None else self._request_class(**document)
        except TypeError:
            return None

    def read_result(self, job_id: str) -> dict[str, Any] | None:
        """Return the result of the function with its messages; None if there is none yet."""
        result = self._read(job_id, _RESULT_FILE)
        if result is not None:
            restore_messages(result, result.pop(_MESSAGES))
        return result

    def _read(self, job_id: str, name: str) -> dict[str, Any] | None:
        """Return a stored document; None if there is none."""
        folder = self.find_folder(job_id)
        if folder is None:
            return None
        try:
            text = read_regular_file(folder / name, _MAX_DOCUMENT_BYTES)
        except OSError:
            return None
        document: dict[str, Any] = json.loads(text)
        return document


def pack_messages(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with the keys and arguments of its messages, which JSON would lose."""
    return {**document, _MESSAGES: iter_messages(document)}
