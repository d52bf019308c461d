"""Test and “Connect replies” of a Telegram channel."""

import time

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.base import TestReport
from tests.fakes.providers import Providers
from tests.fakes.rude import Rude
from tests.fakes.telegram import BOT_TOKEN, GROUP, SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import Person, Room
from tests.transports.telegram_samples import SECRET, channel

HOOK = "https://desk.example.org/hooks/telegram/5f1d4c4e-0000-4000-8000-000000000000/"
PRESS = "Press “Connect replies” on the channel's page."


@pytest.fixture(autouse=True)
def _public_address(settings: Settings) -> None:
    settings.PUBLIC_BASE_URL = "https://desk.example.org"


def report_of(**changes: object) -> TestReport:
    report = channel(**changes).test(deadline=time.monotonic() + 5)
    words = " ".join(report.lines)
    assert BOT_TOKEN.partition(":")[2] not in words
    assert SECRET not in words
    return report


def connect(hook_url: str = HOOK, **changes: object) -> TestReport:
    return channel(**changes).set_up("replies", hook_url=hook_url, deadline=time.monotonic() + 5)


def test_once_replies_are_connected_all_is_well(telegram: FakeTelegram) -> None:
    assert connect() == TestReport(works=True, lines=(f"Telegram now posts replies to {HOOK}",))
    assert (telegram.webhook.url, telegram.webhook.secret_token) == (HOOK, SECRET)
    assert report_of() == TestReport(
        works=True,
        lines=(
            "The token is good: the bot is @handoff_desk_bot.",
            "Messages go to Mia, in the chat with the bot.",
        ),
    )
    assert telegram.posts == []


def test_only_messages_are_asked_for_and_none_is_thrown_away(
    providers: Providers, telegram: FakeTelegram
) -> None:
    telegram.write("It is lost.")
    connect()
    [asked] = providers.requests("telegram", path="setWebhook")
    assert asked.json()["allowed_updates"] == ["message"]
    assert len(telegram.waiting) == 1


def test_before_that_it_says_what_to_press(telegram: FakeTelegram) -> None:
    report = report_of()
    assert not report.works
    assert report.lines[-1].startswith("Telegram is not told yet where to post")
    assert report.lines[-1].endswith(PRESS)


def test_another_systems_webhook_is_named_by_its_host_alone(telegram: FakeTelegram) -> None:
    telegram.webhook.url = "https://n8n.example.net/webhook/its-secret-path"
    report = report_of()
    assert not report.works
    words = " ".join(report.lines)
    assert "n8n.example.net" in words
    assert "its-secret-path" not in words
    assert PRESS in words


def test_what_telegram_could_not_post_is_said(telegram: FakeTelegram) -> None:
    connect()
    telegram.write("It is lost.")
    telegram.webhook.last_error = "Wrong response from the webhook: 403 Forbidden"
    report = report_of()
    assert not report.works
    assert report.lines[-2:] == (
        (
            "Telegram could not post to this desk at last: "
            "Wrong response from the webhook: 403 Forbidden."
        ),
        f"It has an old secret. {PRESS}",
    )
    telegram.waiting.clear()
    assert report_of().works, "it is over"


def test_without_a_public_address_the_other_mode_is_named(
    telegram: FakeTelegram, settings: Settings
) -> None:
    settings.PUBLIC_BASE_URL = ""
    assert not report_of().works
    assert "mode poll" in report_of().lines[-1]
    assert connect("").lines == report_of().lines[-1:]


@pytest.mark.parametrize(
    "url",
    [
        "http://desk.example.org/hooks/telegram/x/",
        "https://desk.example.org:8000/hooks/telegram/x/",
        "https://desk/hooks/telegram/x/",
    ],
)
def test_an_address_that_telegram_does_not_post_to_is_explained(
    telegram: FakeTelegram, url: str
) -> None:
    with pytest.raises(TransportError) as caught:
        connect(url)
    assert caught.value.kind is Kind.BAD_FORMAT
    assert "port 443, 80, 88 or 8443" in caught.value.hint
    assert url not in caught.value.operator_detail


def test_in_mode_poll_a_webhook_stands_in_the_way_until_it_is_taken_back(
    telegram: FakeTelegram,
) -> None:
    connect()
    report = report_of(mode="poll")
    assert not report.works
    assert report.lines[-1] == PRESS
    assert connect(mode="poll").works
    assert telegram.webhook.url == ""
    assert report_of(mode="poll").works


