"""How drafts treat unreadable times, measures, texts and personal data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from advise.test_draft import check_draft, list_warnings, write_sample
from example_counts import cover_each
from rowkey.advise import draft_design
from rowkey.errors import SampleError

if TYPE_CHECKING:
    from rowkey.advise import Draft

START = datetime(2024, 3, 4, 8, tzinfo=UTC)


def format_key(draft: Draft) -> str:
    """Return the key of a draft in bracket notation."""
    return draft.design.declaration.key


def join_sentences(draft: Draft) -> str:
    """Return the text of a draft with each sentence on one line."""
    return draft.text.replace("\n#   ", " ")


@pytest.mark.parametrize(
    ("shown", "layout", "kind"),
    [
        (lambda at: f"{at.timestamp() + 0.25:.2f}", "epoch_s", "timestamp_ms"),
        (lambda at: f"{at.timestamp() + 0.250007:.6f}", "epoch_s", "timestamp_us"),
        (lambda at: f"{at:%Y/%m/%d %H:%M:%S}", "%Y/%m/%d %H:%M:%S", "timestamp_s"),
        (lambda at: f"{at:%d/%b/%Y:%H:%M:%S +0000}", "%d/%b/%Y:%H:%M:%S %z", "timestamp_s"),
        (lambda at: f"{at:%d.%m.%Y %H:%M}", "%d.%m.%Y %H:%M", "timestamp_s"),
        (lambda at: f"{at:%Y年%m月%d日 %H:%M:%S}", "%Y年%m月%d日 %H:%M:%S", "timestamp_s"),
        (format_datetime, "%a, %d %b %Y %H:%M:%S %z", "timestamp_s"),
    ],
)
def test_the_layout_of_written_times_is_detected_and_declared(
    shown: Callable[[datetime], str], layout: str, kind: str, tmp_path: Path
) -> None:
    """The layout of a time is detected, told and declared, and the time is part of the key."""
    moments = [START + timedelta(seconds=7 * n) for n in range(2_000)]
    rows = [[shown(at), f"d{n * 7919 % 300}", f"{n % 90}.5"] for n, at in enumerate(moments)]
    draft = draft_design(write_sample(tmp_path, ("time", "device", "temp_c"), rows))
    assert "[bucket(device, 16)][device][desc(time)]" == format_key(draft)
    assert {"kind": "csv", "times": {"time": layout}} == draft.design.sample_format
    assert kind == draft.design.fields["time"].type.name
    zone = " in UTC" if "%" in layout and "%z" not in layout else ""
    said = f"the times of time are read as {layout}{zone}, such as {shown(moments[0])}"
    assert (said,) == tuple(map(str, draft.assumptions))
    assert () == draft.missing_data


def test_an_ambiguous_order_of_day_and_month_is_refused_with_both_layouts(tmp_path: Path) -> None:
    """Days up to 12 are refused with both layouts, and each of them works."""
    rows = [[f"{START + timedelta(seconds=n):%m/%d/%Y %H:%M:%S}", f"d{n % 90}"] for n in range(900)]
    path = write_sample(tmp_path, ("time", "device"), rows)
    with pytest.raises(SampleError, match="the order of day and month is not certain") as caught:
        draft_design(path)
    for layout, month in (("%d/%m/%Y %H:%M:%S", "04-03"), ("%m/%d/%Y %H:%M:%S", "03-04")):
        options = {"kind": "csv", "times": {"time": layout}}
        assert f"""times = {{ time = "{layout}" }} }}'""" in str(caught.value)
        assert f"2024-{month}T08:00:00Z to" in draft_design(path, format_options=options).text
    rows.append(["03/13/2024 00:00:00", "d1"])
    draft = draft_design(write_sample(tmp_path, ("time", "device"), rows))
    assert "03/13/2024 00:00:00 fits no other order" in draft.text


def test_the_layout_suggested_for_a_column_name_with_a_blank_can_be_pasted(
    tmp_path: Path,
) -> None:
    """What a warning says to declare of the times of a column can be pasted."""
    path = write_sample(tmp_path, ("Start time", "device"), SERIALS)
    assert 'such as times = { "Start time" = "%d' in join_sentences(draft_design(path))


SERIALS = [[f"{45_355 + n / 86_400:.6f}", f"d{n % 90}"] for n in range(900)]


