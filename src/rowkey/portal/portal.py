"""The parts of one running portal, which its screens share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rowkey.portal.audit import AuditLog
from rowkey.portal.design_check import DesignChecker
from rowkey.portal.engine_session import EngineSession
from rowkey.portal.jobs import JobQueue
from rowkey.portal.sample_uploads import SampleUploads
from rowkey.portal.sessions import SessionStore
from rowkey.portal.simulations import SimulationStore
from rowkey.portal.table_steps import TableSteps
from rowkey.portal.users import UserDirectory
from rowkey.portal.workspace import Workspace

if TYPE_CHECKING:
    from rowkey.portal.settings import PortalSettings


@dataclass(frozen=True, slots=True)
class Portal:
    """The parts of one running portal.

    Args:
        settings: what it shows and where it listens.
        workspace: its design files.
        engines: opens the engine with the tables.
        sessions: who is logged in.
        audit: who changed what.
        checker: checks design files, and remembers the results.
        steps: long steps on tables that run or have run.
        jobs: runs long work in other processes.
        uploads: files of events that users have uploaded.
        simulations: what was simulated, with the results.
    """

    settings: PortalSettings
    workspace: Workspace
    engines: EngineSession
    sessions: SessionStore
    audit: AuditLog
    checker: DesignChecker
    steps: TableSteps
    jobs: JobQueue
    uploads: SampleUploads
    simulations: SimulationStore

    @classmethod
    def from_settings(cls, settings: PortalSettings) -> Self:
        """Return the parts for some settings; no engine is opened yet.

        Raises:
            InvalidPortalSettings: the users file has mistakes.
        """
        users = None if settings.users_file is None else UserDirectory.read(settings.users_file)
        secrets = (settings.users_file, settings.key_file, settings.storage_folder)
        workspace = Workspace(settings.folder, frozenset(filter(None, secrets)))
        audit = AuditLog(settings.audit_file)
        return cls(
            settings=settings,
            workspace=workspace,
            engines=EngineSession(settings.url),
            sessions=SessionStore(users),
            audit=audit,
            checker=DesignChecker(workspace),
            steps=TableSteps(audit),
            jobs=JobQueue(),
            uploads=SampleUploads(settings.storage_folder / "samples"),
            simulations=SimulationStore(settings.storage_folder / "simulations"),
        )
