"""The addresses of the owner inbox."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from handoff.inbox import buttons, holding, pages, upkeep
from handoff.login import InboxLogin

app_name = "inbox"
urlpatterns = [
    path("login/", InboxLogin.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", pages.overview, name="list"),
    path("alerts/", pages.alerts, name="alerts"),
    path("h/<slug:handoff>/", pages.detached, name="handoff"),
    path("h/<slug:handoff>/reply/", buttons.reply, name="reply"),
    path("h/<slug:handoff>/release/", buttons.release, name="release"),
    path("h/<slug:handoff>/claim/", holding.claim, name="claim"),
    path("h/<slug:handoff>/hand-over/", holding.hand_over, name="hand_over"),
    path("h/<slug:handoff>/extend/", upkeep.extend, name="extend"),
    path("h/<slug:handoff>/remind/", upkeep.remind, name="remind"),
    path("h/<slug:handoff>/link/", upkeep.link, name="link"),
    path("h/<slug:handoff>/seen/", upkeep.seen, name="seen"),
    path("h/<slug:handoff>/cancel/", buttons.cancel, name="cancel"),
    path("<slug:conversation>/", pages.conversation, name="conversation"),
]
