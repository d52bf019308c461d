"""Bearer tokens for DRF."""

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from handoff.actions.tokens import note_use
from handoff.selectors.tokens import Caller, caller_for

OPENBOT_HEADER = "x-openbot-agent-token"


class TokenAuthentication(BaseAuthentication):
    """`request.auth` is the Caller; raises NotAuthorised, which answers 401 in one sentence."""

    def authenticate(self, request: Request | HttpRequest) -> tuple[None, Caller]:
        caller = caller_for(
            request.headers.get("authorization", ""), request.headers.get(OPENBOT_HEADER, "")
        )
        note_use(caller.token_pk)
        return None, caller


class HasToken(BasePermission):
    def has_permission(self, request: Request, view: object) -> bool:
        return isinstance(request.auth, Caller)
