"""Telegram's webhook: believed by its secret alone, and read down to what a person said."""

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff.contract.commands import read_release
from handoff.transports.inbound import HookCall, Moved, Received, Said
from handoff.transports.telegram_hook import TelegramHook
from tests.fakes.telegram import BOT, GROUP, SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import MIA, Person, Post
from tests.transports.telegram_samples import SECRET, channel, settings

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
def telegram() -> FakeTelegram:
    """Telegram's side alone: a chat, and the updates that it makes."""
    made = FakeTelegram()
    made.reads_all = True
    made.rooms[SUPERGROUP].last = 10
    return made


def hooked(body: bytes, *, secret: str | None = SECRET, **changes: Any) -> Received:
    header = {} if secret is None else {"x-telegram-bot-api-secret-token": secret}
    call = HookCall(method="POST", headers=header, query={}, body=body, at=1_796_040_000)
    return TelegramHook(settings(**changes)).receive(call)


def heard(telegram: FakeTelegram, **changes: Any) -> Said | None:
    """What is made of the one update that waits; it is taken in any case."""
    [update] = telegram.waiting
    got = hooked(json.dumps(update).encode(), **changes)
    assert (got.answer.status, got.answer.body, got.refused, got.at_once) == (200, b"", "", False)
    if not got.events:
        return None
    [said] = got.events
    assert isinstance(said, Said)
    return said


def said(telegram: FakeTelegram, **changes: Any) -> Said:
    found = heard(telegram, **changes)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "secret", [None, "", "handoff-test_secre", "handoff-test_secret2", "HANDOFF-TEST_SECRET", "ä"]
)
def test_without_the_secret_nothing_is_believed(telegram: FakeTelegram, secret: str | None) -> None:
    telegram.write("It is lost.")
    got = hooked(json.dumps(telegram.waiting[0]).encode(), secret=secret)
    assert (got.answer.status, got.answer.body, got.events) == (403, b"", ())
    assert got.refused == "bad_secret"


def test_a_channel_without_a_secret_believes_nobody(telegram: FakeTelegram) -> None:
    telegram.write("It is lost.")
    body = json.dumps(telegram.waiting[0]).encode()
    for secret in (None, "", SECRET):
        assert hooked(body, secret=secret, webhook_secret=None).answer.status == 403


def test_it_is_only_posted_to() -> None:
    header = {"x-telegram-bot-api-secret-token": SECRET}
    call = HookCall(method="GET", headers=header, query={}, body=b"", at=0)
    answer = TelegramHook(settings()).receive(call).answer
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"a": 1, "a": 2}', b"[" * 99, b'"\\ud800"', b"NaN"]
)
def test_what_cannot_be_read_is_taken_so_that_it_does_not_come_again(body: bytes) -> None:
    got = hooked(body)
    assert (got.answer.status, got.events, got.refused) == (200, (), "unreadable")


@pytest.mark.parametrize(
    "update",
    [
        [],
        "x",
        None,
        {},
        {"update_id": 1},
        {"update_id": "1", "message": {}},
        {"update_id": 1, "message": {"message_id": 1}},
        {"update_id": 1, "message": {"message_id": 1, "chat": {"id": 10**30}, "text": "x"}},
        {"update_id": 10**30, "message": {"message_id": 1, "chat": {"id": 1}, "text": "x"}},
        {"update_id": 1, "message": {"message_id": 1, "chat": {"id": 1}, "text": ["x"]}},
        {"update_id": 1, "poll": {"id": "1"}},
    ],
)
def test_what_is_no_message_is_taken_and_is_nothing(update: object) -> None:
    got = hooked(json.dumps(update).encode())
    assert (got.answer.status, got.events, got.refused) == (200, (), "")


@pytest.mark.parametrize(
    "kind", ["edited_message", "channel_post", "edited_channel_post", "business_message"]
)
def test_only_new_messages_count(telegram: FakeTelegram, kind: str) -> None:
    """An edit must not release."""
    message = telegram.write(f"/release {TOKEN}")
    telegram.waiting.clear()
    telegram.update(**{kind: message})
    assert heard(telegram) is None


