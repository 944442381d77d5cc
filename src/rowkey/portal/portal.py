"""The parts of one running portal, which its screens share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rowkey.portal.audit import AuditLog
from rowkey.portal.design_check import DesignChecker
from rowkey.portal.engine_session import EngineSession
from rowkey.portal.jobs import JobQueue
from rowkey.portal.live_alerts import AlertLog, AlertSender
from rowkey.portal.live_database import LiveDatabase
from rowkey.portal.live_history import LiveHistory
from rowkey.portal.live_watch import LiveWatch
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
        live: reads the counters of the tables, and stores what they show.
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
    live: LiveWatch

    @classmethod
    def from_settings(cls, settings: PortalSettings) -> Self:
        """Return the parts for some settings; no engine is opened yet.

        Raises:
            InvalidPortalSettings: the users file has mistakes.
        """
        users = None if settings.users_file is None else UserDirectory.read(settings.users_file)
        hidden = frozenset(() if settings.users_file is None else (settings.users_file,))
        workspace = Workspace(settings.folder, hidden)
        audit = AuditLog(settings.audit_file)
        engines = EngineSession(settings.url)
        database = LiveDatabase(settings.live_file)
        alerts = AlertLog(database)
        return cls(
            settings=settings,
            workspace=workspace,
            engines=engines,
            sessions=SessionStore(users),
            audit=audit,
            checker=DesignChecker(workspace),
            steps=TableSteps(audit),
            jobs=JobQueue(),
            uploads=SampleUploads(settings.storage_folder / "samples"),
            simulations=SimulationStore(settings.storage_folder / "simulations"),
            live=LiveWatch(
                engines,
                LiveHistory(database),
                alerts,
                AlertSender(settings.alert_url, alerts),
                settings.origin,
                workspace.find_table_design,
            ),
        )
