"""The parts of one running portal, which its screens share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Self

from rowkey.portal.designs.advice import AdviceRequest, advise_design
from rowkey.portal.designs.check import DesignChecker
from rowkey.portal.designs.drafts import DraftRequest, write_draft
from rowkey.portal.designs.samples import SampleUploads
from rowkey.portal.designs.simulations import SimulatedVerdicts, SimulationResults
from rowkey.portal.designs.workspace import Workspace
from rowkey.portal.live.alert_writer import AlertWriter
from rowkey.portal.live.alerts import AlertLog, AlertSender
from rowkey.portal.live.database import LiveDatabase
from rowkey.portal.live.history import LiveHistory
from rowkey.portal.live.watch import LiveWatch
from rowkey.portal.running_portal import take_login_link
from rowkey.portal.settings import PortalSettings
from rowkey.portal.tables.engine_session import EngineSession
from rowkey.portal.tables.table_tasks import TableTasks, TaskFiles
from rowkey.portal.tasks.process_task import MAX_RUNNING, MAX_WAITING, ProcessTask
from rowkey.portal.tasks.results import TaskResults
from rowkey.portal.tasks.task_queue import TaskQueue
from rowkey.portal.users.audit import AuditLog
from rowkey.portal.users.sessions import SessionStore
from rowkey.portal.users.users import UserDirectory


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
        table_tasks: long tasks on tables that run or have run.
        tasks: runs long work in other processes.
        uploads: files of events that users have uploaded.
        simulations: what was simulated, with the results.
        live: keeps the states of the tables, and stores their load.
        verdicts: the verdicts of these simulations, by design file.
        drafts: what was drafted from uploaded files.
        advice: what better keys were searched for.
        is_stopping: set once the portal is being stopped.
    """

    settings: PortalSettings
    workspace: Workspace
    engines: EngineSession
    sessions: SessionStore
    audit: AuditLog
    checker: DesignChecker
    table_tasks: TableTasks
    tasks: TaskQueue[ProcessTask]
    uploads: SampleUploads
    live: LiveWatch
    simulations: SimulationResults
    verdicts: SimulatedVerdicts
    drafts: TaskResults[DraftRequest]
    advice: TaskResults[AdviceRequest]
    is_stopping: Event = field(default_factory=Event)

    @classmethod
    def from_settings(cls, settings: PortalSettings) -> Self:
        """Return the parts for some settings; no engine is opened yet.

        Raises:
            InvalidPortalSettings: the users file has mistakes.
        """
        users = None if settings.users_file is None else UserDirectory.read(settings.users_file)
        secrets = (settings.users_file, settings.key_file, settings.metrics_token_file)
        hidden = frozenset(filter(None, (*secrets, settings.storage_folder)))
        workspace = Workspace(settings.folder, hidden)
        audit = AuditLog(settings.audit_file)
        engines = EngineSession(settings.url)
        database = LiveDatabase(settings.live_file)
        alerts = AlertLog(database)
        live = LiveWatch(
            engines,
            LiveHistory(database),
            AlertWriter(alerts, AlertSender(settings.alert_url, alerts), settings.origin),
            workspace.find_table_design,
        )
        simulations = SimulationResults(settings.storage_folder / "simulations")
        return cls(
            settings=settings,
            workspace=workspace,
            engines=engines,
            sessions=SessionStore(
                users,
                partial(take_login_link, settings.login_link_file) if users is None else None,
            ),
            audit=audit,
            checker=DesignChecker(workspace),
            table_tasks=TableTasks(
                audit, TaskFiles(settings.storage_folder / "steps"), live.follow_end
            ),
            tasks=TaskQueue(MAX_RUNNING, MAX_WAITING),
            uploads=SampleUploads(settings.storage_folder / "samples"),
            live=live,
            simulations=simulations,
            verdicts=SimulatedVerdicts(simulations),
            drafts=TaskResults(settings.storage_folder / "drafts", DraftRequest, write_draft),
            advice=TaskResults(settings.storage_folder / "advice", AdviceRequest, advise_design),
        )

    def end_streams(self) -> None:
        """End the streams of open pages, which a server that is stopped would wait for."""
        self.is_stopping.set()
        self.live.stop()
