"""A design decides on no file that users may not see: no form reads it as the declared sample."""

from __future__ import annotations

from pathlib import Path

import pytest

import rowkey
from portal.portals import LOGS, build_portal, open_client
from portal.test_create_and_load import SAMPLED
from portal.test_screens import read_form
from portal.test_simulate import EVENTS

CANARY = "canary-of-a-secret"
SECRET = f"{EVENTS}{CANARY},1,x\n"


@pytest.mark.parametrize("path", ["../secret.csv", "link.csv", "token.csv", "plain.csv"])
def test_no_form_reads_a_sample_outside_of_the_folder(tmp_path: Path, path: str) -> None:
    """A file elsewhere, a link and the file with a token are refused; a plain one is read."""
    url, designs = f"memory:{tmp_path}", tmp_path / "designs"
    token = designs / "token.csv"
    designs.mkdir()
    token.write_text("x" * 32, "utf-8")
    app = build_portal(tmp_path, url, metrics_token_file=token)
    token.write_text(SECRET, "utf-8")
    (tmp_path / "secret.csv").write_text(SECRET, "utf-8")
    (designs / "plain.csv").write_text(SECRET, "utf-8")
    (designs / "link.csv").symlink_to(tmp_path / "secret.csv")
    declared = f'\n[sample]\npath = "{path}"\n'
    for name, text in (("logs", SAMPLED), ("other", LOGS.replace('"logs"', '"other"'))):
        (designs / f"{name}.toml").write_text(text + declared, "utf-8")
    rowkey.open(rowkey.Design.loads(LOGS.replace('"logs"', '"other"')), url).close()
    client, portal = open_client(app), app.state.portal
    form = {"sample": "declared", "etag": read_form(client)["etag"], "design": "logs.toml"}
    both = {"design:logs.toml": "1", "design:other.toml": "1"}
    is_refused = path != "plain.csv"
    for action, fields in (
        ("/simulations", form),
        ("/comparisons", {**form, **both}),
        ("/advice", form),
        ("/advice", {"design": "logs.toml"}),
        ("/designs/logs.toml/create", form),
        ("/tables/other/load", form),
    ):
        answer = client.post(action, data=fields)
        assert (action, 422 if is_refused else 303) == (action, answer.status_code)
    stores = (portal.simulations, portal.advice)
    assert [not is_refused] * 2 == [bool(one.list_ids()) for one in stores]
    assert [is_refused] * 2 == [portal.table_tasks.find(one) is None for one in ("logs", "other")]
    assert 422 == client.post("/drafts", data={"sample": path, "name": "draft"}).status_code
    pages = ("/", "/designs/logs.toml", "/designs/logs.toml/create", "/tables/other/load")
    assert [] == [one for one in pages if CANARY in client.get(one).text]
    portal.tasks.close()