def test_a_message_in_the_chat_with_the_bot(telegram: FakeTelegram) -> None:
    message = telegram.write("It is lost.\nI am sorry.", date=1_796_040_000)
    found = said(telegram)
    update_id = telegram.waiting[0]["update_id"]
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


def test_an_answer_in_a_group_names_the_message_and_the_thread(telegram: FakeTelegram) -> None:
    telegram.write("It is lost.", chat=SUPERGROUP, under=DISPATCH)
    found = said(telegram)
    assert found.replies_to == (f"{SUPERGROUP}:10",)
    assert found.thread_key == f"{SUPERGROUP}:10"
    assert found.only_one


def test_an_answer_to_a_colleague_stands_in_the_thread_and_means_no_other(
    telegram: FakeTelegram,
) -> None:
    first = telegram.write("It is lost.", chat=SUPERGROUP, under=DISPATCH)
    telegram.waiting.clear()
    telegram.write(
        "No, it is found.", chat=SUPERGROUP, under=first, by=Person(id=5, first_name="Bo")
    )
    found = said(telegram)
    assert found.replies_to == (f"{SUPERGROUP}:{first['message_id']}",)
    assert found.thread_key == f"{SUPERGROUP}:10"
    assert not found.only_one
    assert (found.sender_id, found.sender_name) == ("5", "Bo")


def test_in_a_topic_its_beginning_is_no_message_that_is_answered(telegram: FakeTelegram) -> None:
    telegram.rooms[SUPERGROUP].topics = {7}
    telegram.write("It is lost.", chat=SUPERGROUP, topic=7)
    found = said(telegram)
    assert (found.replies_to, found.thread_key) == ((), "")
    assert found.place == f"{SUPERGROUP}/7"
    assert channel(chat_id=SUPERGROUP, topic_id=7).accepts(found, recipients=frozenset())
    for others in ({"topic_id": 8}, {"topic_id": None}, {"topic_id": 1}):
        other = channel(chat_id=SUPERGROUP, **others)
        assert not other.accepts(found, recipients=frozenset())


def test_in_a_topic_an_answer_names_its_message(telegram: FakeTelegram) -> None:
    telegram.rooms[SUPERGROUP].topics = {7}
    telegram.write("It is lost.", chat=SUPERGROUP, topic=7, under=DISPATCH)
    assert said(telegram).replies_to == (f"{SUPERGROUP}:10",)


def test_another_chat_is_not_ours(telegram: FakeTelegram) -> None:
    telegram.write("It is lost.", chat=GROUP)
    found = said(telegram)
    assert found.account == str(GROUP)
    assert not channel().accepts(found, recipients=frozenset())
    assert TelegramHook(settings()).account() == str(MIA.id)


def test_channels_of_one_bot_hear_for_each_other() -> None:
    hook = TelegramHook(settings())
    assert hook.shares_secret(settings(chat_id=GROUP, webhook_secret="another"))
    assert not hook.shares_secret(settings(bot_token="999:AAE-another-bot"))


def test_another_bot_is_nobody_and_an_anonymous_administrator_somebody(
    telegram: FakeTelegram,
) -> None:
    robot = Person(id=1087968824, first_name="Group", is_bot=True, username="GroupAnonymousBot")
    telegram.write("beep", chat=SUPERGROUP, by=robot)
    assert heard(telegram) is None
    telegram.waiting.clear()
    crew = telegram.rooms[SUPERGROUP].as_json()
    telegram.write("It is lost.", chat=SUPERGROUP, by=robot, sender_chat=crew)
    found = said(telegram)
    assert (found.sender_id, found.sender_name) == (str(SUPERGROUP), "Support crew")


