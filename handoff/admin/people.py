"""Users and groups, offered only the permissions that do something here.

Django would list every permission of every table: hundreds of lines, most of them for things that
nobody can do, and more form fields than one POST may have.
"""

from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q, QuerySet
from django.http import HttpRequest

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


def usable_permissions() -> QuerySet[Permission]:
    wanted = Q()
    for app, codenames in USABLE.items():
        wanted |= Q(content_type__app_label=app, codename__in=codenames)
    return Permission.objects.filter(wanted).select_related("content_type")


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class PersonAdmin(Users):
    list_per_page = 50

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user_permissions":
            kwargs["queryset"] = usable_permissions()
        return super().formfield_for_manytomany(db_field, request, **kwargs)


@admin.register(Group)
class PeopleAdmin(GroupAdmin):
    list_per_page = 50

    def formfield_for_manytomany(
        self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        if db_field.name == "permissions":
            kwargs["queryset"] = usable_permissions()
        return super().formfield_for_manytomany(db_field, request, **kwargs)
