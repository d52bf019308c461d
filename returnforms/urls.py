"""Under `/r/`. A mail program may have lost the last slash, so it is optional."""

from django.urls import path, re_path

from returnforms import views

app_name = "returnforms"
urlpatterns = [
    path("owner/<str:session_id>/", views.owner_form, name="owner"),
    re_path(r"^(?P<token>[^/]+)/opened$", views.opened, name="opened"),
    re_path(r"^(?P<token>[^/]+)/?$", views.return_form, name="form"),
    re_path(r"^(?P<rest>.*)$", views.nothing, name="nothing"),
]
