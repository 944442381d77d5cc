"""Serves designs and tables in a browser, by the documents that the command line prints."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.portal.app import build_app
    from rowkey.portal.running_portal import create_login_link
    from rowkey.portal.server.server import run_server
    from rowkey.portal.settings import InvalidPortalSettings, PortalSettings
    from rowkey.portal.users.users import hash_password
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "app": "build_app",
            "running_portal": "create_login_link",
            "server.server": "run_server",
            "settings": "InvalidPortalSettings PortalSettings",
            "users.users": "hash_password",
        },
    )

__all__ = [
    "InvalidPortalSettings",
    "PortalSettings",
    "build_app",
    "create_login_link",
    "hash_password",
    "run_server",
]
