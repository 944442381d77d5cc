import pytest

from rowkey.schema import FieldRef, find_name_mistake

QUOTED = {"host": False, "größe_1": False, "時刻": False, "log-event": True, "1st": True,
          "_x": True, "a b": True, "it's": True, "²": True}  # fmt: skip


@pytest.mark.parametrize("name", QUOTED)
def test_only_names_with_other_characters_than_letters_and_digits_need_quotes(name: str) -> None:
    expected = f'"{name}"' if QUOTED[name] else name
    assert expected == str(FieldRef(name))


WRONG = {"": "at least one character", "a" * 201: "at most 200", 'a"b': "print", "a\\b": "print",
         "a\x00": "print", "\ud800": "print", "\u200d": "print", "e\u0301": "composed"}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_name_with_quotes_or_control_characters_is_refused(name: str) -> None:
    """Names with quotes, backslashes or control characters, or ambiguous ones, are refused."""
    mistake = find_name_mistake(name)
    assert mistake is not None
    assert WRONG[name] in mistake.expected
    assert str(mistake).isprintable()


def test_a_decomposed_name_is_refused_with_its_composed_form() -> None:
    """The remedy for a decomposed name is its composed form, to be pasted."""
    mistake = find_name_mistake("e\u0301")
    assert mistake is not None
    assert mistake.remedy == "Write \u00e9."
