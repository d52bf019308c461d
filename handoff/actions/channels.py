"""Makes, changes and tests channels, and keeps what is known of their health."""

import secrets
import time
from collections.abc import Mapping
from typing import Any, Final

import pydantic
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.db.models.functions import Now

import audit.trail
from handoff import links
from handoff.actions.channel_options import OPTIONS, checked_options
from handoff.actions.writing import nudge_on_commit, writing
from handoff.contract.kinds import ChannelKind, TransportErrorKind
from handoff.contract.wording import problems_of
from handoff.errors import TransportError
from handoff.models import Agent, Channel
from handoff.models.sealed import Unreadable
from handoff.selectors.channels import NO_OWNER, deserted
from handoff.transports import carried, transport_class
from handoff.transports.base import TestReport, Transport, TransportSettings

TEST_SECONDS: Final = 15.0
_PERMANENT: Final = frozenset(
    {TransportErrorKind.AUTH, TransportErrorKind.PERMISSION, TransportErrorKind.NOT_FOUND}
)
_LOST_KIND: Final = (
    "This desk carries no channels of this kind any more; name their class in HANDOFF_TRANSPORTS."
)
_LOST_KEYS: Final = "The stored credentials cannot be read any more; enter them again."


def create_channel(
    agent: Agent, *, kind: str, label: str, config: dict[str, Any], actor: str
) -> Channel:
    """A new channel from its settings and options; raises ValidationError with all problems."""
    channel = Channel(agent=agent, kind=kind, label=label)
    return _keep(channel, config, action="channel.created", actor=actor)


def change_channel(channel: Channel, *, config: dict[str, Any], actor: str) -> Channel:
    """Replace settings and options of a channel; raises ValidationError with all problems.

    A new label is set on `channel` before.
    """
    return _keep(channel, config, action="channel.changed", actor=actor)


def checked_settings(kind: str, settings: dict[str, Any]) -> TransportSettings:
    """The typed settings of a kind; raises ValidationError naming every bad key."""
    if kind not in carried():
        known = ", ".join(sorted(carried()))
        raise ValidationError({"kind": f"“{kind}” is not a kind of channel. Known: {known}."})
    try:
        return transport_class(kind).settings_model.model_validate(settings)
    except pydantic.ValidationError as error:
        raise ValidationError(
            [f"{item['field']}: {item['problem']}" for item in problems_of(error)]
        ) from error


def _keep(channel: Channel, config: dict[str, Any], *, action: str, actor: str) -> Channel:
    problems: list[ValidationError] = []
    are_others = False
    settings = {key: value for key, value in config.items() if key not in OPTIONS}
    settings |= _made(channel.kind, settings)
    try:
        options = checked_options({key: config[key] for key in OPTIONS if key in config})
    except ValidationError as error:
        problems.append(error)
    else:
        for key, value in options.items():
            setattr(channel, key, value)
    try:
        typed = checked_settings(channel.kind, settings)
        values = typed.model_dump(mode="json", exclude_none=True)
        are_others = _stored(channel) != values
        channel.keep_settings(values)
        channel.target = _target(channel, typed)
    except ValidationError as error:
        problems.append(error)
    try:
        channel.full_clean()
    except ValidationError as error:
        problems.append(error)
    if problems:
        raise ValidationError([message for error in problems for message in _messages(error)])
    with writing():
        # a dispatch that runs meanwhile writes the health of the same row
        changed = (
            None if channel._state.adding else ("label", "sealed_settings", "target", *OPTIONS)
        )
        channel.save(update_fields=changed)
        if are_others:  # what was found out about the old ones says nothing about these
            Channel.objects.filter(pk=channel.pk).update(last_error_kind="")
        nudge_on_commit("work")  # hops through it may have to end
        audit.trail.record(
            action,
            actor=actor,
            agent=channel.agent.name,
            channel=channel.pk,
            details={"kind": channel.kind, "keys": sorted(config)},
        )
    return channel


def _stored(channel: Channel) -> dict[str, Any] | None:
    try:
        return channel.opened_settings()
    except Unreadable:
        return None


def _target(channel: Channel, settings: TransportSettings) -> Agent | None:
    """The agent that a channel of the kind `agent` names; one sentence for all that can't be."""
    name = getattr(settings, "agent", None) if channel.kind == ChannelKind.AGENT else None
    if name is None:
        return None
    found = Agent.objects.filter(name=name).exclude(pk=channel.agent_id).first()
    if found is None:
        raise ValidationError(["agent: must name another agent of this desk"])
    return found


def _made(kind: str, given: Mapping[str, Any]) -> dict[str, str]:
    """A secret for each key of the kind that we make and nobody gave."""
    if kind not in carried():
        return {}
    wanted = transport_class(kind).settings_model.made_keys
    return {key: secrets.token_urlsafe(32) for key in sorted(wanted) if not given.get(key)}


