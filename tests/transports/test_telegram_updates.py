"""What is made of an update of Telegram: what a person said, a group that moved, or nothing."""

import datetime as dt
import json
from typing import Any

import pytest

from handoff.contract.commands import read_release
from handoff.transports.inbound import Moved, Said
from handoff.transports.telegram_hook import TelegramHook
from tests.fakes.telegram import BOT, GROUP, SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import MIA, Person, Post
from tests.transports.telegram_samples import channel, hooked, settings

TOKEN = "h7abcdefghijklmnop"
DISPATCH = Post(
    chat=SUPERGROUP,
    number=10,
    text="Nova asks",
    entities=(),
    buttons=(),
    topic=None,
    answers=None,
    previews=False,
)


@pytest.fixture
def chats() -> FakeTelegram:
    """Telegram's side alone: a chat, and the updates that it makes."""
    made = FakeTelegram()
    made.reads_all = True
    made.rooms[SUPERGROUP].last = 10
    return made


def heard(chats: FakeTelegram, **changes: Any) -> Said | None:
    """What is made of the one update that waits; it is taken in any case."""
    [update] = chats.waiting
    got = hooked(json.dumps(update).encode(), **changes)
    assert (got.answer.status, got.answer.body, got.refused, got.at_once) == (200, b"", "", False)
    if not got.events:
        return None
    [said] = got.events
    assert isinstance(said, Said)
    return said


def said(chats: FakeTelegram, **changes: Any) -> Said:
    found = heard(chats, **changes)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "kind", ["edited_message", "channel_post", "edited_channel_post", "business_message"]
)
def test_only_new_messages_count(chats: FakeTelegram, kind: str) -> None:
    """An edit must not release."""
    message = chats.write(f"/release {TOKEN}")
    chats.waiting.clear()
    chats.update(**{kind: message})
    assert heard(chats) is None


def test_a_message_in_the_chat_with_the_bot(chats: FakeTelegram) -> None:
    message = chats.write("It is lost.\nI am sorry.", date=1_796_040_000)
    found = said(chats)
    update_id = chats.waiting[0]["update_id"]
    assert found == Said(
        keys=(str(update_id),),
        account=str(MIA.id),
        at=dt.datetime.fromtimestamp(1_796_040_000, dt.UTC),
        sender_id=str(MIA.id),
        sender_name="Mia",
        text="It is lost.\nI am sorry.",
        place=str(MIA.id),
        message_id=f"{MIA.id}:{message['message_id']}",
        only_one=True,
    )
    assert channel().accepts(found, recipients=frozenset())


def test_an_answer_in_a_group_names_the_message_and_the_thread(chats: FakeTelegram) -> None:
    chats.write("It is lost.", chat=SUPERGROUP, under=DISPATCH)
    found = said(chats)
    assert found.replies_to == (f"{SUPERGROUP}:10",)
    assert found.thread_key == f"{SUPERGROUP}:10"
    assert found.only_one


def test_an_answer_to_a_colleague_stands_in_the_thread_and_means_no_other(
    chats: FakeTelegram,
) -> None:
    first = chats.write("It is lost.", chat=SUPERGROUP, under=DISPATCH)
    chats.waiting.clear()
    chats.write("No, it is found.", chat=SUPERGROUP, under=first, by=Person(id=5, first_name="Bo"))
    found = said(chats)
    assert found.replies_to == (f"{SUPERGROUP}:{first['message_id']}",)
    assert found.thread_key == f"{SUPERGROUP}:10"
    assert not found.only_one
    assert (found.sender_id, found.sender_name) == ("5", "Bo")


def test_in_a_topic_its_beginning_is_no_message_that_is_answered(chats: FakeTelegram) -> None:
    chats.rooms[SUPERGROUP].topics = {7}
    chats.write("It is lost.", chat=SUPERGROUP, topic=7)
    found = said(chats)
    assert (found.replies_to, found.thread_key) == ((), "")
    assert found.place == f"{SUPERGROUP}/7"
    assert channel(chat_id=SUPERGROUP, topic_id=7).accepts(found, recipients=frozenset())
    for others in ({"topic_id": 8}, {"topic_id": None}, {"topic_id": 1}):
        other = channel(chat_id=SUPERGROUP, **others)
        assert not other.accepts(found, recipients=frozenset())


def test_in_a_topic_an_answer_names_its_message(chats: FakeTelegram) -> None:
    chats.rooms[SUPERGROUP].topics = {7}
    chats.write("It is lost.", chat=SUPERGROUP, topic=7, under=DISPATCH)
    assert said(chats).replies_to == (f"{SUPERGROUP}:10",)


def test_another_chat_is_not_ours(chats: FakeTelegram) -> None:
    chats.write("It is lost.", chat=GROUP)
    found = said(chats)
    assert found.account == str(GROUP)
    assert not channel().accepts(found, recipients=frozenset())
    assert TelegramHook(settings()).account() == str(MIA.id)


def test_channels_of_one_bot_hear_for_each_other() -> None:
    hook = TelegramHook(settings())
    assert hook.shares_secret(settings(chat_id=GROUP, webhook_secret="another"))
    assert not hook.shares_secret(settings(bot_token="999:AAE-another-bot"))


