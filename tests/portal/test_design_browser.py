"""The editor of designs in a real browser: findings, suggestions, saving, and what is not lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chromium import list_violations
from portal.browser.servers import serve_portal
from portal.portals import LOGS
from portal.test_screens import OTHER_KEY
from rowkey.portal import PortalSettings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the portal's design files."""
    return tmp_path_factory.mktemp("designs")


@pytest.fixture(scope="module")
def context(folder: Path, browser: Any) -> Iterator[Any]:
    """A browser that is logged in to a portal of its own."""
    with serve_portal(PortalSettings(folder)) as portal:
        context = browser.new_context(base_url=portal.origin)
        page = context.new_page()
        page.goto(portal.create_login_url())
        page.close()
        yield context
        context.close()


@contextmanager
def open_editor(context: Any, folder: Path, text: str = LOGS) -> Iterator[Any]:
    """Yield the page of a design file, and check that its scripts fail nowhere."""
    (folder / "logs.toml").write_text(text, "utf-8")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda one: problems.append(one.text) if one.type == "error" else None)
    with page.expect_response("**/completions"):
        page.goto("/designs/logs.toml")
    page.wait_for_selector("textarea[aria-autocomplete]")
    yield page
    page.evaluate("localStorage.clear()")
    page.close()
    assert [] == [one for one in problems if "409" not in one]


def put_caret(page: Any, after: str) -> None:
    """Put the caret behind the first occurrence of a text."""
    page.evaluate(
        """(after) => {
          const area = document.getElementById("text");
          const at = area.value.indexOf(after) + after.length;
          area.focus();
          area.setSelectionRange(at, at);
        }""",
        after,
    )


def list_suggestions(page: Any) -> list[str]:
    """Return the suggestions that are shown."""
    texts: list[str] = page.locator("#completions:not([hidden]) li code").all_inner_texts()
    return texts


def try_to_leave(page: Any) -> list[str]:
    """Assert that a page asks before it is left, and stay; return all that it asks from now on."""
    dialogs: list[str] = []

    def stay(dialog: Any) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    with page.expect_event("dialog"):
        page.evaluate("location.assign('/')")
    assert ["beforeunload"] == dialogs
    return dialogs


def test_findings_are_updated_while_a_design_is_typed(context: Any, folder: Path) -> None:
    """A mistake shows while it is typed, its line is a link into the text, and it goes again."""
    with open_editor(context, folder) as page:
        put_caret(page, "[bucket(host, 16)][host")
        page.keyboard.type("x")
        mistake = page.locator("#findings .chip.error").first
        mistake.wait_for()
        page.locator('#findings a[href="#L2"]').first.click()
        line = page.evaluate("getSelection().toString()")
        assert 'key   = "[bucket(host, 16)][hostx][ts]"' == line
        put_caret(page, "[hostx")
        page.keyboard.press("Backspace")
        mistake.wait_for(state="detached")
        page.locator("#key .boxes").wait_for()
        assert LOGS == (folder / "logs.toml").read_text("utf-8")


def test_suggestions_in_the_editor_are_chosen_by_keyboard(context: Any, folder: Path) -> None:
    """Options, values, tables, fields and functions are suggested where they can be written."""
    with open_editor(context, folder) as page:
        for after, typed, expected, text in (
            ('note = "text"\n', "\n[families.d]\ncompre", "compression", "compression = "),
            ("compression = ", '"sn', '"SNAPPY"', 'compression = "SNAPPY"'),
            ('"SNAPPY"', "\n[wri", "[writes]", "\n[writes]"),
            ("[host][ts", "][de", "desc(", "[host][ts][desc("),
            ("[desc(", "no", "note", "[desc(note"),
            ('order = "ts desc"', "\nlim", "limit", "\nlimit = "),
            ("host = { type = ", '"i', '"i16"', None),
        ):
            put_caret(page, after)
            page.keyboard.type(typed)
            page.locator("#completions li").first.wait_for()
            assert expected in list_suggestions(page), typed
            for _ in range(1 + list_suggestions(page).index(expected)):
                page.keyboard.press("ArrowDown")
            if text is not None:
                page.keyboard.press("Enter")
                assert text in page.locator("#text").input_value()
                assert [] == list_suggestions(page)
        marked = page.locator("#text").get_attribute("aria-activedescendant")
        assert expected == page.locator(f"#{marked} code").inner_text()
        page.keyboard.press("Escape")
        assert ([], '"i"text"') == (
            list_suggestions(page),
            page.locator("#text").input_value().split("type = ")[1].split(",")[0],
        )
        page.keyboard.press("Control+Space")
        assert list_suggestions(page)


def test_narrow_design_pages_are_accessible_and_do_not_overflow(context: Any, folder: Path) -> None:
    """Axe finds nothing on narrow pages, also while suggestions are shown; nothing overflows."""
    with open_editor(context, folder) as page:
        page.set_viewport_size({"width": 360, "height": 800})
        put_caret(page, 'order = "ts desc"\n')
        page.keyboard.press("Control+Space")
        page.locator('#completions [aria-selected="true"]').wait_for()
        for path in ("", "/drafts", "/advice"):
            if path:
                page.goto(path)
            assert [] == list_violations(page)
            assert 360 >= page.evaluate("document.documentElement.scrollWidth")


def test_ctrl_s_saves_and_leaving_with_changes_asks_first(context: Any, folder: Path) -> None:
    """Ctrl+S saves; leaving the page with changes asks first, and without them does not."""
    with open_editor(context, folder) as page:
        put_caret(page, 'note = "text"')
        page.keyboard.type("\n# typed")
        dialogs = try_to_leave(page)
        with page.expect_navigation(url="**/designs/logs.toml?saved"):
            page.keyboard.press("Control+s")
        assert "\n# typed\n" in (folder / "logs.toml").read_text("utf-8")
        page.goto("/")
        assert ["beforeunload"] == dialogs


def test_a_typed_text_is_kept_if_the_file_has_changed_meanwhile(context: Any, folder: Path) -> None:
    """If the file has changed meanwhile, the typed text stays with its diff, until it is saved."""
    with open_editor(context, folder) as page:
        put_caret(page, 'note = "text"')
        page.keyboard.type("\n# typed")
        (folder / "logs.toml").write_text(OTHER_KEY, "utf-8")
        with page.expect_navigation():
            page.keyboard.press("Control+s")
        assert OTHER_KEY == (folder / "logs.toml").read_text("utf-8")
        assert "\n# typed\n" in page.locator("#text").input_value()
        diff = page.locator('[role="alert"] .diff').inner_text()
        assert [True, True] == [one in diff for one in ("+ # typed", '− key   = "[ts][host]"')]
        page.locator("#text").press("End")
        try_to_leave(page)  # the text is in no file
        page.locator("#text").press("Control+s")
        page.wait_for_url("**/designs/logs.toml?saved")
        assert "\n# typed\n" in (folder / "logs.toml").read_text("utf-8")
