"""What an owner is mailed about a handoff that nobody has looked at, built from rows."""

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Now
from django.urls import reverse

from handoff.contract.kinds import Urgency
from handoff.models import Alert, Session
from handoff.transports.owner_mail import OwnerAlert


def alerts() -> QuerySet[Alert]:
    """Alerts with what their letters need, and the age of the handoff by the database's clock."""
    return Alert.objects.select_related(
        "owner", "session__agent", "session__channel", "session__conversation", "session__target"
    ).annotate(
        age=ExpressionWrapper(Now() - F("session__created_at"), output_field=DurationField())
    )


def letter(row: Alert) -> OwnerAlert:
    """`row` comes from `alerts()`."""
    session, channel = row.session, row.session.channel
    return OwnerAlert(
        address=row.owner.email,
        session=session.public_id,
        number=row.pk,
        agent_name=str(session.agent),
        channel_label=channel.label,
        urgency=Urgency(session.urgency),
        minutes=max(1, int(row.age.total_seconds() // 60)),  # type: ignore[attr-defined]
        asked_by_owner=row.number > 0,
        page=_page(session),
        language=channel.language,
    )


def _page(session: Session) -> str:
    if not settings.PUBLIC_BASE_URL:
        return ""
    if session.conversation is not None:
        path = reverse("inbox:conversation", args=[session.conversation.public_id])
    else:
        path = reverse("inbox:handoff", args=[session.public_id])
    return f"{settings.PUBLIC_BASE_URL}{path}"
