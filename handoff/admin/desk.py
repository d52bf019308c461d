"""What the admin's pages share: who acts, how a page is drawn, where a write is wrapped."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from handoff.actions.writing import writing
from handoff.contract.text import visible

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline


class DeskAdmin(ModelAdmin):
    """For what can be made and changed here, by actions alone. Nothing is deleted: disable it."""

    list_per_page = 50
    show_full_result_count = False
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: Any) -> None:
        """Nothing: the action that saved the row wrote its relations, too."""

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """The names of the fields that changed; the inlines here change nothing."""
        return super().construct_change_message(request, form, (), add)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Django opens a transaction around a POST; ours must be the outer one (lock order)."""
        if request.method != "POST":
            return super().changeform_view(request, object_id, form_url, extra_context)
        with writing():
            return super().changeform_view(request, object_id, form_url, extra_context)


class ReadOnlyInline(TabularInline):
    """Rows of a parent, as they are; with the permission to see the parent."""

    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def actor_of(request: HttpRequest) -> str:
    """Who acts, for the trail."""
    return f"admin:{request.user.pk}"


def page(
    request: HttpRequest, page_of: ModelAdmin, template: str, **context: Any
) -> TemplateResponse:
    """A page of our own inside the admin's frame; `title` is its heading."""
    request.current_app = page_of.admin_site.name
    return TemplateResponse(
        request,
        template,
        {**page_of.admin_site.each_context(request), "opts": page_of.opts, **context},
    )


def seen(field: str, description: "str | StrPromise") -> Callable[[Any, Any], str]:
    """A column for text that others wrote: bidirectional overrides show as what they are."""

    @admin.display(description=description, ordering=field)
    def column(_page_of: Any, row: Any) -> str:
        return visible(getattr(row, field)) or "–"

    return column
