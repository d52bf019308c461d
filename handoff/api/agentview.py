"""The base of every view that an agent calls: size, then token, then how fast."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.views import APIView

from handoff.actions import throttle
from handoff.api import bodies
from handoff.contract import turns
from handoff.models import Agent
from handoff.selectors.tokens import Caller


class AgentView(APIView):
    """A view for one authenticated agent."""

    has_limits: ClassVar[frozenset[str]] = frozenset()
    """Methods that count their calls themselves, because what they do has a limit of its own."""
    caller: Caller | None = None
    """Known once the token was found good."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        bodies.check_size(request)
        super().initial(request, *args, **kwargs)

    def check_throttles(self, request: Request) -> None:
        assert isinstance(request.auth, Caller)  # noqa: S101  (HasToken has let it in)
        self.caller = request.auth
        if request.method not in self.has_limits:
            throttle.take_call(self.caller)

    @property
    def known(self) -> Caller:
        assert self.caller is not None  # noqa: S101  (no method runs before the checks above)
        return self.caller

    @property
    def agent(self) -> Agent:
        return self.known.agent

    def read[T: turns.Body](self, model: type[T]) -> T:
        return bodies.parsed(model, bodies.json_object(self.request))
