"""Reading one typed value from what a recipient or a sibling agent sent.

Own parsers, because the usual ones guess: `float` reads `1_000` and Arabic-Indic digits, form
libraries read `06/10/2026` in the American order and `ftp://` as an address.
"""

import re
from datetime import date
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from handoff.contract.limits import NUMBER_DECIMALS_MAX, NUMBER_DIGITS_MAX, URL_MAX
from handoff.contract.literals import Json, as_text, plain_number
from handoff.contract.text import scrub

type Scalar = str | int | float | bool


class Reason(StrEnum):
    """Why a value is not usable: the words of the resume note."""

    NOT_A_NUMBER = "not a number"
    NOT_A_BOOLEAN = "not true or false"
    NOT_A_CHOICE = "not one of the choices"
    NOT_A_DATE = "not a date"
    NOT_A_URL = "not an http or https address"
    TOO_LONG = "too long"


class Unusable(ValueError):
    """A value that its field cannot take; `reason` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


_COMMA_DECIMAL: Final = frozenset({"de", "es", "pt", "it", "nl", "da", "id", "tr", "el"})
_SPACE_GROUPS: Final = frozenset({"fr", "ru", "uk", "pl", "cs", "sk", "sv", "nb", "fi", "hu", "bg"})
_PLAIN: Final = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_EITHER_WAY: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""`1,234`: a thousand in one country, one and a bit in the next. Nobody's reading is taken."""

_YEAR_FIRST: Final = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", re.ASCII)
_YEAR_FIRST_JA: Final = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日", re.ASCII)
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4})", re.ASCII)
_MONTH_FIRST: Final = frozenset({"en-us", "en-ph"})

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)", re.ASCII)
_HOST: Final = re.compile(r"(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?")
_DOMAIN: Final = re.compile(r"\.[^\W\d_][\w-]*\.?$")
"""What tells `example.com` from `yes` and `3.14` where no scheme was typed."""

_NOT_IN_URL: Final = re.compile(r'[\s<>"\\^`{|}\x00-\x20\x7f-\x9f\ufffd]')
_UNSEEN: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def number(raw: Json, *, locale: str) -> int | float:
    """A number in plain form (`-1234.5`) or in the form of the locale (`1.234,5`).

    At most 15 digits and 10 decimals, so that a float gives the same digits back. Raises
    Unusable for anything else, for booleans and for what reads two ways.
    """
    if isinstance(raw, str):
        return _digits(_number_text(scrub(raw).replace("\u2212", "-"), locale=locale))
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return _digits(plain_number(raw))
    raise Unusable(Reason.NOT_A_NUMBER)


def boolean(raw: Json) -> bool:
    """True or false, as such or as the words `true` and `false` (the values of the radios)."""
    if isinstance(raw, bool):
        return raw
    words = {"true": True, "false": False}
    if isinstance(raw, str) and (word := scrub(raw).lower()) in words:
        return words[word]
    raise Unusable(Reason.NOT_A_BOOLEAN)


def member(raw: Json, *, choices: tuple[str, ...]) -> str:
    """One of the choices, letter by letter."""
    if (text := scrub(as_text(raw))) in choices:
        return text
    raise Unusable(Reason.NOT_A_CHOICE)


def prose(raw: Json, *, most: int) -> str:
    """Text of at most `most` characters after trimming; other JSON as its compact text."""
    text = scrub(as_text(raw))
    if len(text) > most:
        raise Unusable(Reason.TOO_LONG)
    return text


def day(raw: Json, *, locale: str) -> str:
    """A date as ISO 8601 `YYYY-MM-DD`, read from ISO or from the order of the locale.

    English without a country has no order of its own: `25/12/2026` is read, `06/10/2026` is not.
    """
    text = scrub(raw) if isinstance(raw, str) else ""
    if found := _YEAR_FIRST.fullmatch(text):
        readings = [(found[1], found[3], found[4])]
    elif found := _YEAR_FIRST_JA.fullmatch(text):
        readings = [(found[1], found[2], found[3])]
    elif found := _YEAR_LAST.fullmatch(text):
        day_first, month_first = (found[4], found[3], found[1]), (found[4], found[1], found[3])
        readings = _in_order(locale, day_first=day_first, month_first=month_first)
    else:
        readings = []
    days = {iso for reading in readings if (iso := _iso(*reading))}
    if len(days) != 1:
        raise Unusable(Reason.NOT_A_DATE)
    return days.pop()


