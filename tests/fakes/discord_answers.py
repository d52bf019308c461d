"""What Discord says when it does not do what was asked, and what it finds wrong with a message."""

from typing import Any
from urllib.parse import urlsplit

from tests.fakes.providers import FakeAnswer


def refused_content(body: dict[str, Any]) -> FakeAnswer | None:
    """What is wrong with the words of a message, if anything."""
    content = body.get("content")
    if not content or not content.strip():
        return error(400, 50006, "Cannot send an empty message")
    if len(content.encode("utf-16-le")) // 2 > 2000:
        return form_error("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
    allowed = body.get("allowed_mentions") or {}
    for kind in ("users", "roles"):
        if kind in allowed.get("parse", ()) and allowed.get(kind):
            return form_error("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE")
    if body.get("flags", 0) & ~(1 << 2 | 1 << 12):
        return form_error("flags", "MESSAGE_FLAGS_INVALID")
    for row in body.get("components", ()):
        for item in row["components"]:
            place = urlsplit(item["url"])
            if place.scheme not in ("http", "https") or "." not in (place.hostname or ""):
                return form_error("components", "URL_TYPE_INVALID_URL", "Not a well formed URL.")
            if len(item["url"]) > 512 or len(item["label"]) > 80:
                return form_error("components", "BASE_TYPE_MAX_LENGTH")
    return None


def error(status: int, code: int, message: str, **more: Any) -> FakeAnswer:
    return FakeAnswer(status, json={"message": message, "code": code, **more})


def form_error(field: str, code: str, message: str = "Invalid.") -> FakeAnswer:
    errors = {field: {"_errors": [{"code": code, "message": message}]}}
    return error(400, 50035, "Invalid Form Body", errors=errors)


def too_many(seconds: float, *, scope: str = "user", code: int | None = None) -> FakeAnswer:
    """Discord's own 429."""
    said = {"message": "You are being rate limited.", "retry_after": seconds, "global": False}
    return FakeAnswer(
        429,
        json=said if code is None else {**said, "code": code},
        headers={
            "Retry-After": str(int(seconds) + 1),
            "X-RateLimit-Scope": scope,
            "X-RateLimit-Bucket": "abcd1234",
        },
    )


def cloudflare(**headers: str) -> FakeAnswer:
    """A 429 of what stands before Discord."""
    page = b"<!DOCTYPE html><title>Access denied | discord.com used Cloudflare</title>"
    return FakeAnswer(429, body=page, headers={"Content-Type": "text/html", **headers})
