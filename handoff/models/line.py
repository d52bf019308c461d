"""A column for a name that people see: it passes the text border and stands on one line."""

import re
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import ValidationError
from django.db import models

from handoff.contract.text import TextProblem, clean

if TYPE_CHECKING:
    CharField = models.CharField[str, str]
else:
    CharField = models.CharField

_BREAKS: Final = re.compile(r"\s*[\t\n\u2028\u2029]\s*")


class LineField(CharField):
    """Cleaned wherever a model is: in the admin's forms, in the actions and their commands."""

    def clean(self, value: Any, model_instance: models.Model | None) -> Any:
        try:
            line = clean(str(value or ""))
        except TextProblem as problem:
            raise ValidationError(
                "This name %(reason)s.", code="text", params={"reason": problem.reason}
            ) from problem
        return super().clean(_BREAKS.sub(" ", line), model_instance)

    def deconstruct(self) -> Any:
        """As the column that it is: migrations need not know what cleans it."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs
