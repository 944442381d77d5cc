"""Style sheets, scripts and pictures, served from memory: no path of a request reaches the disk."""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import sha256
from importlib.resources import files

from rowkey.render import read_map_script, read_page_asset

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
REPORT_STYLE = "report.css"
"""The style sheet of the report, whose colours and boxes the portal uses."""
REPORT_SCRIPT = "report_map.js"
"""The script of the report, which draws its maps."""


@cache
def read_static_files() -> dict[str, bytes]:
    """Return the content of every style sheet, script and picture by name."""
    contents = {
        REPORT_STYLE: read_page_asset("browser/style.css").encode(),
        REPORT_SCRIPT: read_map_script(makes_requests=True).encode(),
    }
    for file in files("rowkey.portal").joinpath("static").iterdir():
        if file.name.endswith(tuple(CONTENT_TYPES)):
            contents[file.name] = file.read_bytes()
    return contents


@cache
def compress_static_file(name: str) -> bytes | None:
    """Return a style sheet, script or picture compressed by gzip; None if there is none."""
    content = read_static_files().get(name)
    return None if content is None else gzip.compress(content, 9, mtime=0)


@cache
def build_static_url(name: str) -> str:
    """Return the URL of a style sheet or script, which changes with its content."""
    version = sha256(read_static_files()[name]).hexdigest()[:12]
    return f"/static/{name}?v={version}"
