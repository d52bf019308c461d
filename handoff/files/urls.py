"""Where files come in and go out. Included before the other addresses under `/api/`."""

from django.urls import path

from handoff.files import api, chat, pages

app_name = "files"
urlpatterns = [
    path("files/", chat.upload, name="upload"),
    path("files/<str:public_id>/link/", chat.link, name="link"),
    path("files/owner/<str:public_id>/", pages.owned, name="owned"),
    path("files/<str:token>/", pages.signed, name="signed"),
    path(
        "api/v1/conversations/<str:public_id>/files",
        api.ConversationFiles.as_view(),
        name="of-conversation",
    ),
    path("api/v1/inbox/<str:public_id>/files", api.HandoffFiles.as_view(), name="of-handoff"),
    path("api/v1/files/<str:public_id>", api.OneFile.as_view(), name="file"),
]
