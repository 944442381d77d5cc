"""Text of files and tables that tries to become a part of the page."""

from __future__ import annotations

import json
import unicodedata
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import quote

from example_counts import IS_LONG
from portal.portals import build_portal, open_client
from rowkey.portal.tables.overview import list_tables

PAYLOADS = (
    "<script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    '"onerror="alert(1)',
    "'onerror='alert(1)",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "${7*7}",
    "<!--",
    "-->",
    "]]>",
    "&lt;script&gt;",
    "&#x3c;script&#x3e;",
    "\u202egnol",
    "\u2066x\u2069",
    "\u200b",
    "\x7f",
    "<a href=//evil.example>",
    "<style>*{display:none}</style>",
    "<base href=//evil.example>",
    "<iframe srcdoc=x>",
    "<meta http-equiv=refresh content=0>",
)
FRAMES = ("{}", "a{}", "{}b", "'{}", "{} {}", "<{}", "{}>", "日{}志")
HOSTILE = [frame.format(payload, payload) for frame, payload in product(FRAMES, PAYLOADS)]
SOME_HOSTILE = HOSTILE[:25] if IS_LONG else HOSTILE[3::26]
"""Each payload; in `make test` each frame, around a way to end an attribute, to begin an element or
to run a template."""
HOSTILE_GROUPS = [tuple(HOSTILE[at : at + 5]) for at in range(0, len(HOSTILE), 5)]
if not IS_LONG:
    HOSTILE_GROUPS = HOSTILE_GROUPS[::3]  # each payload, in other frames
ALLOWED_SCRIPTS = ("/static/",)
FORBIDDEN_ELEMENTS = {"iframe", "object", "embed", "base", "style", "svg", "img"}


class PageReader(HTMLParser):
    """Reads a page as a browser does: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def check_page(page: str) -> PageReader:
    """Assert that nothing on a page runs or leaves the machine, and return what it shows."""
    reader = PageReader(page)
    for tag, attributes in reader.elements:
        assert tag not in FORBIDDEN_ELEMENTS
        is_reload = str(attributes.get("content")).isdecimal()
        assert tag != "meta" or "http-equiv" not in attributes or is_reload
        assert tag != "script" or str(attributes.get("src", "")).startswith(ALLOWED_SCRIPTS)
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name != "style"
            if name in ("href", "src", "action", "formaction"):
                assert str(value).startswith(("/", "#", "?"))
                assert not str(value).startswith("//")
    hidden = {one for one in page if unicodedata.category(one) in ("Cc", "Cf")} - {"\n"}
    assert set() == hidden
    return reader


def build_design(number: int, texts: tuple[str, ...]) -> str:
    """Return a design with a text in each place that takes one."""
    quoted = [json.dumps(text) for text in texts]
    fields = [f'{one} = "text"' for one in quoted[:2]]
    values = ["'" + text.replace("'", "''") + "'" for text in texts]
    reads = [
        f"[[reads]]\nname = {quoted[at]}\nwhere = {json.dumps(f'host = {values[at]}')}"
        for at in (2, 3)
    ]
    lines = [
        f'table = "t{number}"',
        'key = "[host][level]"',
        "[fields]",
        'host = "text"',
        f'level = {{ type = "choice", of = [{", ".join(quoted)}] }}',
        *fields,
        f'note = {{ type = "text", qualifier = {quoted[4]} }}',
        *reads,
    ]
    return "\n".join(lines) + "\n"


def test_markup_in_design_values_and_comments_appears_as_text(tmp_path: Path) -> None:
    """Hostile texts in fields, values, reads and comments appear as text."""
    app = build_portal(tmp_path)
    folder, client = tmp_path / "designs", open_client(app)
    assert len(HOSTILE) >= 200
    for number, texts in enumerate(HOSTILE_GROUPS):
        design = build_design(number, texts)
        comment = "".join(one for one in " ".join(texts) if one.isprintable())
        (folder / f"t{number}.toml").write_text(f"# {comment}\n{design}", "utf-8")
        page = check_page(client.get(f"/designs/t{number}.toml").text)
        assert comment in page.text
    names = {table.name for table in list_tables(app.state.portal).rows}
    valid = names & {f"t{number}" for number in range(len(HOSTILE_GROUPS))}
    assert 4 * len(valid) >= 3 * len(HOSTILE_GROUPS)
    check_page(client.get("/").text)


def test_markup_in_refused_values_appears_as_text_in_the_message(tmp_path: Path) -> None:
    """Names and values that are refused appear as text in the messages that refuse them."""
    app = build_portal(tmp_path)
    folder, client = tmp_path / "designs", open_client(app)
    for number, texts in enumerate(HOSTILE_GROUPS):
        lines = [f"{json.dumps(one)} = {json.dumps(one)}" for one in texts]
        names = [f"key = {json.dumps(texts[0])}", f"table = {json.dumps(texts[1])}", "[fields]"]
        text = "\n".join([*names, *dict.fromkeys(lines)])
        (folder / f"t{number}.toml").write_text(text, "utf-8")
        check_page(client.get(f"/designs/t{number}.toml").text)
    check_page(client.get("/?lang=zh").text)


def test_invalid_utf_8_and_control_characters_of_a_file_are_shown_as_escapes(
    tmp_path: Path,
) -> None:
    """Invalid UTF-8, NUL and control characters of a file are shown as escapes."""
    app = build_portal(tmp_path)
    content = b'table = "a"\nkey = "\xff\x00\x1b[2J\xe2\x80\xae"\n'
    (tmp_path / "designs" / "raw.toml").write_bytes(content)
    page = check_page(open_client(app).get("/designs/raw.toml").text)
    assert r'key = "\xff\x00\x1b[2J\u202e"' in page.text


def test_a_file_name_with_markup_appears_as_text_and_links_to_the_file(tmp_path: Path) -> None:
    """A file name appears as text, and its link leads to the file."""
    app = build_portal(tmp_path)
    names = ["a'b.toml", "a&lt;b.toml", "{{x}}.toml", "a;b#c.toml", "日志 1.toml"]
    for name in names:
        (tmp_path / "designs" / name).write_text("key = <", "utf-8")
    client = open_client(app)
    page = check_page(client.get("/").text)
    for name in names:
        assert name in page.text
    links = [str(values["href"]) for tag, values in page.elements if tag == "a"]
    for link in (one for one in links if one.startswith("/designs/")):
        assert 200 == client.get(link).status_code


def test_markup_in_a_query_or_unknown_path_appears_as_text(tmp_path: Path) -> None:
    """A text of a query or a path that does not exist appears as text."""
    client = open_client(build_portal(tmp_path))
    for text in SOME_HOSTILE:
        check_page(client.get("/", params={"removed": text, "lang": text}).text)
        check_page(client.post("/designs", data={"name": text}).text)
        check_page(client.get("/designs/" + quote(text, safe="")).text)
