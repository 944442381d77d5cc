"""The logs that are recognized by their first lines, with the patterns of their lines."""

from __future__ import annotations

from functools import cache

from rowkey.workload.logs.line_pattern import LinePattern, LogLayout

_ACCESS = (
    "{client:word} {ident:word} {user:word} [{time:%d/%b/%Y:%H:%M:%S %z}] "
    '"{request:quoted}" {status:word} {bytes:word}'
)
_ACCESS_COLUMNS = (
    "client", "ident", "user", "time", "method", "path", "protocol", "status", "bytes", "referer",
    "agent",
)  # fmt: skip
_LEVEL = (
    r"(?i)^[\[(<]?(trace|debug|verbose|config|fine|finer|finest|info|information|notice|success|audit|"
    r"warn|warning|alert|err|error|severe|critical|crit|fatal|panic|emerg|emergency|all|off|"
    r"[tdviwecf])[\])>]?[:,|]?$"
)
"""What a word must be to be the level of a line, in RE2."""
_LEVEL_CHECKED_LOGS = frozenset(["log4j"])
"""Logs whose patterns take any word after the time as the level, as no other text precedes it."""
_KNOWN_LOGS: dict[str, tuple[str, ...]] = {
    "apache": (_ACCESS + ' "{referer:quoted}" "{agent:quoted}"', _ACCESS, _ACCESS + " {}"),
    "apache_error": (
        (
            "[{time:%a %b %d %H:%M:%S.%f %Y}] [{level:word}] [pid {pid}] [client {client:word}] "
            "{message}"
        ),
        "[{time:%a %b %d %H:%M:%S.%f %Y}] [{level:word}] [pid {pid}] {message}",
        "[{time:%a %b %d %H:%M:%S.%f %Y}] [{level:word}] [client {client:word}] {message}",
        "[{time:%a %b %d %H:%M:%S.%f %Y}] [{level:word}] {message}",
    ),
    "nginx_error": ("{time:%Y/%m/%d %H:%M:%S} [{level:word}] {pid:int}#{tid:int}: {message}",),
    "syslog_5424": (
        (
            "<{priority:int}>{:int} {time:%Y-%m-%dT%H:%M:%S.%f%z} {host:word} {program:word} "
            "{pid:word} {message_id:word} {message}"
        ),
    ),
    "syslog": (
        "{time:%b %d %H:%M:%S} {host:word} {program:word}[{pid:int}]: {message}",
        "<{priority:int}>{time:%b %d %H:%M:%S} {host:word} {program:word}[{pid:int}]: {message}",
        "{time:%b %d %H:%M:%S} {host:word} {program:word}: {message}",
        "<{priority:int}>{time:%b %d %H:%M:%S} {host:word} {program:word}: {message}",
        "{time:%b %d %H:%M:%S} {host:word} {message}",
    ),
    "syslog_iso": (
        "{time:%Y-%m-%dT%H:%M:%S.%f%z} {host:word} {program:word}[{pid:int}]: {message}",
        "{time:%Y-%m-%dT%H:%M:%S.%f%z} {host:word} {program:word}: {message}",
    ),
    "bgl": (
        (
            "{label:word} {:int} {:word} {node:word} {time:%Y-%m-%d-%H.%M.%S.%f} {:word} "
            "{type:word} {component:word} {level:word} {message}"
        ),
    ),
    "thunderbird": ("{label:word} {time:epoch_s} {:word} {host:word} {:%b %d %H:%M:%S} {message}",),
    "hdfs": ("{time:%y%m%d %H%M%S} {thread:word} {level:word} {logger:word}: {message}",),
    "spark": ("{time:%y/%m/%d %H:%M:%S} {level:word} {logger:word}: {message}",),
    "android": (
        (
            "{time:%m-%d %H:%M:%S.%f}{:spaces}{pid:int}{:spaces}{tid:int} {level:word} {tag}: "
            "{message}"
        ),
    ),
    "windows": (
        "{time:%Y-%m-%d %H:%M:%S}, {level:word}{:spaces}{component:word}{:spaces}{message}",
    ),
    "postgresql": ("{time:%Y-%m-%d %H:%M:%S.%f %z} [{pid:int}] {level:word}: {message}",),
    "redis": ("{pid:int}:{role:word} {time:%d %b %Y %H:%M:%S.%f} {level:word} {message}",),
    "log4j": tuple(
        f"{{time:%Y-%m-%d %H:%M:%S.%f}}{{:spaces}}{shape}"
        for shape in (
            "{level:word}{:spaces}{pid:int} --- [{thread}] {logger:word}{:spaces}: {message}",
            "- {level:word}{:spaces}[{thread}] - {message}",
            "[{thread}] {level:word}{:spaces}{logger:word} - {message}",
            "[{thread}] {level:word}{:spaces}{logger:word}: {message}",
            "{level:word}{:spaces}[{thread}] {logger:word}: {message}",
            "{level:word}{:spaces}[{thread}] {logger:word} - {message}",
            "- {logger:word} - {level:word} - {message}",
            "{level:word}{:spaces}{logger:word}: {message}",
            "{level:word}{:spaces}{logger:word} - {message}",
            "{level:word}{:spaces}{message}",
        )
    ),
}
KNOWN_LOGS = tuple(_KNOWN_LOGS)


@cache
def build_known_log(name: str) -> LogLayout:
    """Return the layout of a known log."""
    patterns = tuple(LinePattern(text) for text in _KNOWN_LOGS[name])
    has_requests = any("request" in pattern.columns for pattern in patterns)
    columns = dict.fromkeys(name for pattern in patterns for name in pattern.columns)
    names = _ACCESS_COLUMNS if has_requests else tuple(columns)
    level = _LEVEL if name in _LEVEL_CHECKED_LOGS else ""
    return LogLayout(patterns, names, has_dashes=True, has_requests=has_requests, level=level)