def test_another_bot_is_nobody_and_an_anonymous_administrator_somebody(
    chats: FakeTelegram,
) -> None:
    robot = Person(id=1087968824, first_name="Group", is_bot=True, username="GroupAnonymousBot")
    chats.write("beep", chat=SUPERGROUP, by=robot)
    assert heard(chats) is None
    chats.waiting.clear()
    crew = chats.rooms[SUPERGROUP].as_json()
    chats.write("It is lost.", chat=SUPERGROUP, by=robot, sender_chat=crew)
    found = said(chats)
    assert (found.sender_id, found.sender_name) == (str(SUPERGROUP), "Support crew")


def test_a_post_of_the_groups_channel_is_nobodys_answer(chats: FakeTelegram) -> None:
    news = {"id": -1009, "type": "channel", "title": "News"}
    chats.write("News!", chat=SUPERGROUP, sender_chat=news, is_automatic_forward=True)
    assert heard(chats) is None


@pytest.mark.parametrize(
    ("keys", "text", "files"),
    [
        ({"photo": [{"file_id": "x"}], "caption": "Look at this."}, "Look at this.", 1),
        ({"voice": {"file_id": "x"}}, "", 1),
        ({"sticker": {"emoji": "👍"}}, "", 1),
        ({"location": {"latitude": 1, "longitude": 2}}, "", 1),
    ],
)
def test_files_are_counted_and_their_words_kept(
    chats: FakeTelegram, keys: dict[str, Any], text: str, files: int
) -> None:
    chats.write(**keys)
    found = said(chats)
    assert (found.text, found.attachments) == (text, files)


@pytest.mark.parametrize(
    "keys",
    [
        {"new_chat_members": [MIA.as_json()]},
        {"left_chat_member": BOT.as_json()},
        {"pinned_message": {"message_id": 1}},
        {"forum_topic_created": {"name": "Orders"}},
        {"new_chat_title": "Other"},
    ],
)
def test_what_happens_to_a_group_is_nothing_said(chats: FakeTelegram, keys: dict[str, Any]) -> None:
    chats.write(chat=SUPERGROUP, **keys)
    assert heard(chats) is None


@pytest.mark.parametrize(
    "text",
    [
        f"/release {TOKEN}",
        f"/release@{BOT.username} {TOKEN} all is well",
        f"/RELEASE@{BOT.username.upper()} {TOKEN}",
        f"!release {TOKEN}",
        f"release {TOKEN}",
        "/release",
        "/release nonsense",
    ],
)
def test_a_release_is_passed_on_as_it_was_typed(chats: FakeTelegram, text: str) -> None:
    chats.write(text)
    found = said(chats, bot_username=BOT.username)
    assert found.text == text
    assert read_release(found.text) is not None


@pytest.mark.parametrize(
    "text",
    [
        f"/release@OtherBot {TOKEN}",
        f"/release@{BOT.username}2 {TOKEN}",
        "/start",
        "/start deep-link",
        f"/help@{BOT.username}",
        "/weather@OtherBot Berlin",
    ],
)
def test_what_is_for_another_bot_or_no_person_is_nothing(chats: FakeTelegram, text: str) -> None:
    chats.write(text)
    assert heard(chats, bot_username=BOT.username) is None


def test_the_bots_name_is_read_from_its_message_as_well(chats: FakeTelegram) -> None:
    chats.write(f"/release@OtherBot {TOKEN}", chat=SUPERGROUP, under=DISPATCH)
    assert heard(chats) is None
    chats.waiting.clear()
    chats.write(f"/release@{BOT.username} {TOKEN}", chat=SUPERGROUP, under=DISPATCH)
    assert heard(chats) is not None


def test_as_long_as_the_bots_name_is_unknown_the_token_decides(chats: FakeTelegram) -> None:
    chats.write(f"/release@{BOT.username} {TOKEN}")
    assert heard(chats) is not None


@pytest.mark.parametrize("text", ["/etc/hosts is wrong", "/", "// a comment", "a /start b", "/ x"])
def test_a_slash_alone_is_no_command(chats: FakeTelegram, text: str) -> None:
    chats.write(text)
    assert said(chats, bot_username=BOT.username).text == text


def test_a_group_that_moved_says_so_twice_and_it_counts_once(chats: FakeTelegram) -> None:
    chats.upgrade()
    events: list[object] = []
    for update in chats.waiting:
        events += hooked(json.dumps(update).encode(), chat_id=GROUP).events
    first, second = events
    assert isinstance(first, Moved)
    assert isinstance(second, Moved)
    assert first.settings == second.settings == {"chat_id": str(SUPERGROUP)}
    assert first.account == second.account == str(GROUP)
    assert first.keys[0] != second.keys[0]
    assert first.keys[1] == second.keys[1], "the second is a repeat of the first"
    assert first.old_prefix == first.new_prefix == f"{GROUP}:", "its messages are not renumbered"


def test_names_and_texts_come_clean(chats: FakeTelegram) -> None:
    eve = Person(id=6, first_name="Eve\u202e\n[admin]", last_name="x" * 200)
    chats.write("a\r\nb\x07c\u0085", chat=SUPERGROUP, by=eve)
    found = said(chats)
    assert found.sender_name.startswith("Eve  (admin) xxx")
    assert len(found.sender_name) == 80
    assert found.text == "a\nb\ufffdc\ufffd"