def test_a_button_that_there_is_not_is_none(telegram: FakeTelegram) -> None:
    with pytest.raises(KeyError):
        channel().set_up("other", hook_url=HOOK, deadline=time.monotonic() + 5)


def test_a_person_must_press_start_and_whoever_wrote_is_listed(telegram: FakeTelegram) -> None:
    eve = Person(id=77, first_name="Eve")
    telegram.rooms[77] = Room(id=77, first_name="Eve")
    telegram.write("/start", chat=77, by=eve)
    telegram.write("/start@handoff_desk_bot", chat=SUPERGROUP)
    report = report_of(chat_id=1)
    assert not report.works
    words = " ".join(report.lines)
    assert "press Start first" in words
    assert f"The bot was written to from: {SUPERGROUP} (Support crew), 77 (Eve)." in words
    assert len(telegram.waiting) == 2, "looking forgets none"


@pytest.mark.parametrize("state", ["nobody wrote", "webhook", "poll", "rival"])
def test_otherwise_nobody_is_listed(
    telegram: FakeTelegram, providers: Providers, state: str
) -> None:
    if state == "webhook":
        connect()
    telegram.rival = state == "rival"
    report = report_of(chat_id=1, mode="poll" if state == "poll" else "webhook")
    assert not report.works
    assert "written to from" not in " ".join(report.lines)
    asked = len(providers.requests("telegram", path="getUpdates"))
    assert asked == (state in ("nobody wrote", "rival"))


def test_a_group_is_told_of_its_privacy(telegram: FakeTelegram) -> None:
    connect()
    hears_little = report_of(chat_id=GROUP)
    assert hears_little.works
    assert "Messages go to the group “Support”." in hears_little.lines
    assert any(line.startswith("Group Privacy is on") for line in hears_little.lines)
    telegram.reads_all = True
    hears_all = report_of(chat_id=GROUP)
    assert any("may go to the visitor" in line for line in hears_all.lines)
    assert any("/setprivacy" in line for line in hears_all.lines)


def test_topics_are_told_as_they_are(telegram: FakeTelegram) -> None:
    connect()
    without = report_of(chat_id=SUPERGROUP, topic_id=7)
    assert "The group has no topics: leave topic_id empty." in without.lines
    telegram.rooms[SUPERGROUP].topics = {7}
    assert any("General" in line for line in report_of(chat_id=SUPERGROUP).lines)
    assert any("shows when" in line for line in report_of(chat_id=SUPERGROUP, topic_id=7).lines)


def test_a_channel_of_telegram_is_none_for_us(telegram: FakeTelegram) -> None:
    connect()
    telegram.rooms[-1005] = Room(id=-1005, type="channel", title="News")
    report = report_of(chat_id=-1005)
    assert not report.works
    assert "Nobody can answer in a channel" in report.lines[-1]


@pytest.mark.parametrize(
    ("room", "words"),
    [
        ({"refuses": "bot was kicked from the group chat"}, "add it again"),
        ({"moved_to": SUPERGROUP}, str(SUPERGROUP)),
    ],
)
def test_a_group_that_is_lost_says_what_to_do(
    telegram: FakeTelegram, room: dict[str, object], words: str
) -> None:
    connect()
    for key, value in room.items():
        setattr(telegram.rooms[GROUP], key, value)
    report = report_of(chat_id=GROUP)
    assert not report.works
    assert words in report.lines[-1]


def test_a_bad_token_ends_the_test_with_what_to_do(telegram: FakeTelegram) -> None:
    report = channel(bot_token="999:AAE-handoff_test_token_of_nobody_at_all").test(
        deadline=time.monotonic() + 5
    )
    assert report.lines == (
        "Stopped there: Telegram refused with 401: Unauthorized.",
        (
            "Telegram does not take bot_token: ask BotFather for it with /mybots, API Token, and "
            "enter it again."
        ),
    )


def test_a_silent_telegram_ends_the_test_in_time(
    providers: Providers, telegram: FakeTelegram
) -> None:
    providers.script("telegram", [Rude.SILENT])
    started = time.monotonic()
    report = channel().test(deadline=started + 1)
    assert time.monotonic() - started < 2
    assert not report.works
