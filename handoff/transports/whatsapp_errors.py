"""What Meta's error codes mean (channels.md 6.3). The code decides, never the HTTP status."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.contract.limits import FAILURE_MAX
from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, rate_limited, unclear

_KINDS: Final[dict[Kind, tuple[int, ...]]] = {
    Kind.AUTH: (0, 190),
    # the second line: the account or the number may not send at all
    Kind.PERMISSION: (
        *(3, 10, *range(200, 300), 131005),
        *(368, 130497, 131031, 131037, 131042, 131045, 133010),
    ),
    Kind.NOT_FOUND: (33, 132001, 132015, 132016),
    Kind.BAD_FORMAT: (100, 131008, 131009, 131051, 132000, 132007, 132012, 132018),
    Kind.TOO_LONG: (132005,),
    Kind.RATE_LIMITED: (4, 80007, 130429, 131048, 131056, 133016),
    Kind.TRANSIENT: (1, 2, 131000, 131016, 131057, 135000),
    Kind.RECIPIENT_UNREACHABLE: (130472, 131021, 131026, 131030, 131049, 131050),
    Kind.WINDOW_CLOSED: (470, 131047),
}
_KIND_OF: Final = {code: kind for kind, codes in _KINDS.items() for code in codes}
_NO_SUCH_OBJECT: Final = 33
"""As the subcode of 100, too: an ID that is not there, or that the token may not see."""

_ADDRESS: Final = re.compile(r"\w+://[^\s'\"]+|\+?[0-9]{7,}")
"""What Meta quotes may be the address of the form, or somebody's number."""
WINDOW_HINT: Final = (
    "The person has not written for 24 hours, so that only a template reaches them: name one in "
    "the channel."
)
_TEMPLATE: Final = (
    "The template does not fit: compare its name, language, variables and button at Meta with "
    "the channel's settings, and press Test."
)
_HINTS: Final[dict[int, str]] = {
    **dict.fromkeys((132000, 132001, 132005, 132007, 132012, 132018), _TEMPLATE),
    132015: "Meta paused the template for its quality: edit it there, or wait.",
    132016: "Meta disabled the template for its quality: make another and name it in the channel.",
    130472: "Meta holds messages to this person back for an experiment of theirs; ask another way.",
    131021: "The recipient is the sending number itself: correct `to`.",
    131030: "A test number writes only to the numbers that are listed with it: add the recipient.",
    131042: "Meta wants a payment method: look at the billing of the WhatsApp Business Account.",
    131045: "The number is not registered with the Cloud API: register it at Meta.",
    131049: "Meta does not bring this person any more messages for now; ask another way.",
    131050: "The person has stopped messages from you; ask another way.",
    133010: "The number is not registered with the Cloud API: register it at Meta.",
}
_KIND_HINTS: Final[dict[Kind, str]] = {
    Kind.AUTH: "The access token is refused or has expired: use a system user token.",
    Kind.PERMISSION: (
        "Meta does not allow it: the token needs whatsapp_business_messaging and "
        "whatsapp_business_management, and the account no open restriction. Look in the "
        "WhatsApp Manager."
    ),
    Kind.NOT_FOUND: (
        "There is no such number for this token: compare the phone number ID, and give the "
        "system user access to the account."
    ),
    Kind.BAD_FORMAT: "Meta does not take the message as it is: check `to` and press Test.",
    Kind.RATE_LIMITED: "Meta takes fewer messages for now than the desk sends; try again later.",
    Kind.TRANSIENT: "Meta refused for now; try again later.",
    Kind.RECIPIENT_UNREACHABLE: (
        "The person cannot be reached: check the number, and that it has a current WhatsApp."
    ),
    Kind.WINDOW_CLOSED: WINDOW_HINT,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Failure:
    """One error of Meta's, from an answer or from a status."""

    kind: Kind
    code: int
    detail: str
    """In Meta's words, for operators."""
    hint: str


def read_failure(error: object) -> Failure | None:
    """The error of an answer or of a status; None for what is none."""
    if not isinstance(error, Mapping):
        return None
    code = error.get("code")
    if not isinstance(code, int) or isinstance(code, bool):
        return None
    kind = _KIND_OF.get(code, Kind.BAD_FORMAT)
    if code == 100 and error.get("error_subcode") == _NO_SUCH_OBJECT:
        kind = Kind.NOT_FOUND
    return Failure(
        kind=kind,
        code=code,
        detail=_detail(code, error),
        hint=_HINTS.get(code) or _KIND_HINTS.get(kind, _TEMPLATE),
    )


def refusal(answer: HttpAnswer, *, sends: bool) -> TransportError:
    """The TransportError for an answer that is no success; `sends` as for `http.unclear`."""
    failure = read_failure((answer.json() or {}).get("error"))
    if failure is None:
        return rate_limited(answer) if answer.status == 429 else unclear(answer, sends=sends)
    if failure.code not in _KIND_OF and answer.status >= 500:
        return unclear(answer, sends=sends)
    return TransportError(
        failure.kind, failure.detail, provider_code=str(failure.code), hint=failure.hint
    )


def _detail(code: int, error: Mapping[str, Any]) -> str:
    data = error.get("error_data")
    details = data.get("details") if isinstance(data, Mapping) else None
    said = (error.get("message"), error.get("title"), details)
    words = dict.fromkeys(
        _ADDRESS.sub("…", one_line(text)) for text in said if isinstance(text, str)
    )
    return f"Meta {code}: {' / '.join(filter(None, words))}".rstrip(": ")[:FAILURE_MAX]