def test_spreadsheet_day_numbers_are_in_no_key_and_the_draft_says_how_to_read_them(
    tmp_path: Path,
) -> None:
    """Days of a spreadsheet are in no key, and the draft says which option reads them."""
    path = write_sample(tmp_path, ("time", "device"), SERIALS)
    draft = draft_design(path)
    assert "[bucket(device, 16)][device]" == format_key(draft)
    assert "The column 'time' looks like a time (45355.000000)" in join_sentences(draft)
    assert "The key has no time yet: once time can be read as a time" in join_sentences(draft)
    assert ", rises" not in draft.text
    assert "no column is the time" not in draft.text
    assert "latest of one" not in draft.text
    assert ["The column 'time' looks like a time"] == [one[:35] for one in draft.missing_data]
    assert "810 rows of the sample overwrite another row until then" in join_sentences(draft)
    [warned] = list_warnings(draft, path)
    assert "overwritten-rows" in warned
    options = {"kind": "csv", "times": {"time": "excel"}}
    read = draft_design(path, format_options=options)
    assert "[bucket(device, 16)][device][desc(time)]" == format_key(read)
    assert "2024-03-04T00:00:00.000Z to 2024-03-04T00:14" in read.text


def test_seconds_in_a_float_column_named_as_a_time_are_read_as_times(tmp_path: Path) -> None:
    """A float64 column with seconds since 1970 is read as such if its name is that of a time."""
    path = tmp_path / "events.parquet"
    times = [1_709_539_200.75 + 7 * n for n in range(900)]
    hosts = [f"h{n % 90}" for n in range(900)]
    parquet.write_table(pa.table({"ts": times, "host": hosts, "load": times}), path)
    draft = draft_design(path)
    assert "[bucket(host, 16)][host][desc(ts)]" == format_key(draft)
    assert {"kind": "parquet", "times": {"ts": "epoch_s"}} == draft.design.sample_format
    assert "2024-03-04T08:00:00.750Z to" in draft.text


@pytest.mark.parametrize("values", [["1.5", "2.25"], ["1709539200.5", "12.5"], ["web-1", "web-2"]])
def test_values_that_only_sometimes_look_like_times_are_not_reported_as_times(
    values: list[str], tmp_path: Path
) -> None:
    rows = [[values[n % 2], f"h{n}"] for n in range(200)]
    assert () == draft_design(write_sample(tmp_path, ("time", "host"), rows)).missing_data


