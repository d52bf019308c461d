"""Bearer tokens for DRF."""

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from handoff.actions.admission import Knock, admit
from handoff.selectors.tokens import Caller

OPENBOT_HEADER = "x-openbot-agent-token"


class TokenAuthentication(BaseAuthentication):
    """`request.auth` is the Caller; raises NotAuthorised, which answers 401 in one sentence, and
    TooFast for an address that had too many of those.
    """

    def authenticate(self, request: Request | HttpRequest) -> tuple[None, Caller]:
        knock = Knock(
            authorization=request.headers.get("authorization", ""),
            x_token=request.headers.get(OPENBOT_HEADER, ""),
            remote=request.META.get("REMOTE_ADDR", ""),
            forwarded=request.headers.get("x-forwarded-for", ""),
        )
        return None, admit(knock)


class HasToken(BasePermission):
    def has_permission(self, request: Request, view: object) -> bool:
        return isinstance(request.auth, Caller)
