"""Tries to sign in: how many there may be, and what the trail says of those that fail."""

import dataclasses
import unicodedata
from typing import Final

from django.contrib.auth.models import User
from django.utils.crypto import salted_hmac

from handoff.actions import addresses, refusals, throttle
from handoff.errors import TooFast

SALT: Final = "handoff.account"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Try:
    """One name with a password, wherever they were typed."""

    username: str
    remote: str
    """The peer's address."""
    forwarded: str
    """`X-Forwarded-For`."""

    @property
    def account(self) -> str:
        """A keyed hash of the name: the same for a name that nobody has, whatever its case."""
        name = unicodedata.normalize("NFKC", self.username).casefold()
        return salted_hmac(SALT, name, algorithm="sha256").hexdigest()[:32]

    @property
    def address(self) -> str:
        return addresses.hashed(self.remote, self.forwarded)


def begin(tried: Try) -> None:
    """Count a try before its password is checked, which is slow; raises TooFast, and says so on
    the trail.
    """
    try:
        throttle.take_login(tried.account, tried.address)
    except TooFast as error:
        note_failed(tried, reason=error.code)
        raise


def note_success(tried: Try) -> None:
    """A try that was right is not counted: only guesses are."""
    throttle.give_back_login(tried.account, tried.address)


def note_failed(tried: Try, *, reason: str) -> None:
    """One row, as for every refusal at a door. It names the account by its number, where there is
    one, and never what was typed.
    """
    found = User.objects.filter(username=tried.username).values_list("pk", flat=True).first()
    refusals.note_denied(reason, actor="" if found is None else f"user:{found}")