def test_a_measured_value_is_never_part_of_a_drafted_key(tmp_path: Path) -> None:
    """A measured value is never in the key, and rows that differ only in it are allowed once."""
    rows = [
        [
            f"car-{n * 7919 % 200}",
            str(START + timedelta(seconds=n // 100)),
            str(50_000 + n),
            f"{n}.5",
        ]
        for n in range(4_000)
    ]
    rows += [[car, at, str(int(far) + 1), speed] for car, at, far, speed in rows[:40]]
    path = write_sample(tmp_path, ("车牌号", "采集时间", "里程", "速度"), rows)
    draft = draft_design(path)
    assert {"车牌号", "采集时间"} == {one for part in draft.design.key.parts for one in part.fields}
    assert "40 rows of the sample differ only in measured values from" in join_sentences(draft)
    assert 1 == draft.text.count("rowkey: allow")
    check_draft(draft, path)


def test_rows_distinguished_only_by_measures_get_one_allow_comment(tmp_path: Path) -> None:
    """If only measured values distinguish rows, the file says so in one comment."""
    rows = [[f"{n}.25", f"{n * 7919 % 3_001}.5"] for n in range(3_000)]
    path = write_sample(
        tmp_path, ("temp_c", "pressure"), [[*row] for row in rows] + [["1.25", "9.5"]]
    )
    draft = draft_design(path)
    lines = [one for one in draft.text.split("\n") if one.startswith("# rowkey: allow")]
    assert len(set(lines)) == len(lines) > 0


def test_the_key_for_a_file_of_users_begins_with_the_user_id(tmp_path: Path) -> None:
    """The key of a file of users begins with the user's id and not with the country."""
    rows = [
        [
            str(n + 1),
            f"user{n}@mail.com",
            ("CN", "DE", "US")[n % 3],
            f"{START - timedelta(n % 900):%F}",
        ]
        for n in range(3_000)
    ]
    path = write_sample(tmp_path, ("user_id", "email", "country", "created"), rows)
    draft = draft_design(path)
    assert "[bucket(user_id, 16)][user_id]" == format_key(draft)
    assert '# where = "user_id = ?"' in draft.text
    check_draft(draft, path)


def test_a_phone_number_is_not_in_the_key_if_an_order_number_distinguishes_rows(
    tmp_path: Path,
) -> None:
    """A phone number is in neither the key nor its advice if an order number distinguishes rows."""
    rows = [
        [str(13_000_000_000 + n * 7919), f"u{n * 7919 % 1_000}", f"{n % 7}", str(77_000 + n)]
        for n in range(3_000)
    ]
    path = write_sample(tmp_path, ("手机号", "用户编号", "数量", "订单号"), rows)
    draft = draft_design(path)
    assert "[bucket(用户编号, 16)][用户编号][订单号]" == format_key(draft)
    assert "手机号 never repeats" not in draft.text
    check_draft(draft, path)


def test_a_message_is_in_the_key_only_as_a_digest(tmp_path: Path) -> None:
    """A message is in the key only as an 8-byte digest, which separates rows of the same time."""
    rows = [
        [
            str(START + timedelta(seconds=n // 3)),
            f"Logger{n * 7919 % 11 % 10}",
            f"did {n * 31 % 7_001}",
        ]
        for n in range(4_000)
    ]
    path = write_sample(tmp_path, ("Date", "Logger", "Message"), rows)
    draft = draft_design(path)
    assert "[bucket(Logger, 16)][Logger][desc(Date)][digest(Message, 8)]" == format_key(draft)
    check_draft(draft, path)


def test_a_wider_bucket_is_explained_by_the_finding_that_refused_the_first_key(
    tmp_path: Path,
) -> None:
    """The reason given for a wider bucket is the finding that refused the first key."""
    rows = [
        [
            str(START + timedelta(microseconds=120 * n)),
            f"c{n * n % 11 % 10}",
            f"/p/{n * 7919 % 3_001}",
        ]
        for n in range(1, 4_000)
    ]
    path = write_sample(tmp_path, ("time", "customer", "path"), rows)
    draft = draft_design(path)
    assert draft.rejected_keys
    [(_, why)] = draft.rejected_keys
    assert f"rejected ({why.rstrip('.')})" in " ".join(draft.text.replace("#", "").split())
    assert "too much for a server" not in draft.text
    check_draft(draft, path)


def test_the_key_for_chat_messages_begins_with_the_room(tmp_path: Path) -> None:
    """The key of a chat begins with the room, although there are more authors."""
    rows = [
        [str(START + timedelta(seconds=n)), f"r{n * 31 % 83}", f"a{n * 7919 % 1_201}", f"hello {n}"]
        for n in range(4_000)
    ]
    path = write_sample(tmp_path, ("sent_at", "room", "author", "text"), rows)
    draft = draft_design(path)
    assert "[bucket(room, 16)][room][desc(sent_at)]" == format_key(draft)
    check_draft(draft, path)


def test_a_rising_counter_is_not_taken_for_an_entity(tmp_path: Path) -> None:
    """A number that only rises counts something, so no rows belong to one of its values."""
    rows = [
        [str(START + timedelta(seconds=10 * n)), str(n * 7 % 40), str(n * 3), str(n // 4)]
        for n in range(2_000)
    ]
    path = write_sample(tmp_path, ("time", "active", "accepts", "ssl_handshakes"), rows)
    draft = draft_design(path)
    assert "ssl_handshakes" not in format_key(draft)
    check_draft(draft, path)


def test_the_year_rather_than_a_count_distinguishes_rows_without_a_time(tmp_path: Path) -> None:
    """Of two columns that do, the one that stands for the time is taken, not a count."""
    rows = [
        [f"country {n % 211}", f"{1_950 + n // 211}", f"{1_000_003 * n % 7_777_777}"]
        for n in range(10 * 211)
    ]
    draft = draft_design(write_sample(tmp_path, ("country", "year", "people"), rows))
    assert {"country", "year"} == {*draft.design.key.fields}


def test_a_calculated_fraction_is_a_number_and_in_no_key(tmp_path: Path) -> None:
    """Sixteen printed digits are of a number that programs calculate with, and in no key."""
    values = [f".{5 * 10**15 + n * 2_718_281_828_459 % (4 * 10**15)}" for n in range(1_500)]
    rows = [[f"player {n // 5}", f"game {n % 5}", value] for n, value in enumerate(values)]
    draft = draft_design(write_sample(tmp_path, ("player", "game", "rating"), rows))
    assert "float64" == draft.design.fields["rating"].type.name
    assert {"player", "game"} == {*draft.design.key.fields}


@pytest.mark.parametrize(
    ("day", "clock", "names"),
    cover_each(
        ["%Y%m%d", "%y%m%d", "%Y-%m-%d", "%d/%m/%Y"],
        ["%H%M%S", "%H:%M:%S", "%H:%M"],
        [("call_date", "call_time"), ("Date", "Time"), ("日期", "时间")],
        rounds=2,
    ),
)
def test_a_date_column_and_a_time_of_day_column_are_joined_to_one_time(
    names: tuple[str, str], day: str, clock: str, tmp_path: Path
) -> None:
    """Two columns of digits are joined as written ones are, and the time is in the key."""
    moments = [START + timedelta(minutes=61 * n) for n in range(1_200)]
    rows = [[f"u{n * 7 % 190}", f"{at:{day}}", f"{at:{clock}}"] for n, at in enumerate(moments)]
    draft = draft_design(write_sample(tmp_path, ("user", *names), rows))
    assert "[bucket(user, 16)][user][desc(timestamp)]" == format_key(draft)
    assert draft.design.sample_format is not None
    assert {"timestamp": [*names]} == draft.design.sample_format["join"]
    assert "2024-03-04T08:00" in draft.text
