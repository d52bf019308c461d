"""Signed reply addresses."""

import random
import string

import pytest
from pytest_django import Settings

from handoff.contract import ids
from handoff.transports.email_address import (
    BLANK,
    LOCAL_PART,
    LOCAL_PART_MAX,
    reply_address,
    session_of,
)

SESSION = "hs_" + "a2b3c4d5e6f7" * 2 + "gh"


def address(session: str = SESSION, local_part: str = LOCAL_PART) -> str:
    return reply_address(session, local_part=local_part, domain="inbound.example.org")


def test_an_address_names_its_handoff_and_fits_into_one() -> None:
    for _ in range(50):
        session = ids.session_id()
        made = address(session)
        local, _, domain = made.partition("@")
        assert local.startswith("reply+")
        assert len(local) == 49 <= LOCAL_PART_MAX
        assert domain == "inbound.example.org"
        assert made == made.lower()
        assert session_of(made) == session


@pytest.mark.parametrize(
    "local_part", [f"reply-{BLANK}", f"support+{BLANK}", BLANK, f"a.b_{BLANK}=x"]
)
def test_an_address_may_be_built_as_the_mail_host_needs_it(local_part: str) -> None:
    assert session_of(address(local_part=local_part)) == SESSION


def test_a_server_may_change_case_and_domain() -> None:
    assert session_of(address().upper()) == SESSION
    assert session_of(address().replace("inbound.example.org", "mx1.host.example")) == SESSION


def test_no_changed_address_is_ours() -> None:
    made = address()
    chance = random.Random(7)
    alphabet = string.ascii_lowercase + "234567"
    end = made.index("@")
    changed = {
        made[:at] + chance.choice(alphabet.replace(made[at], "")) + made[at + 1 :]
        for at in range(len("reply+"), end)
        if made[at] != "."
        for _ in range(20)
    }
    assert len(changed) > 500
    assert not [one for one in changed if session_of(one)]
    for other in (made[: end - 1] + made[end:], made[:end] + "a" + made[end:], "", "@", "x@y"):
        assert session_of(other) == ""


def test_a_former_key_is_honoured_and_an_unknown_one_is_not(settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "first", []
    made = address()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "second", ["first"]
    assert session_of(made) == SESSION
    assert address() != made
    settings.SECRET_KEY_FALLBACKS = []
    assert session_of(made) == ""