def test_a_post_of_the_groups_channel_is_nobodys_answer(telegram: FakeTelegram) -> None:
    news = {"id": -1009, "type": "channel", "title": "News"}
    telegram.write("News!", chat=SUPERGROUP, sender_chat=news, is_automatic_forward=True)
    assert heard(telegram) is None


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
    telegram: FakeTelegram, keys: dict[str, Any], text: str, files: int
) -> None:
    telegram.write(**keys)
    found = said(telegram)
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
def test_what_happens_to_a_group_is_nothing_said(
    telegram: FakeTelegram, keys: dict[str, Any]
) -> None:
    telegram.write(chat=SUPERGROUP, **keys)
    assert heard(telegram) is None


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
def test_a_release_is_passed_on_as_it_was_typed(telegram: FakeTelegram, text: str) -> None:
    telegram.write(text)
    found = said(telegram, bot_username=BOT.username)
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
def test_what_is_for_another_bot_or_no_person_is_nothing(telegram: FakeTelegram, text: str) -> None:
    telegram.write(text)
    assert heard(telegram, bot_username=BOT.username) is None


def test_the_bots_name_is_read_from_its_message_as_well(telegram: FakeTelegram) -> None:
    telegram.write(f"/release@OtherBot {TOKEN}", chat=SUPERGROUP, under=DISPATCH)
    assert heard(telegram) is None
    telegram.waiting.clear()
    telegram.write(f"/release@{BOT.username} {TOKEN}", chat=SUPERGROUP, under=DISPATCH)
    assert heard(telegram) is not None


def test_as_long_as_the_bots_name_is_unknown_the_token_decides(telegram: FakeTelegram) -> None:
    telegram.write(f"/release@{BOT.username} {TOKEN}")
    assert heard(telegram) is not None


@pytest.mark.parametrize("text", ["/etc/hosts is wrong", "/", "// a comment", "a /start b", "/ x"])
def test_a_slash_alone_is_no_command(telegram: FakeTelegram, text: str) -> None:
    telegram.write(text)
    assert said(telegram, bot_username=BOT.username).text == text


def test_a_group_that_moved_says_so_twice_and_it_counts_once(telegram: FakeTelegram) -> None:
    telegram.upgrade()
    events: list[object] = []
    for update in telegram.waiting:
        events += hooked(json.dumps(update).encode(), chat_id=GROUP).events
    first, second = events
    assert isinstance(first, Moved)
    assert isinstance(second, Moved)
    assert first.settings == second.settings == {"chat_id": str(SUPERGROUP)}
    assert first.account == second.account == str(GROUP)
    assert first.keys[0] != second.keys[0]
    assert first.keys[1] == second.keys[1], "the second is a repeat of the first"
    assert first.old_prefix == first.new_prefix == f"{GROUP}:", "its messages are not renumbered"


def test_names_and_texts_come_clean(telegram: FakeTelegram) -> None:
    eve = Person(id=6, first_name="Eve\u202e\n[admin]", last_name="x" * 200)
    telegram.write("a\r\nb\x07c\u0085", chat=SUPERGROUP, by=eve)
    found = said(telegram)
    assert found.sender_name.startswith("Eve  (admin) xxx")
    assert len(found.sender_name) == 80
    assert found.text == "a\nb\ufffdc\ufffd"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "update_id", "message", "message_id", "chat", "id", "from", "text", "date",
                    "reply_to_message", "sender_chat", "is_topic_message", "message_thread_id",
                    "migrate_to_chat_id", "photo", "type",
                ]
            ),
            inner,
        ),
        max_leaves=30,
    )
)  # fmt: skip
def test_nothing_that_can_be_sent_breaks_it(update: Any) -> None:
    got = hooked(json.dumps(update).encode("utf-8", "surrogatepass"))
    assert got.answer.status == 200


@given(date=st.integers())
def test_any_date_is_one_or_none(date: int) -> None:
    update = {
        "update_id": 1,
        "message": {
            "message_id": 1,
            "date": date,
            "chat": {"id": MIA.id, "type": "private"},
            "from": MIA.as_json(),
            "text": "x",
        },
    }
    assert len(hooked(json.dumps(update).encode()).events) == 1
