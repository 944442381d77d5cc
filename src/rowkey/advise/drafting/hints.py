"""What names of columns hint at, in the words that recordings use: a time, an identity, a measure.

A hint decides only between readings that the values allow.
"""

from __future__ import annotations

import re

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_APART = re.compile(r"[\W_]+")


def _words(text: str) -> frozenset[str]:
    """The words of a list of them."""
    return frozenset(text.split())


_TIME = _words(
    "time timestamp ts date datetime day when at epoch created updated occurred clock utc "
    "dt timestamps times since until start end begin"
)
_EVENT = _words("event occurred logged received arrival request")
_IDENTITY = _words(
    "id ids uid uuid guid key user username host hostname device sensor client customer "
    "account member visitor session ip address addr mac imei imsi msisdn phone server node "
    "station shop store sku product item order orderid waybill vehicle car driver plate "
    "symbol ticker asset metric tenant app service container pod camera meter tag tailnum "
    "patient card serial userid deviceid sensorid clientid customerid player page site "
    "machine instance stream"
)
_MEASURE = _words(
    "value amount price cost total sum count counts number qty quantity bytes size length "
    "len duration elapsed latency delay speed distance temp temperature humidity pressure "
    "voltage current power energy score rate ratio percent pct avg mean min max std lat lon "
    "latitude longitude balance fee tax discount weight height width level version retries "
    "attempts rssi rpm gauge reading usage load cpu mem memory visits clicks likes views"
)
_CALENDAR = _words("year month week weekday quarter hour minute second dow doy yday millisecond")
_CATEGORY = _words("status state code type kind category class method protocol flag")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case.

    >>> words_of("sched_depTime"), words_of("x-request.id")
    (('sched', 'dep', 'time'), ('x', 'request', 'id'))
    """
    return tuple(word.lower() for word in _APART.split(_HUMP.sub("_", name)) if word)


def is_like_time(name: str) -> bool:
    """Whether a name is that of a time or a date.

    >>> is_like_time("createdAt"), is_like_time("amount")
    (True, False)
    """
    return bool(_TIME & set(words_of(name))) or "时间" in name or "日期" in name


def is_like_event(name: str) -> bool:
    """Whether a time is that of the event itself, rather than of a deadline or a birth.

    >>> is_like_event("ts"), is_like_event("birth_date")
    (True, False)
    """
    words = words_of(name)
    return bool(_EVENT & set(words)) or (len(words) == 1 and bool(_TIME & set(words)))


def is_like_identity(name: str) -> bool:
    """Whether a name is that of something which events belong to.

    >>> is_like_identity("customer_id"), is_like_identity("humidity")
    (True, False)
    """
    return bool(_IDENTITY & set(words_of(name)[-2:])) and not is_like_measure(name)


def is_like_measure(name: str) -> bool:
    """Whether a name is that of what is measured, counted or added up.

    >>> is_like_measure("bytes_sent"), is_like_measure("order_count"), is_like_measure("host")
    (True, True, False)
    """
    words = words_of(name)
    return bool(_MEASURE & set(words)) and words[-1] not in {"id", "key", "uuid", "no"}


def is_like_calendar(name: str) -> bool:
    """Whether a name is that of a piece of a time.

    >>> is_like_calendar("month"), is_like_calendar("dep_hour"), is_like_calendar("ts")
    (True, True, False)
    """
    return bool(_CALENDAR & set(words_of(name))) or words_of(name) == ("day",)


def is_like_category(name: str) -> bool:
    """Whether a name is that of a sort of event, of which there are a few.

    >>> is_like_category("http_status")
    True
    """
    return bool(_CATEGORY & set(words_of(name)))
