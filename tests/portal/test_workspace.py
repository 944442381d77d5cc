from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import IS_LONG
from portal.portals import LOGS, OWN_PAGE, build_portal, digest_files, open_client, send_raw
from portal.test_sessions import write_users
from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.errors import Conflict, InvalidArgument, InvalidDesign
from rowkey.portal.designs.workspace import DesignFile, DesignFileMissing, Workspace

CANARY = "canary-7f3a"
STEPS_UP = [
    "..",
    "../..",
    "....//",
    ".\\..",
    "..;",
    "%2e%2e",
    "%252e%252e",
    "．．",
    "..%c0%af",
    "~",
]
TARGETS = ["secret.toml", "etc/passwd", "secret.toml\0.toml"]
TRAVERSALS = [
    *(
        f"{step}{separator}{target}"
        for step in STEPS_UP
        for separator in ("/", "\\", "%2f")
        for target in TARGETS[:2]
    ),
    *(f"../{target}" for target in TARGETS),
    "/etc/passwd",
    "//etc/passwd",
    "C:\\secret.toml",
    "C:secret.toml",
    "\\\\host\\share\\secret.toml",
    "link.toml",
    "folder",
    "folder.toml",
    "folder.toml/inner.toml",
    "pipe.toml",
    "logs.toml\0",
    "logs.toml/",
    "./logs.toml",
    "logs.toml::$DATA",
    "",
    ".",
    "..",
    ".toml",
    ".hidden.toml",
    "rowkey.toml",
    "pyproject.toml",
    "other.toml",
    "\u202etoml.sgol.toml",
    "a" * 300 + ".toml",
    "logs.TOML",
    "-rf.toml",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of designs with canaries around it, and links to them in it."""
    designs = tmp_path / "designs"
    designs.mkdir()
    (tmp_path / "secret.toml").write_text(f'table = "{CANARY}"', "utf-8")
    (designs / "link.toml").symlink_to(tmp_path / "secret.toml")
    for inner in ("folder", "folder.toml"):
        (designs / inner).mkdir()
        (designs / inner / "inner.toml").write_text(f'table = "{CANARY}"', "utf-8")
    os.mkfifo(designs / "pipe.toml")
    for name, text in {
        ".hidden.toml": f'table = "{CANARY}"',
        "rowkey.toml": f'on = "{CANARY}"',
        "pyproject.toml": f'[project]\nname = "{CANARY}"',
        "other.toml": f'[server]\npassword = "{CANARY}"',
    }.items():
        (designs / name).write_text(text, "utf-8")
    return designs


def test_no_file_name_reads_or_writes_outside_of_the_folder(folder: Path) -> None:
    """No string in the place of a name reads or writes a byte of another file."""
    app = build_portal(folder.parent)
    cookie = dict(open_client(app).cookies)
    headers = [
        ("host", "127.0.0.1:8765"),
        ("cookie", "; ".join(f"{name}={value}" for name, value in cookie.items())),
        ("content-type", "application/x-www-form-urlencoded"),
        *OWN_PAGE.items(),
    ]
    before = digest_files(folder.parent)
    assert len(TRAVERSALS) >= 60
    routes = [one for one in app.state.portal_routes if "{" in one.path]
    for number, name in enumerate(sorted({*TRAVERSALS, *map(unquote, TRAVERSALS)})):
        # `make test` tries each string with an eighth of the routes, in turn.
        for route in routes if IS_LONG else routes[number % 8 :: 8]:
            path = route.path.replace("{name}", name)
            body = b"text=table&typed_name=" + name.encode("utf-8", "surrogatepass")
            response = send_raw(app, route.method, path, headers, body)
            assert CANARY not in response.body.decode(), (route.method, path)
            assert b"root:" not in response.body
            assert response.status in (307, 404, 405, 409, 422), (route.method, path)
    assert before == digest_files(folder.parent)
    listing = open_client(app).get("/").text
    assert CANARY not in listing


@pytest.mark.parametrize("name", TRAVERSALS)
def test_no_file_name_creates_anything_but_a_design_in_the_folder(folder: Path, name: str) -> None:
    """No name creates, replaces or removes anything but a plain design file of the folder."""
    workspace = Workspace(folder)
    before = digest_files(folder.parent)
    for change in (
        lambda: workspace.write(name, "x", None),
        lambda: workspace.write(name, "x", "0" * 32),
        lambda: workspace.remove(name, "0" * 32),
    ):
        with pytest.raises((InvalidArgument, Conflict)):
            change()
    assert before == digest_files(folder.parent)
    assert [] == list(folder.glob(".*.part"))


@pytest.mark.parametrize(
    "path", ["../secret.toml", "link.toml", "folder/inner.toml", "none.toml", "/etc/passwd"]
)
def test_companions_of_other_folders_are_not_read(folder: Path, path: str) -> None:
    """A design cannot make the portal read a file outside as the design of a companion."""
    workspace = Workspace(folder)
    file = workspace.write("main.toml", f'{LOGS}\n[companions]\nother = "{path}"\n', None)
    with pytest.raises(InvalidDesign) as refusal:
        workspace.read_design(file)
    (mistake,) = refusal.value.mistakes
    assert ("companions.other", True) == (mistake.path, "no design file" in mistake.problem)
    assert CANARY not in str(refusal.value)


def test_a_companion_of_the_folder_is_read(folder: Path) -> None:
    """A design whose companion is a design file of the folder has it."""
    workspace = Workspace(folder)
    other = LOGS.replace('"logs"', '"by_time"').replace("[host][ts]", "[ts][host]")
    workspace.write("by_time.toml", other, None)
    text = f'{LOGS}\n[companions]\nby_time = "by_time.toml"\n'
    design = workspace.read_design(workspace.write("main.toml", text, None))
    assert ["by_time"] == list(design.companions)


@pytest.mark.parametrize(
    ("path", "is_read"),
    [("../secret.toml", False), ("link.csv", False), ("events.csv", True), ("in/a.csv", True)],
)
def test_a_design_reads_only_a_sample_of_the_folder(
    folder: Path, path: str, *, is_read: bool
) -> None:
    """No use of a design reads another file, also where the sample is not given again."""
    (folder / "in").mkdir()
    for name in ("events.csv", "in/a.csv"):
        (folder / name).write_text("host,ts,note\n", "utf-8")
    (folder / "link.csv").symlink_to(folder / "events.csv")
    workspace = Workspace(folder)
    workspace.write("by_host.toml", LOGS.replace('"logs"', '"other"').replace("16", "8"), None)
    for more in ("", '[companions]\nother = "by_host.toml"\n'):
        text = f'{LOGS}\n[sample]\npath = "{path}"\n{more}'
        design = workspace.read_design(DesignFile("a.toml", text.encode()))
        assert (folder / path if is_read else None) == design.sample_path
        assert is_read == (JudgedDesign(design).recording is not None)


@pytest.mark.parametrize(
    "path", ["users", "key", "state/audit", ".git/config", ".env", "rowkey.toml", "in/../users"]
)
def test_files_with_secrets_cannot_be_used_as_a_sample(folder: Path, path: str) -> None:
    """A design cannot show users, keys, hidden files and settings as events."""
    (folder / "state").mkdir()
    (folder / ".git").mkdir()
    for name in ("key", "state/audit", ".git/config", ".env", "events"):
        (folder / name).write_text(CANARY, "utf-8")
    app = build_portal(
        folder.parent,
        users_file=write_users(folder).rename(folder / "users"),
        certificate_file=folder / "events",
        key_file=folder / "key",
        state_folder=folder / "state",
    )
    found = [
        app.state.portal.workspace.find_sample(
            Design.loads(f'{LOGS}\n[sample]\npath = "{one}"\nformat = {{ kind = "log" }}\n')
        )
        for one in (path, "events")
    ]
    assert [None, folder / "events"] == found


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)


@given(st.sampled_from(["\n", "\r\n"]), st.sampled_from([b"", b"\xef\xbb\xbf"]), TEXTS, TEXTS)
def test_an_edited_text_keeps_the_line_ends_and_mark_of_its_file(
    line_end: str, mark: bytes, before: str, after: str
) -> None:
    """A text that comes back from a browser has the line ends and the mark of its file."""
    before = before.removeprefix("\ufeff")
    file = DesignFile("a.toml", mark + f"{before}\n".replace("\n", line_end).encode())
    assert file.content == file.encode_text(file.text.replace("\n", "\r\n"))
    edited = DesignFile("a.toml", file.encode_text(after))
    assert edited.content.startswith(mark)
    assert after.replace("\n", line_end).encode() == edited.content.removeprefix(mark)


def test_a_save_does_not_replace_a_file_that_changed_since_it_was_read(folder: Path) -> None:
    """A file that has changed since it was read is not replaced, nor a new one over another."""
    workspace = Workspace(folder)
    first = workspace.write("a.toml", "key = 1", None)
    second = workspace.write("a.toml", "key = 2", first.etag)
    for etag in (first.etag, None, "", "0" * 32):
        with pytest.raises(Conflict):
            workspace.write("a.toml", "key = 3", etag)
    with pytest.raises(Conflict):
        workspace.remove("a.toml", first.etag)
    assert second == workspace.read("a.toml")
    workspace.remove("a.toml", second.etag)
    with pytest.raises(DesignFileMissing):
        workspace.read("a.toml")
    with pytest.raises(Conflict):
        workspace.write("a.toml", "key = 3", second.etag)


def test_counters_increased_by_several_portals_lose_no_step(folder: Path) -> None:
    """Numbers that several portals count up by compare-and-write lose no step."""
    Workspace(folder).write("count.toml", "key = 0", None)

    def count_up(_: int) -> int:
        workspace, done = Workspace(folder), 0
        while done < 10:
            file = workspace.read("count.toml")
            number = int(file.text.removeprefix("key = "))
            with suppress(Conflict):
                workspace.write("count.toml", f"key = {number + 1}", file.etag)
                done += 1
        return done

    with ThreadPoolExecutor(4) as pool:
        assert 40 == sum(pool.map(count_up, range(4)))
    assert "key = 40" == Workspace(folder).read("count.toml").text


def test_a_saved_file_keeps_its_permissions(folder: Path) -> None:
    """A file that only its owner may read stays so."""
    workspace = Workspace(folder)
    file = workspace.write("a.toml", "key = 1", None)
    (folder / "a.toml").chmod(0o600)
    workspace.write("a.toml", "key = 2", file.etag)
    assert 0o600 == (folder / "a.toml").stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("content", "is_editable"),
    [
        (b'table = "logs"\n', True),
        ("# 中文\u3000注释 ✓\n".encode(), True),
        (b"\xef\xbb\xbfkey = 1\r\n\t", True),
        (b"\xff", False),
        (b"a\0b", False),
        ("# \u202egnol".encode(), False),
        ("# \u200b".encode(), False),
        (b"a\x1b[2J", False),
    ],
)
def test_a_text_with_hidden_characters_is_not_edited(content: bytes, is_editable: bool) -> None:
    """A file is editable only if a text area shows all of its characters."""
    assert is_editable == DesignFile("a.toml", content).is_editable


def test_a_text_with_hidden_characters_is_not_saved(folder: Path) -> None:
    """A text with a hidden character is not saved, and a file that has some is left as it is."""
    workspace = Workspace(folder)
    file = workspace.write("a.toml", "key = 1", None)
    with pytest.raises(InvalidArgument, match=r"line 2 has the character U\+202E"):
        workspace.write("a.toml", "key = 2\n# \u202egnol", file.etag)
    for content in (b"key = \xff", "# \u200b".encode()):
        (folder / "a.toml").write_bytes(content)
        with pytest.raises(InvalidArgument, match=r"Edit it outside of the portal\."):
            workspace.write("a.toml", "key = 3", DesignFile("a.toml", content).etag)
        assert content == (folder / "a.toml").read_bytes()


def test_a_text_larger_than_a_design_is_neither_saved_nor_read(folder: Path) -> None:
    """More bytes than a design may have are not saved, and not read."""
    with pytest.raises(InvalidArgument, match="are too many"):
        Workspace(folder).write("a.toml", "#" * (1 << 18) + "a", None)
    (folder / "a.toml").write_text("#" * (1 << 18) + "a", "utf-8")
    with pytest.raises(InvalidDesign, match="262,145 bytes, more than 262,144"):
        Workspace(folder).read("a.toml")
    assert 422 == open_client(build_portal(folder.parent)).get("/designs/a.toml").status_code


def test_very_deep_toml_is_listed_as_a_broken_design(folder: Path) -> None:
    """Very deep and very long TOML is listed as a broken design."""
    texts = ["[" * 100_000, "a." * 100_000 + "a = 1", "a = " + "[" * 50_000, "a = " + "9" * 200_000]
    for number, text in enumerate(texts):
        (folder / f"h{number}.toml").write_text(text, "utf-8")
    client = open_client(build_portal(folder.parent))
    page = client.get("/").text
    assert [True] * 4 == [f"h{number}.toml" in page for number in range(4)]