def keep_changed(channel: Channel, changed: Mapping[str, Any] | None) -> None:
    """Keep settings that a provider changed with its answer; what it can't read stays as it is.

    Inside `writing()`.
    """
    if not changed:
        return
    row = Channel.objects.select_for_update(no_key=True).get(pk=channel.pk)
    try:
        was = row.opened_settings()
        typed = checked_settings(row.kind, {**was, **changed})
    except (Unreadable, ValidationError):
        return
    row.keep_settings(typed.model_dump(mode="json", exclude_none=True))
    row.save(update_fields=["sealed_settings"])
    audit.trail.record(
        "channel.migrated",
        agent=row.agent.name,
        channel=row.pk,
        details={"kind": row.kind, "keys": sorted(changed)},
    )


def _messages(error: ValidationError) -> list[str]:
    if hasattr(error, "error_dict"):
        return [f"{key}: {text}" for key, texts in error.message_dict.items() for text in texts]
    return list(error.messages)


def open_transport(channel: Channel) -> Transport[Any]:
    """The channel's transport with its typed settings; raises TransportError when unreadable."""
    if channel.kind not in carried():
        raise TransportError(TransportErrorKind.AUTH, _LOST_KIND, hint=_LOST_KIND)
    try:
        found = transport_class(channel.kind)
        return found(found.settings_model.model_validate(channel.opened_settings()))
    except Unreadable as error:
        raise TransportError(TransportErrorKind.AUTH, _LOST_KEYS, hint=_LOST_KEYS) from error
    except pydantic.ValidationError as error:
        names = ", ".join(sorted({item["field"] for item in problems_of(error)}))
        hint = f"Open the channel in the admin and correct: {names}."
        raise TransportError(TransportErrorKind.AUTH, hint, hint=hint) from error


def sending_transport(channel: Channel) -> Transport[Any]:
    """The same, to send with; raises TransportError where what it would call is gone for good.

    Other settings, or a test that works, give it another chance.
    """
    transport = open_transport(channel)
    gone = TransportErrorKind.NOT_FOUND
    if transport.not_found_is_final and not channel.healthy and channel.last_error_kind == gone:
        raise TransportError(
            gone, "not called: the provider did not find it before", hint=channel.last_error_hint
        )
    return transport


def run_test(channel: Channel, *, actor: str) -> TestReport:
    """Ask the provider whether the settings work; a success heals the channel."""
    if deserted(Channel.objects.filter(pk=channel.pk)).exists():
        with writing():
            _tested(channel, works=False, actor=actor)
        return TestReport(works=False, lines=(NO_OWNER,))
    try:
        report = open_transport(channel).test(deadline=time.monotonic() + TEST_SECONDS)
    except TransportError as error:
        report = TestReport(works=False, lines=(error.hint or error.operator_detail,))
        with writing():
            note_failure(channel, error)
            _tested(channel, works=False, actor=actor)
        return report
    with writing():
        if report.works:
            note_success(channel)
        _tested(channel, works=report.works, actor=actor)
    return report


def run_set_up(channel: Channel, key: str, *, actor: str) -> TestReport:
    """Do one of the kind's `set_ups` at the provider; raises KeyError for one that it has not."""
    try:
        transport = open_transport(channel)
        report = transport.set_up(
            key,
            hook_url=links.hook_url(channel.kind, channel.uuid),
            deadline=time.monotonic() + TEST_SECONDS,
        )
    except TransportError as error:
        report = TestReport(works=False, lines=(error.hint or error.operator_detail,))
        with writing():
            note_failure(channel, error)
            _set_up(channel, key, works=False, actor=actor)
        return report
    with writing():
        _set_up(channel, key, works=report.works, actor=actor)
    return report


def _set_up(channel: Channel, key: str, *, works: bool, actor: str) -> None:
    audit.trail.record(
        "channel.changed",
        actor=actor,
        agent=channel.agent.name,
        channel=channel.pk,
        details={"kind": channel.kind, "set_up": key, "works": works},
    )


def _tested(channel: Channel, *, works: bool, actor: str) -> None:
    audit.trail.record(
        "channel.tested",
        actor=actor,
        agent=channel.agent.name,
        channel=channel.pk,
        details={"works": works},
    )


def note_success(channel: Channel) -> None:
    """The provider took something: remember it, and heal the channel. Inside `writing()`."""
    ill = Channel.objects.filter(pk=channel.pk, healthy=False)
    healed = ill.update(healthy=True, unhealthy_since=None)
    Channel.objects.filter(pk=channel.pk).update(last_success_at=Now())
    if healed:
        audit.trail.record("channel.healed", agent=channel.agent.name, channel=channel.pk)


def note_failure(channel: Channel, error: TransportError) -> None:
    """Remember a failure; a permanent one takes the channel out of use. Inside `writing()`."""
    mine = Channel.objects.filter(pk=channel.pk)
    mine.update(
        last_error_at=Now(),
        last_error_kind=error.kind,
        last_error_detail=audit.trail.redact(error.operator_detail),
        last_error_hint=error.hint[:400],
    )
    if error.kind not in _PERMANENT:
        return
    fell_ill = mine.filter(healthy=True).exists()
    mine.filter(Q(healthy=True) | Q(unhealthy_since__lt=Now())).update(
        healthy=False, unhealthy_since=Now()
    )
    if fell_ill:
        audit.trail.record(
            "channel.unhealthy",
            agent=channel.agent.name,
            channel=channel.pk,
            reason=error.kind,
            failure=error.operator_detail,
        )
