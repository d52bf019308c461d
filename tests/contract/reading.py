"""Reading the value of one lone field."""

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType
from handoff.contract.values import clean_values


def one(kind: FieldType, raw: object, *, locale: str = "en") -> object:
    """The value of a lone field, or the reason why it has none."""
    asked = ReturnField(
        name="a", type=kind, enum_values=("é one", "5", "true") if kind == FieldType.ENUM else ()
    )
    returned = clean_values([asked], {"a": raw}, locale=locale)
    if returned.invalid:
        return returned.invalid[0].reason
    return returned.values.get("a", "missing")
