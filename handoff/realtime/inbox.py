"""`/ws/inbox`: tells an owner's page that something moved; the page reads the rest."""

from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, parse_cookie

from handoff import push
from handoff.realtime import frames, reading, wire
from handoff.realtime.sockets import CHECK_SECONDS, NOT_YOURS, TICKET, Closed, DeskSocket
from handoff.selectors import news


class InboxSocket(DeskSocket):
    """Opened by the session cookie, from a page of this desk."""

    owner_pk: int

    async def gate(self) -> None:
        if not wire.header(self.scope, b"origin"):
            raise Closed(NOT_YOURS, "This page may not open that socket.")
        self.check_origin()
        await self._signed_in()

    async def live(self) -> None:
        cursors = await self._counters()
        await self.begin()
        while True:
            agents = frozenset(cursors)
            topics = [f"owner:{self.owner_pk}", *(f"agent:{pk}" for pk in sorted(agents))]
            async with push.listen(*topics) as listener:
                while frozenset(cursors) == agents:
                    named, cursors = await reading.run(news.since, cursors)
                    for data in named:
                        await self.say(frames.ephemeral("nudge", {**data}))
                    await self.wait(listener, CHECK_SECONDS)
                    await self._signed_in()
                    current = await self._counters()
                    cursors = {pk: cursors.get(pk, newest) for pk, newest in current.items()}

    async def _signed_in(self) -> None:
        cookie = wire.header(self.scope, b"cookie")
        pk = await reading.run(_user_pk, parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME, ""))
        if pk is None:
            raise Closed(TICKET, "Sign in again.")
        self.owner_pk = pk

    async def _counters(self) -> dict[int, int]:
        found = await reading.run(news.counters, self.owner_pk)
        if not found:
            raise Closed(NOT_YOURS, "You look after no agent.")
        return found


def _user_pk(session_key: str) -> int | None:
    """Who is signed in by this session now; None when nobody is."""
    engine = import_module(settings.SESSION_ENGINE)
    request = HttpRequest()
    request.session = engine.SessionStore(session_key or None)
    user = get_user(request)
    return user.pk if user.is_authenticated and user.is_active else None
