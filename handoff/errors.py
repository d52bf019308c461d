"""The errors of the product: a code, a sentence for the agent, an HTTP status.

Refusals are exceptions inside and sentences at the door. A sentence here is written for a model
and never holds what a provider, a driver or a library said.
"""

from collections.abc import Mapping
from typing import Any

from handoff.contract.kinds import TransportErrorKind
from handoff.contract.limits import FAILURE_MAX

SHORT_WAIT_SECONDS = 2.0
"""What a provider asks to wait is waited within a call up to so long."""


class HandoffError(Exception):
    """Base of everything that a door turns into an answer."""

    status = 500
    code = "desk_fault"

    def __init__(self, sentence: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.details: dict[str, Any] = dict(details or {})


class Refused(HandoffError):
    """The desk understood the call and says no. `code` is one of the contract's refusal codes."""

    status = 200

    def __init__(
        self,
        code: str,
        sentence: str,
        *,
        details: Mapping[str, Any] | None = None,
        other_agent: str = "",
    ) -> None:
        super().__init__(sentence, details=details)
        self.code = code
        self.other_agent = other_agent
        """The agent that was not handed to: for the trail, never for the answer."""


class NotAuthorised(HandoffError):
    """No, unknown, revoked or expired token, or a disabled agent: one sentence for all causes."""

    status = 401
    code = "not_authorised"

    def __init__(self, reason: str) -> None:
        super().__init__("Not authorised.")
        self.reason = reason


class NotYours(HandoffError):
    """A good token used for another agent's conversation or session."""

    status = 403
    code = "not_yours"

    def __init__(self) -> None:
        super().__init__("That token is not for this Bot.")


class Malformed(HandoffError):
    """No readable call: not JSON, not an object, no name."""

    status = 400
    code = "malformed"


class TooLarge(HandoffError):
    """A body over the limit of its door."""

    status = 413
    code = "too_large"

    def __init__(self, sentence: str = "The call is too large.") -> None:
        super().__init__(sentence)


class NotFound(HandoffError):
    """No such thing, or none that the caller may see: the same sentence for both."""

    status = 404
    code = "not_found"


class Invalid(HandoffError):
    """A readable REST body with problems; `details["problems"]` lists all of them."""

    status = 400
    code = "invalid_arguments"


class Reused(HandoffError):
    """A key of the caller's own that it used before, for something else."""

    status = 409
    code = "idempotency_reused"


class TooFast(HandoffError):
    """More calls than a limit lets through; `retry_after` is in whole seconds, at least 1."""

    status = 429
    code = "too_fast"

    def __init__(self, retry_after: int) -> None:
        seconds = "1 second" if retry_after == 1 else f"{retry_after} seconds"
        super().__init__(f"Too many calls. This one did nothing; call again in {seconds}.")
        self.retry_after = retry_after


class DeskUnavailable(HandoffError):
    """The database or the trail is down, or no thread is free: nobody was contacted."""

    status = 503
    code = "desk_unavailable"
    retry_after = 30

    def __init__(self) -> None:
        super().__init__("This call asked nobody. Do not say that it did.")


class OutcomeUnrecorded(HandoffError):
    """The provider accepted, then the database was lost before the outcome was written."""

    status = 503
    code = "outcome_unrecorded"
    retry_after = 30

    def __init__(self, attempt: str = "") -> None:
        self.attempt = attempt
        """Which try it was, for the trail; "" when no attempt is named."""
        super().__init__(
            "A message may have reached the person, but the conversation was not handed over. "
            "Do not promise an answer."
        )


class TransportError(Exception):
    """A transport could not deliver.

    `kind` decides the sentence for the agent and what happens to the channel; `operator_detail`
    (at most 400 characters) goes to the audit row and the admin, never into an answer.
    """

    def __init__(
        self,
        kind: TransportErrorKind,
        operator_detail: str,
        *,
        retry_after: float | None = None,
        provider_code: str | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(f"{kind}: {operator_detail}")
        self.kind = kind
        self.operator_detail = operator_detail[:FAILURE_MAX]
        self.retry_after = retry_after
        self.provider_code = provider_code
        self.hint = hint
        """What an admin can do about it, in one sentence."""

    @property
    def worth_a_retry(self) -> bool:
        """Nothing was taken, and another try in a moment may succeed (channels.md 1.1)."""
        if self.kind == TransportErrorKind.RATE_LIMITED:
            return self.retry_after is not None and self.retry_after <= SHORT_WAIT_SECONDS
        passing = self.kind in (TransportErrorKind.CONNECT, TransportErrorKind.TRANSIENT)
        return passing and self.provider_code != "tls"
