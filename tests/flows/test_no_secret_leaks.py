"""No secret of a channel is ever written or shown: a whole run of each kind, looked through.

Everything counts: logs at DEBUG, answers and pages, the audit trail, the admin's history and every
other row, the texts of exceptions with all that caused them, and what the commands print.
"""

import logging
from collections.abc import Iterator
from typing import Final

import pytest
from pytest_django import Settings

import audit.trail
from handoff.actions import channels
from handoff.actions.channels import checked_settings
from handoff.models import Channel
from handoff.models import Session as Handoff
from handoff.outbound import http
from handoff.outbound.smtp import Session
from handoff.transports import transport_class
from tests.fakes.examples import furnish
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.rude import Rude, RudeServer
from tests.fakes.smtp import SmtpServer
from tests.flows.leak_story import ECHOES, KINDS, PASSWORD, Echo, Run, begun, config_of
from tests.flows.overheard import overhearing

SILENCE: Final = 0.5
"""Seconds after which the desk has waited long enough here."""

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(params=KINDS)
def run(
    request: pytest.FixtureRequest,
    providers: Providers,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Run]:
    monkeypatch.setattr(channels, "TEST_SECONDS", SILENCE)
    settings.DISPATCH_SECONDS = 5.0
    settings.PUBLIC_BASE_URL = "https://desk.example.org"
    furnish(providers)
    refusal = f"550 5.7.1 {PASSWORD} is no password for this"
    with (
        overhearing() as ears,
        SmtpServer(login=("desk", PASSWORD), recipients={"echo@support.example": refusal}) as mail,
    ):
        kind: str = request.param
        yield begun(kind.partition(" ")[0], config_of(kind, mail.url), providers, ears)


def everything_works(run: Run) -> None:
    assert run.hand_over().startswith("Handed to Sales ")
    run.call("send")
    run.call("test")
    run.hear()
    run.press()
    run.change(**run.config)


def settings_are_wrong(run: Run) -> None:
    """In the shell, in the admin, and as they lie in the database."""
    secret_keys = transport_class(run.kind).settings_model.secret_keys
    broken = {key: f"{run.config.get(key, '')} \u2713 {{}}" for key in secret_keys}
    for config in ({**run.config, **broken}, {**run.config, "typo": str(run.config)}):
        run.new_channel(config)
        with pytest.raises(Exception, match=r".") as caught:
            checked_settings(run.kind, config)
        run.ears.error("checked settings", caught.value)
    run.new_channel(str(run.config))
    run.change(**broken)
    stored = run.channel.sealed_settings
    run.channel.keep_settings({**run.channel.opened_settings(), **broken, "typo": 1})
    for sealed in (run.channel.sealed_settings, "lost"):
        Channel.objects.filter(pk=run.channel.pk).update(sealed_settings=sealed)
        everything_is_tried(run)
    run.channel.sealed_settings = stored
    Channel.objects.filter(pk=run.channel.pk).update(sealed_settings=stored)


def provider_is_out_of_order(run: Run, settings: Settings) -> None:
    settings.DISPATCH_SECONDS = SILENCE
    out_of_order_and_talkative(run)
    if run.kind == "email":
        for mode in (Rude.SILENT, Rude.GARBAGE, Rude.BAD_GATEWAY):
            with RudeServer(mode, at_once=True) as server:
                run.change(smtp_url=f"smtp://desk:{PASSWORD}@127.0.0.1:{server.port}")
                everything_is_tried(run)
        run.change(smtp_url=str(run.config["smtp_url"]).replace(PASSWORD, f"{PASSWORD}!"))
        everything_is_tried(run)
        return
    page = f"<html>{run.config}</html>".encode()
    run.providers.script(run.kind, [FakeAnswer(401, body=page), FakeAnswer(502, body=page)] * 4)
    everything_is_tried(run)
    for mode, scheme in ((Rude.SILENT, "http"), (Rude.GARBAGE, "https"), (Rude.REDIRECT, "http")):
        with RudeServer(mode, at_once=scheme == "https") as server:
            base = f"{scheme}://127.0.0.1:{server.port}"
            setattr(settings, f"{run.kind.upper()}_API_BASE", base)
            everything_is_tried(run)


def out_of_order_and_talkative(run: Run) -> None:
    """The provider refuses, and repeats all that it was sent; then it is as before."""
    if run.kind == "email":
        run.change(to="echo@support.example")
        everything_is_tried(run)
        return
    run.providers.fakes[run.kind] = Echo(run.fake.prefix, ECHOES[run.kind])
    everything_is_tried(run)
    run.providers.fakes[run.kind] = run.fake


def everything_is_tried(run: Run) -> None:
    run.hand_over()
    run.call("send")
    run.call("test")
    run.hear()
    run.press()


def test_no_secret_is_written_or_shown(run: Run, settings: Settings) -> None:
    secrets = run.secrets
    assert secrets
    everything_works(run)
    settings_are_wrong(run)
    provider_is_out_of_order(run, settings)
    run.command("doctor")
    run.ears.rows()

    assert run.ears.where(secrets) == []
    written = {where.partition(" ")[0] for where, _ in run.ears.said}
    assert {"log", "table", "admin", "answer", "hook", "settings", "doctor", "a"} <= written
    capabilities = {run.desk.token, *Handoff.objects.values_list("release_token", flat=True)}
    kept = [
        (where, text)
        for where, text in run.ears.where(capabilities, masked=True)
        if where.startswith(("log ", "admin ", "table audit.", "table admin."))
    ]
    assert kept == []


def test_the_ears_hear(run: Run) -> None:
    """What would be a leak is found, wherever it stands."""
    [secret] = sorted(run.secrets & {*run.config.values(), PASSWORD})[:1]
    logging.getLogger("httpcore2.connection").debug("started url=%s", f"https://x/bot{secret}/y")
    Channel.objects.filter(pk=run.channel.pk).update(last_error_hint=f"wrong: {secret}")
    audit.trail.record("channel.tested", failure="fine", details={"said": secret})
    try:
        raise RuntimeError("outside") from KeyError(secret)
    except RuntimeError as error:
        run.ears.error("crash", error)
    run.press()
    run.ears.rows()
    found = {where.partition(":")[0] for where, _ in run.ears.where({secret})}
    assert {
        "log httpcore2.connection", "crash", "table audit.Event", "table handoff.Channel",
        "admin change",
    } <= found  # fmt: skip


def test_a_provider_that_repeats_what_it_was_sent_would_be_quoted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it not for what `outbound.http` and `outbound.smtp` leave out of an answer."""
    monkeypatch.setattr(http, "_without", lambda secrets, answer: answer)
    monkeypatch.setattr(Session, "_without_login", lambda session, reply: reply)
    out_of_order_and_talkative(run)
    run.ears.rows()
    assert {"a transport", "table audit.Event", "table handoff.Channel"} <= {
        where for where, _ in run.ears.where(run.secrets)
    }
