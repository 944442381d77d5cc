"""Guesses of passwords are slowed down where they are made, and counters stay few."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from rowkey.portal.users import login_throttle
from rowkey.portal.users.login_throttle import (
    FAILURE_WINDOW_S,
    GAP_S,
    MAX_DELAY_S,
    MAX_FREE_FAILURES,
    MAX_USER_FAILURES,
    LoginThrottle,
    TooManyLogins,
)


class Guesses:
    """Wrong passwords that are sent to a throttle, with a clock that stands still."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.throttle = LoginThrottle(lambda: self.now_s)

    def guess(self, address: str, name: str) -> float:
        """Send a wrong password; return how long it waits, -1 if it is refused."""
        try:
            delay_s = self.throttle.reserve_slot(address, name)
        except TooManyLogins:
            return -1
        self.throttle.note_failure(address, name)
        return delay_s


@pytest.mark.parametrize("name", ["ann", "nobody", "", "x" * 10_000, "\ud800"])
def test_password_guesses_from_one_address_are_limited(name: str) -> None:
    """Beyond a few, one password a second is verified, and later ones are refused."""
    guesses = Guesses()
    free = [guesses.guess("10.0.0.1", name) for _ in range(MAX_FREE_FAILURES)]
    assert [0.0] * MAX_FREE_FAILURES == free
    slow = [guesses.guess("10.0.0.1", name) for _ in range(int(MAX_DELAY_S / GAP_S))]
    assert [GAP_S * number for number in range(1, len(slow) + 1)] == slow
    assert -1 == guesses.guess("10.0.0.1", name)
    assert 0.0 == guesses.guess("10.0.0.1", "another")
    guesses.now_s += FAILURE_WINDOW_S + MAX_DELAY_S
    assert 0.0 == guesses.guess("10.0.0.1", name)


def test_password_guesses_from_many_addresses_are_limited() -> None:
    """A botnet gets one try an address and then one a second; a new address is never refused."""
    guesses = Guesses()
    verified = 0
    for number in range(3_000):
        guesses.now_s += 0.01
        verified += guesses.guess(f"10.0.{number % 100}.1", "ann") >= 0
        if number > MAX_USER_FAILURES:
            assert GAP_S == guesses.throttle.reserve_slot("192.0.2.1", "ann")
    assert verified <= 100 + MAX_USER_FAILURES + MAX_FREE_FAILURES + (30 + MAX_DELAY_S) / GAP_S


def test_ipv6_addresses_of_one_network_are_limited_together() -> None:
    """The addresses of one network count together."""
    guesses = Guesses()
    found = [guesses.guess(f"2001:db8::{number:x}", "ann") for number in range(20)]
    assert -1 == found[-1]
    assert 0.0 == guesses.guess("2001:db8:1::1", "ann")


def test_a_right_password_resets_the_limit_of_its_address() -> None:
    """Who has logged in may mistype again without waiting."""
    guesses = Guesses()
    for _ in range(MAX_FREE_FAILURES):
        guesses.guess("10.0.0.1", "ann")
    guesses.throttle.note_success("10.0.0.1", "ann")
    assert 0.0 == guesses.guess("10.0.0.1", "ann")


def test_the_counters_of_failed_logins_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and addresses without end are forgotten, the oldest first; so are logins that end."""
    monkeypatch.setattr(login_throttle, "MAX_COUNTERS", 10)
    guesses = Guesses()
    for number in range(100):
        for _ in range(MAX_FREE_FAILURES + 1):
            guesses.guess(f"10.0.0.{number}", f"name {number}")
    throttle = guesses.throttle
    with throttle.open_login("10.0.0.1"):
        pass
    assert (10, 10, 0) == (len(throttle._failures), len(throttle._slots), len(throttle._running))


def test_a_fifth_simultaneous_password_of_an_address_is_refused() -> None:
    """The fifth at once is refused, but not from a proxy, nor from another address."""
    throttle = LoginThrottle()
    with ExitStack() as stack:
        for _ in range(login_throttle.MAX_ADDRESS_LOGINS):
            stack.enter_context(throttle.open_login("10.0.0.1"))
        with pytest.raises(TooManyLogins):
            stack.enter_context(throttle.open_login("10.0.0.1"))
        stack.enter_context(throttle.open_login("10.0.0.1", is_shared=True))
        stack.enter_context(throttle.open_login("10.0.0.2"))