def url(raw: Json) -> str:
    """An http or https address with a host and nobody's credentials; `https://` is added.

    At most 2,048 characters; no spaces, controls or invisible characters (WHATWG URL forbids or
    strips them, and they hide where a link goes).
    """
    if not isinstance(raw, str):
        raise Unusable(Reason.NOT_A_URL)
    text = scrub(raw)
    if len(text) > URL_MAX:
        raise Unusable(Reason.TOO_LONG)
    if _NOT_IN_URL.search(text) or _UNSEEN.search(text):
        raise Unusable(Reason.NOT_A_URL)
    if typed := _SCHEME.match(text):
        scheme, rest = typed.group().lower(), text[typed.end() :]
        if scheme not in {"http:", "https:"} or not rest.startswith("//"):
            raise Unusable(Reason.NOT_A_URL)
        text = scheme + rest
    else:
        text = f"https://{text}"
    if not _has_host(text, dotted=typed is None):
        raise Unusable(Reason.NOT_A_URL)
    if len(text) > URL_MAX:
        raise Unusable(Reason.TOO_LONG)
    return text


def _number_text(text: str, *, locale: str) -> str:
    group, decimal = _marks(locale)
    grouped = rf"([+-]?)([1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{decimal}\d*)?|\d*{decimal}\d+)"
    readings = set()
    if found := _PLAIN.fullmatch(text):
        readings.add(found[1] + found[2])
    if found := re.fullmatch(grouped, text, re.ASCII):
        whole = re.sub(group, "", found[2])
        readings.add(found[1] + re.sub(decimal, ".", whole))
    if len(readings) != 1 or _EITHER_WAY.fullmatch(text):
        raise Unusable(Reason.NOT_A_NUMBER)
    return readings.pop()


def _digits(plain: str) -> int | float:
    negative = plain.startswith("-")
    whole, _, decimals = plain.lstrip("+-").partition(".")
    if not (whole + decimals).isdecimal():
        raise Unusable(Reason.NOT_A_NUMBER)
    whole, decimals = whole.lstrip("0"), decimals.rstrip("0")
    if len(whole) + len(decimals) > NUMBER_DIGITS_MAX or len(decimals) > NUMBER_DECIMALS_MAX:
        raise Unusable(Reason.TOO_LONG)
    size = float(f"{whole or 0}.{decimals}") if decimals else int(whole or 0)
    return -size if negative else size


def _marks(locale: str) -> tuple[str, str]:
    """The patterns of the group and the decimal mark (CLDR) of a locale."""
    language = _tag(locale).partition("-")[0]
    if language in _COMMA_DECIMAL:
        return r"\.", ","
    if language in _SPACE_GROUPS:
        return "[ \u00a0\u202f]", ","
    return ",", r"\."


def _in_order[T](locale: str, *, day_first: T, month_first: T) -> list[T]:
    tag = _tag(locale)
    if tag in _MONTH_FIRST:
        return [month_first]
    return [day_first, month_first] if tag == "en" else [day_first]


def _tag(locale: str) -> str:
    return locale.lower().replace("_", "-")


def _iso(year: str, month: str, of_month: str) -> str:
    try:
        return date(int(year), int(month), int(of_month)).isoformat()
    except ValueError:
        return ""


def _has_host(text: str, *, dotted: bool) -> bool:
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        _ = parts.port  # raises where it is not a port
    except ValueError:
        return False
    if "@" in parts.netloc or _HOST.fullmatch(host) is None:
        return ":" in host and "@" not in parts.netloc
    return not dotted or host == "localhost" or _DOMAIN.search(host) is not None
