"""Whether a machine sent a mail: what it sends is passed on to nobody and answered by nobody.

Two auto-responders that answer each other never stop. The signs are those of RFC 3834 and of what
mail programs and lists really send (channels.md 2.7); the subject is none of them.
"""

import re
from collections.abc import Set
from typing import Final

from handoff.transports.email_address import session_of
from handoff.transports.email_mime import Mail, addresses, header, headers

_BULK: Final = frozenset({"bulk", "list", "junk", "auto_reply"})
_AUTO_REPLY: Final = ("X-Autoreply", "X-Autorespond", "X-Autoresponder", "X-Auto-Reply")
_OURS: Final = re.compile(r"<[hn]\.[a-z0-9_]+\.[a-z0-9]+(?:\.[a-z0-9]+)?@[^<>\s]+>", re.IGNORECASE)


def automatic(mail: Mail, *, own: Set[str]) -> str:
    """Why a mail is not from a person, as a code; "" when it may be. `own` are addresses that this
    desk sends from, in lower case.
    """
    said = header(mail, "Auto-Submitted").partition(";")[0].strip().lower()
    if said and said != "no":
        return "auto_submitted"
    if header(mail, "Precedence").strip().lower() in _BULK:
        return "bulk"
    if headers(mail, "List-Id"):
        return "mailing_list"
    if any(headers(mail, name) for name in _AUTO_REPLY):
        return "auto_reply"
    if any(path.replace(" ", "") == "<>" for path in headers(mail, "Return-Path")):
        return "null_path"
    senders = [address for _, address in addresses(mail, "From")]
    if any(sender in own or session_of(sender) for sender in senders):
        return "own_mail"
    return "own_mail" if is_ours(header(mail, "Message-ID")) else ""


def is_ours(message_id: str) -> bool:
    """Has this id the form of our mails' own? Whether it is one, the database knows."""
    return _OURS.fullmatch(message_id.strip()) is not None
