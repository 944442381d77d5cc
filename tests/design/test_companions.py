"""Companions are checked when their main design is read, all mistakes at once."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from rowkey import Design, InvalidDesign
from rowkey.design import find_companion_obstacle

FIELDS = """
[fields]
user   = "text"
at     = "timestamp_s"
number = "u64"
note   = { type = "text", nullable = true }
"""
COMPANION = f'table = "other"\nkey = "[number][user][at]"\n{FIELDS}'


def write_pair(
    folder: Path, companion: str = COMPANION, *, key: str = "[user][at][number]", more: str = ""
) -> Path:
    """Write a main design with one companion; return the path of the main one."""
    main = folder / "main.toml"
    head = f'table = "main"\nkey = "{key}"\ncompanions = {{ other = "other.toml" }}\n{more}'
    main.write_text(head + FIELDS, encoding="utf-8")
    (folder / "other.toml").write_text(companion, encoding="utf-8")
    return main


def find_mistakes(path: Path) -> str:
    """Return the text of the mistakes of a design file."""
    with pytest.raises(InvalidDesign) as refusal:
        Design.read(path)
    return str(refusal.value)


def test_companion_designs_are_read_from_the_folder_of_the_design(tmp_path: Path) -> None:
    """The designs of companions have their names; a text without a folder reads no file."""
    path = write_pair(tmp_path)
    design = Design.read(path)
    assert ["other"] == list(design.companions)
    assert "[number][user][at]" == str(design.companions["other"].key)
    assert {} == Design.loads(path.read_text("utf-8")).companions
    for folder in (tmp_path, str(tmp_path)):
        found = Design.loads(path.read_text("utf-8"), directory=folder)
        assert ["other"] == list(found.companions)
    assert 'companions = { other = "other.toml" }' in design.dumps()
    assert design == Design.loads(design.dumps())
    assert ["other"] == list(pickle.loads(pickle.dumps(design)).companions)
    assert find_companion_obstacle(design, design.companions) is None
    salted = Design.loads(COMPANION.replace("[number]", "[salt(4)][number]"))
    for main, companion in ((design, {"other": salted}), (salted, {"main": design})):
        obstacle = find_companion_obstacle(main, companion)
        assert "other: its key has a random salt, so a row has no single row key" == obstacle


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ('"other"', '"another"', 'is of the table another; expected table = "other"'),
        ('"other"', '"main"', "it has the name of the main table; expected another name"),
        ('"u64"', '"u32"', "its field number has the type u32; expected u64"),
        (
            'note   = { type = "text", nullable = true }',
            'more   = "u8"',
            "it lacks the fields note; expected all fields of the main design, or, as an index",
        ),
        ("note   =", 'more   = "u8"\nnote   =', "it has further fields: more"),
        ("nullable = true", "max_bytes = 9", "max_bytes of its field note is 9; expected not decl"),
        ("[number][user][at]", "[number][user]", "its rows are identified by number, user"),
        ("[number]", "[salt(4)][number]", "its key has a random salt"),
        ("[user]", "[digest(user, 6)]", "its key has only a part of user"),
        (
            'user   = "text"',
            'user = { type = "text", nullable = true }',
            "nullable of its field user",
        ),
        ('table = "other"', 'table = "other"\ncatalog = "file:x"', "its catalog is file:x"),
        ("note   = {", 'note   = { qualifier = "n",', "only the companion stores note in d:n"),
        ("note   = {", 'note   = { family = "x",', "only the main design stores note in d:note"),
        ("[fields]", '[families.d]\nttl = "9d"\n[fields]', "ttl of its family d is 777600"),
        (
            'number = "u64"\nnote   = { type = "text", nullable = true }',
            'number = "u64"\n[families.x]\nttl = "9d"',
            "ttl of its family x is 777600; expected at least unlimited, as in the main design",
        ),
        ("[fields]", "[families.d]\nversions = 3\n[fields]", "versions of its family d is 3"),
        ("key =", 'companions = { x = "x.toml" }\nkey =', "it has companions itself"),
        ("key =", "key : ", "other.toml:2 is not a valid design"),
        ("[at]", "[when]", "other.toml:2 is not a valid design: key[2]"),
    ],
)
def test_a_design_that_cannot_be_a_companion_is_explained_with_the_fix(
    tmp_path: Path, old: str, new: str, mistake: str
) -> None:
    """What keeps a design from being a companion is named at its place, with the fix."""
    assert old in COMPANION
    text = find_mistakes(write_pair(tmp_path, COMPANION.replace(old, new)))
    assert f"{tmp_path / 'main.toml'}:3:16: companions.other: " in text
    assert mistake in text


@pytest.mark.parametrize(
    ("key", "mistake"),
    [
        ("[salt(4)][user][at][number]", "its key has a random salt"),
        ("[truncate(user, 2)][at][number]", "its key has only a part of user"),
    ],
)
def test_a_design_that_cannot_have_companions_is_explained_with_the_fix(
    tmp_path: Path, key: str, mistake: str
) -> None:
    """What keeps a design from having companions is named, with the fix."""
    text = find_mistakes(write_pair(tmp_path, key=key))
    assert f"companions: the design cannot have companions: {mistake}" in text


def test_companions_are_refused_for_a_design_with_a_cell_timestamp_field(tmp_path: Path) -> None:
    """A field that is the timestamp of the cells leaves none for the order of writes."""
    fields = FIELDS.replace('"timestamp_s"', '{ type = "timestamp_ms", at = "timestamp" }')
    companion = f'table = "other"\nkey = "[number][user]"\n{fields}'
    path = write_pair(tmp_path, companion, key="[user][number]")
    path.write_text(path.read_text("utf-8").replace(FIELDS, fields), encoding="utf-8")
    text = find_mistakes(path)
    assert 2 == text.count("the field at is the cell timestamp")


@pytest.mark.parametrize(
    "file",
    ["missing.toml", "", ".", "/dev/zero", "a\\u0000b.toml", "x" * 5_000, "main.toml", "rows.csv"],
)
def test_a_companion_path_that_is_no_design_file_is_a_mistake(tmp_path: Path, file: str) -> None:
    """A path that is no design file is a mistake at its place."""
    path = write_pair(tmp_path)
    text = path.read_text("utf-8").replace("other.toml", file)
    path.write_text(text, encoding="utf-8")
    assert ":3:16: companions.other: " in find_mistakes(path)


@pytest.mark.parametrize(
    ("declared", "mistake"),
    [
        ('"other.toml"', "companions"),
        ("{ other = 3 }", "companions.other"),
        ('{ other = { file = "other.toml" } }', "companions.other"),
        ("{ " + ", ".join(f't{n} = "t.toml"' for n in range(9)) + " }", "companions"),
        ('["other.toml"]', "companions"),
    ],
)
def test_companions_of_a_wrong_toml_type_or_too_many_are_mistakes(
    tmp_path: Path, declared: str, mistake: str
) -> None:
    """Values of other types, and too many companions, are mistakes."""
    path = write_pair(tmp_path)
    text = path.read_text("utf-8").replace('{ other = "other.toml" }', declared)
    path.write_text(text, encoding="utf-8")
    assert f": {mistake}" in find_mistakes(path)


def test_mistakes_of_a_main_design_and_its_companions_are_reported_together(tmp_path: Path) -> None:
    path = write_pair(tmp_path, COMPANION.replace("u64", "u8").replace('"other"', '"x"'))
    text = path.read_text("utf-8").replace('"other.toml" }', '"other.toml", b = "b.toml" }')
    path.write_text(text.replace("note ", "nota : "), encoding="utf-8")
    assert "TOML" in find_mistakes(path) or "=" in find_mistakes(path)
    path.write_text(f'{text}[writes]\ntime = "when"\n', encoding="utf-8")
    found = find_mistakes(path)
    for mistake in (
        "companions.other: the design file is of the table x",
        "companions.other: its field number has the type u8",
        "companions.b: b.toml: ",
        "writes.time: ",
    ):
        assert mistake in found
