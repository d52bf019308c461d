"""The base of the waiting routes: what Django's middleware and DRF would do, for a consumer."""

import asyncio
import logging
from typing import Any
from urllib.parse import parse_qsl

import pydantic
from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer
from django.conf import settings
from django.db import Error as DatabaseError
from django.http.request import split_domain_port, validate_host

from handoff.actions.admission import Knock, admit
from handoff.actions.refusals import note_refusal
from handoff.contract.wording import problems_of
from handoff.errors import (
    DeskUnavailable,
    HandoffError,
    Invalid,
    NotAuthorised,
    NotYours,
    TooFast,
)
from handoff.realtime import reading, wire
from handoff.selectors.tokens import Caller

OPENBOT_HEADER = b"x-openbot-agent-token"

log = logging.getLogger(__name__)


class MethodNotAllowed(HandoffError):
    status = 405
    code = "method_not_allowed"


class BadHost(HandoffError):
    status = 400
    code = "bad_host"


class WaitingConsumer(AsyncHttpConsumer):  # type: ignore[misc]
    """Checks method, host and token, then `wait()`s as a task that ends when the client leaves.

    The stock consumer awaits its work inside the dispatch, so that it cannot hear a disconnect
    and goes on until the server kills it.
    """

    scope: wire.Scope
    base_send: wire.Send
    _work: asyncio.Task[None] | None = None

    async def wait(self, caller: Caller) -> None:
        """Answer in the end. Whatever of ours it raises becomes the answer."""
        raise NotImplementedError

    async def http_request(self, message: wire.Message) -> None:
        if not message.get("more_body"):
            self._work = asyncio.create_task(self._answer())

    async def http_disconnect(self, message: wire.Message) -> None:
        """The client left, or the answer is complete."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})
        raise StopConsumer

    async def reply(self, status: int, body: bytes, **more: Any) -> None:
        self._answered = True
        await wire.answer(self.base_send, status, body, **more)

    async def begin(self, kind: bytes) -> None:
        self._answered = True
        headers = wire.headers(kind, [(b"x-accel-buffering", b"no")])
        await self.base_send({"type": "http.response.start", "status": 200, "headers": headers})

    def query[Q: pydantic.BaseModel](self, model: type[Q]) -> Q:
        """The query string as `model`; raises Invalid with every problem."""
        pairs = parse_qsl(self.scope["query_string"].decode("latin-1"))
        try:
            return model.model_validate(dict(pairs))
        except pydantic.ValidationError as error:
            problems = problems_of(error)
            listed = "; ".join(f"{item['field']}: {item['problem']}" for item in problems)
            raise Invalid(
                f"The query can't be used: {listed}.", details={"problems": problems}
            ) from error

    async def _answer(self) -> None:
        self._answered = False
        try:
            self._check_request()
            caller = await self._known()
            try:
                await self.wait(caller)
            except NotYours as error:
                await reading.write(note_refusal, error, caller=caller, tool_call=False)
                raise
        except HandoffError as error:
            await self._refuse(error)
        except DatabaseError:
            log.exception("the database is not there")
            await self._refuse(DeskUnavailable())
        except Exception:  # the outermost door: the client must hear something
            log.exception("a waiting route failed")
            await self._refuse(HandoffError("The desk failed."))

    def _check_request(self) -> None:
        if self.scope["method"] != "GET":
            raise MethodNotAllowed("Only GET is answered here.")
        host, _ = split_domain_port(wire.header(self.scope, b"host").lower())
        if not validate_host(host, settings.ALLOWED_HOSTS):
            raise BadHost("That host is not served here.")

    async def _known(self) -> Caller:
        try:
            return await known_caller(self.scope)
        except NotAuthorised as error:
            await reading.write(note_refusal, error, caller=None, tool_call=False)
            raise

    async def _refuse(self, error: HandoffError) -> None:
        if self._answered:
            await self.base_send({"type": "http.response.body", "body": b""})
            return
        body: dict[str, Any] = {"error": error.sentence}
        extra: wire.Headers = []
        if isinstance(error, MethodNotAllowed):
            extra.append((b"allow", b"GET"))
        if isinstance(error, NotAuthorised):
            extra.append((b"www-authenticate", b"Bearer"))
        elif not isinstance(error, NotYours):
            body["code"] = error.code
        if error.details:
            body["details"] = error.details
        if isinstance(error, DeskUnavailable | TooFast):
            extra.append((b"retry-after", str(error.retry_after).encode()))
        await self.reply(error.status, wire.as_json(body), extra=extra)


async def known_caller(scope: wire.Scope) -> Caller:
    """Who calls, from the headers of a request or a socket; raises NotAuthorised and TooFast."""
    knock = Knock(
        authorization=wire.header(scope, b"authorization"),
        x_token=wire.header(scope, OPENBOT_HEADER),
        remote=(scope.get("client") or [""])[0],
        forwarded=wire.header(scope, b"x-forwarded-for"),
    )
    return await reading.shared(admit, knock)
