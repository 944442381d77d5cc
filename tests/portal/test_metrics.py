from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.blocks import ROOT
from portal.portals import build_portal, create_logs, open_client
from portal.test_live_watch import SteppedWatch
from rowkey.portal import InvalidPortalSettings, PortalSettings
from rowkey.portal.live.prometheus_text import MetricFamily

TOKEN = "0123456789abcdef-_~"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
VALUE = r"(?:[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|[+-]Inf)"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ({VALUE})")
"""A line with a value, by the document of the format 0.0.4."""


def parse_metrics(text: str) -> dict[str, dict[str, float]]:
    """Return the values of each metric by their labels, as the document of the format reads them.

    Every metric has its help, then its type, then all its values, each with other labels; names of
    counters, and of no others, end with `_total`; the text ends with a line feed.
    """
    assert text.endswith("\n")
    found: dict[str, dict[str, float]] = {}
    kinds: dict[str, str] = {}
    current = ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in found, "all lines of a metric are one group"
            assert re.fullmatch(NAME, current)
            found[current] = {}
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert (name, {}) == (current, found[current])
            assert kind in {"counter", "gauge"}
            assert name.endswith("_total") == (kind == "counter")
            kinds[name] = kind
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample is not None, line
            name, labels, value = sample.groups()
            assert current == name
            assert name in kinds
            assert (labels or "") not in found[name]
            found[name][labels or ""] = float(value)
    return found


def test_the_metrics_are_parsed_with_the_counted_values(tmp_path: Path) -> None:
    """A parser written from the document of the format reads all metrics, with their values."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    client, stepped = open_client(app), SteppedWatch(app)
    with stepped.watch.view("logs"):
        stepped.run(1)
        create_logs(url)
        stepped.run(2)
        found = parse_metrics(client.get("/metrics").text)
    assert 1.0 == found["rowkey_table_writes_total"].pop('table="logs",server="s0"')
    assert {0.0} == set(found["rowkey_table_writes_total"].values())
    assert {'table="logs"': 1.0} == found["rowkey_table_regions"]
    assert {"": 1.0} == found["rowkey_portal_live_viewers"]
    assert {"": 0.0} == found["rowkey_portal_read_failures_total"]
    assert found["rowkey_portal_live_file_size_bytes"][""] > 0
    assert list(found["rowkey_build_info"].values()) == [1.0]
    app.state.portal.live.close()


def test_the_guide_lists_every_metric(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guides" / "running-tables.md").read_text(encoding="utf-8")
    app = build_portal(tmp_path, f"memory:{tmp_path}")
    found = parse_metrics(open_client(app).get("/metrics").text)
    assert set(found) == set(re.findall(r"`(rowkey_\w+)`", guide))
    app.state.portal.live.close()


def test_table_names_in_metrics_labels_are_escaped() -> None:
    """A label may hold any text; an independent reading finds it again."""
    text = 'a"b\\c\nd{},=é'
    family = MetricFamily("rowkey_rows", "gauge", "Rows.")
    family.add(0.5, table=text)
    lines = list(family.format_lines())
    sample = SAMPLE.fullmatch(lines[2])
    assert sample is not None
    quoted = sample[2].partition("=")[2][1:-1]
    assert text == re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], quoted)
    assert "0.5" == sample[3]


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("Bearer ", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
    ],
)
def test_without_a_session_only_the_metrics_token_opens_the_metrics(
    tmp_path: Path, header: str | None, status: int
) -> None:
    """Without a session, only the token of the file opens the metrics, and nothing else."""
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    client = open_client(build_portal(tmp_path, metrics_token_file=path), logs_in=False)
    headers = {} if header is None else {"authorization": header}
    assert status == client.get("/metrics", headers=headers).status_code
    assert 401 == client.get("/", headers=headers).status_code
    assert 401 == client.post("/designs", headers=headers).status_code


def test_a_changed_or_removed_metrics_token_opens_nothing(tmp_path: Path) -> None:
    """The file is read for each request, and an empty token is none."""
    path = tmp_path / "token"
    path.write_text(TOKEN, encoding="utf-8")
    client = open_client(build_portal(tmp_path, metrics_token_file=path), logs_in=False)
    path.write_text("", encoding="utf-8")
    assert 401 == client.get("/metrics", headers={"authorization": "Bearer "}).status_code
    path.write_text(TOKEN[::-1], encoding="utf-8")
    for token, status in ((TOKEN, 401), (TOKEN[::-1], 200)):
        headers = {"authorization": f"Bearer {token}"}
        assert status == client.get("/metrics", headers=headers).status_code
    path.unlink()
    assert 401 == client.get("/metrics", headers=headers).status_code


@pytest.mark.parametrize("content", ["", "short", "0123456789abcdef g", "0123456789abcdefé"])
def test_a_short_unprintable_or_missing_metrics_token_is_refused(
    tmp_path: Path, content: str
) -> None:
    """A token has at least 16 characters that a header may hold."""
    path = tmp_path / "token"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidPortalSettings, match="--metrics-token"):
        PortalSettings(tmp_path, metrics_token_file=path)
    with pytest.raises(InvalidPortalSettings, match="--metrics-token: there is no file"):
        PortalSettings(tmp_path, metrics_token_file=tmp_path / "none")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/hook",
        "ftp://example.org",
        "http://",
        "http://example.org:99999/",
        "https://me:secret@example.org/",
        "https://example.org/#a",
        "https://example.org/a b",
        "https://example.org/\r\nx: y",
        "https://exämple.org/",
    ],
)
def test_an_invalid_alert_url_is_refused_without_showing_its_secrets(
    tmp_path: Path, url: str
) -> None:
    """A URL for alerts has http or https and a host; the message does not repeat its secrets."""
    with pytest.raises(InvalidPortalSettings, match="--alert-url") as refusal:
        PortalSettings(tmp_path, alert_url=url)
    assert "secret" not in str(refusal.value)
    assert PortalSettings(tmp_path, alert_url="https://example.org:8443/hook?key=1").alert_url
