"""Users and groups, offered only the permissions that do something here.

Django would list every permission of every table: hundreds of lines, most of them for things that
nobody can do, and more form fields than one POST may have.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse

from handoff.actions.access import note_access
from handoff.actions.writing import writing
from handoff.admin.desk import ModelAdmin, actor_of

if TYPE_CHECKING:
    Users = UserAdmin[User]
else:
    Users = UserAdmin

USABLE: Final = {
    "handoff": (
        "add_agent",
        "change_agent",
        "view_agent",
        "add_token",
        "change_token",
        "add_channel",
        "change_channel",
        "view_channel",
        "change_session",
        "view_session",
        "view_attempt",
        "view_returnlink",
        "view_conversation",
        "view_message",
        "view_delivery",
        "view_event",
        "add_webhook",
        "change_webhook",
        "view_webhook",
        "view_webhookcall",
    ),
    "audit": ("view_event",),
    "auth": (
        "add_user",
        "change_user",
        "delete_user",
        "view_user",
        "add_group",
        "change_group",
        "delete_group",
        "view_group",
    ),
}


FLAGS: Final = ("is_active", "is_staff", "is_superuser")


def usable_permissions() -> QuerySet[Permission]:
    wanted = Q()
    for app, codenames in USABLE.items():
        wanted |= Q(content_type__app_label=app, codename__in=codenames)
    return Permission.objects.filter(wanted).select_related("content_type")


class OnTheTrail(ModelAdmin):
    """What is done to people here stands on the trail: by number and by field, never by name."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._note(request, obj, "added", message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._note(request, obj, "changed", message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            self._note(request, obj, "deleted", [])
        return super().log_deletions(request, queryset)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with _writing_if_posted(request):
            return super().changeform_view(request, *args, **kwargs)

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with _writing_if_posted(request):
            return super().changelist_view(request, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with _writing_if_posted(request):
            return super().delete_view(request, *args, **kwargs)

    def _note(self, request: HttpRequest, obj: Any, what: str, message: Any) -> None:
        kind = self.opts.model_name or ""
        told = {f"{name}_after": getattr(obj, name) for name in FLAGS if hasattr(obj, name)}
        facts = {kind: obj.pk} | ({} if what == "deleted" else told)
        note_access(
            f"{kind} {what}", actor=actor_of(request), fields=_changed(message), facts=facts
        )


def _writing_if_posted(request: HttpRequest) -> AbstractContextManager[None]:
    return writing() if request.method == "POST" else nullcontext()


def _changed(message: Any) -> list[str]:
    """The labels in the change message of a form, in English; a text is an action's own."""
    parts = message if isinstance(message, list) else []
    return [field for part in parts for field in part.get("changed", {}).get("fields", ())]


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class PersonAdmin(OnTheTrail, Users):
    list_per_page = 50

    def user_change_password(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with _writing_if_posted(request):
            return super().user_change_password(request, *args, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user_permissions":
            kwargs["queryset"] = usable_permissions()
        return super().formfield_for_manytomany(db_field, request, **kwargs)


@admin.register(Group)
class PeopleAdmin(OnTheTrail, GroupAdmin):
    list_per_page = 50

    def formfield_for_manytomany(
        self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        if db_field.name == "permissions":
            kwargs["queryset"] = usable_permissions()
        return super().formfield_for_manytomany(db_field, request, **kwargs)
