"""Files over a real server: what comes in, who gets it, and what is refused."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings

from handoff import links
from handoff.contract import files
from tests.databases import copied
from tests.files import door, samples
from tests.realtime.desk import Desk, receive
from tests.reliability.desks import open_desks
from tests.reliability.figures import report

pytestmark = pytest.mark.slow
WHERE = "https://shop.example"
UNLIMITED = {
    "HANDOFF_FILES_PER_MINUTE": "0",
    "HANDOFF_FILES_MB_PER_CONVERSATION": "1000",
    "HANDOFF_FILES_PER_CONVERSATION": "1000",
}


@pytest.fixture(scope="module")
def database_url(_migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One for all tests here: each has a conversation of its own."""
    with copied(_migrated, tmp_path_factory.mktemp("database")) as url:
        yield url


@pytest.fixture(scope="module")
def desk(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("files")
    key = {"SECRET_KEY": settings.SECRET_KEY}  # a test signs addresses
    with open_desks(folder, database_url, "desk", **UNLIMITED, **key) as [opened]:
        yield opened
        assert "Traceback (most" not in opened.server.log()


def test_files_come_in_the_order_in_which_they_were_sent(desk: Desk) -> None:
    conversation = desk.conversation()
    ids = [
        door.upload(desk, conversation, samples.PDF, kind=files.PDF, name=name).json["id"]
        for name in ("b.pdf", "c.pdf", "a.pdf")
    ]
    wanted = [ids[1], ids[2], ids[0]]
    status, turn = door.say(desk, conversation, "Here they are", *wanted)
    assert status == 201
    _, page = desk.get(f"/api/v1/conversations/{conversation}/messages")
    for message in (turn["message"], page["data"][0]):
        assert [file["id"] for file in message["files"]] == wanted


def test_a_file_is_said_with_a_line_and_reaches_those_who_may_have_it(desk: Desk) -> None:
    conversation = desk.conversation()
    given = door.upload(desk, conversation, samples.PDF, kind=files.PDF, name="../a\u202e.pdf")
    assert given.status == 201, given.content
    file = given.json
    assert file == {
        "id": file["id"],
        "name": "a.pdf",
        "type": files.PDF,
        "size": len(samples.PDF),
        "kept": True,
    }
    _, events = desk.get("/api/v1/events", limit=200)
    desk_was = events["next_after"]
    with desk.chat(conversation) as (socket, _):
        status, turn = door.say(desk, conversation, "Here it is", file["id"])
        assert (status, turn["message"]["files"]) == (201, [file])
        heard = receive(socket, "message.created")["data"]["message"]
    assert heard["files"] == [file]
    assert "/files/" not in str(heard)
    _, page = desk.get(f"/api/v1/conversations/{conversation}/messages")
    _, events = desk.get("/api/v1/events", after=desk_was)
    assert page["data"][0]["files"] == [file]
    told = [event["data"].get("message") or {} for event in events["data"]]
    assert [one["files"] for one in told if one.get("id") == heard["id"]] == [[file]]
    plain = desk.say(conversation, "Without one")["message"]
    assert set(heard) == {*plain, "files"}, "a frame permits the keys of a line, and these"

    address = door.ask(
        desk, "POST", f"/files/{file['id']}/link/?ticket={desk.ticket(conversation)}"
    ).json["url"]
    got = {
        "agent": door.fetch(desk, file["id"]),
        "subscriber": door.ask(desk, "GET", door.here(address)),
        "owner": _as_owner(desk, file["id"], desk.owner),
    }
    for who, reply in got.items():
        assert (reply.status, reply.content) == (200, samples.PDF), who
        assert reply.headers["Content-Type"] == files.PDF
        assert reply.headers["Content-Disposition"] == 'attachment; filename="a.pdf"'
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
        assert reply.headers["Cache-Control"] == "private, no-store"
    assert (
        "sandbox" in door.ask(desk, "HEAD", door.here(address)).headers["Content-Security-Policy"]
    )
    log = desk.server.log()
    assert door.here(address) not in log
    assert "/files/***" in log


def _as_owner(desk: Desk, file: str, session: str) -> door.Reply:
    headers = {"Cookie": f"sessionid={session}"} if session else {}
    return door.ask(desk, "GET", f"/files/owner/{file}/", headers=headers)


def test_nobody_else_gets_it_or_puts_one_there(desk: Desk) -> None:
    mine, other = desk.conversation(), desk.conversation()
    file = door.upload(desk, mine, samples.PNG, kind="image/png").json["id"]
    unsaid = f"/files/{file}/link/?ticket={desk.ticket(mine)}"
    assert door.ask(desk, "POST", unsaid).status == 404
    assert door.say(desk, other, "Not from here", file)[0] == 404
    assert door.say(desk, mine, "Here", file)[0] == 201
    assert door.say(desk, mine, "Again", file)[0] == 404

    assert door.fetch(desk, file, token=desk.other_token).status == 404
    assert door.fetch(desk, file, token="hd_wrong").status == 401
    assert _as_owner(desk, file, desk.stranger).status == 404
    assert _as_owner(desk, file, "").status == 302
    foreign = f"/files/{file}/link/?ticket={desk.ticket(other)}"
    assert door.ask(desk, "POST", foreign).status == 404
    assert door.ask(desk, "POST", f"/files/{file}/link/?ticket=made-up").status == 401
    ticket = desk.ticket(mine)
    answered = [
        door.ask(desk, "POST", f"/files/{file}/link/?ticket={ticket}").status for _ in range(2)
    ]
    assert answered == [200, 401]

    good = door.here(links.file_url(file, until=int(time.time()) + 60))
    late = door.here(links.file_url(file, until=int(time.time()) - 1))
    bent = good.replace(file.removeprefix("f_"), "a" * 26)
    more = good.replace(good.split(".")[1], str(int(time.time()) + 6000))
    huge = door.here(links.file_url(file, until=10**12 - 1))
    assert [door.ask(desk, "GET", path).status for path in (late, bent, more, huge)] == [404] * 4
    assert [door.ask(desk, method, good).status for method in ("GET", "POST")] == [200, 403]

    kept = {"kind": "image/png", "name": "x.png"}
    assert (
        door.upload(desk, mine, samples.PNG, kind="image/png", token=desk.other_token).status == 403
    )
    assert door.upload_with(desk, "made-up", samples.PNG, **kept).status == 401
    elsewhere = door.upload_with(desk, desk.ticket(mine), samples.PNG, **kept, Origin=WHERE)
    assert elsewhere.status == 403
    assert "Access-Control-Allow-Origin" not in elsewhere.headers
    used = desk.ticket(mine)
    twice = [door.upload_with(desk, used, samples.PNG, **kept).status for _ in range(2)]
    assert twice == [201, 401]


def test_a_visitor_sends_one_from_a_page_that_may(desk: Desk) -> None:
    conversation = desk.conversation()
    here = "http://localhost"
    asked = door.ask(desk, "OPTIONS", "/files/?ticket=x", headers={"Origin": WHERE})
    assert (asked.status, asked.headers["Access-Control-Allow-Methods"]) == (204, "POST")
    ticket = desk.ticket(conversation)
    sent = door.upload_with(desk, ticket, samples.PNG, kind="image/png", name="photo", Origin=here)
    assert (sent.status, sent.json["name"]) == (201, "photo.png")
    assert sent.headers["Access-Control-Allow-Origin"] == here
    # a file that a visitor brought is not said by the agent
    assert door.say(desk, conversation, "Mine?", sent.json["id"], author="agent")[0] == 404
    assert door.say(desk, conversation, "A photo", sent.json["id"])[0] == 201


def test_what_only_pretends_is_refused_and_the_trail_says_so(desk: Desk) -> None:
    conversation = desk.conversation()
    statuses = {
        what: door.upload(desk, conversation, content, kind=kind).status
        for what, (content, kind) in samples.BAD.items()
    }
    assert set(statuses.values()) == {400}, statuses
    for kind, content in samples.GOOD.items():
        assert door.upload(desk, conversation, content, kind=kind).status == 201, kind


def test_ten_megabytes_come_in_and_one_byte_more_does_not(desk: Desk) -> None:
    conversation = desk.conversation()
    body = samples.PDF + b" " * (files.FILE_BYTES - 2 * len(samples.PDF)) + samples.PDF
    blocks = [body[at : at + door.CHUNK] for at in range(0, len(body), door.CHUNK)]

    def send(more: bytes = b"", *, chunked: bool = False) -> int:
        content = [*blocks, more] if chunked else body + more
        return door.upload(desk, conversation, content, kind=files.PDF).status

    assert [send(), send(chunked=True)] == [201, 201]
    before = desk.server.figure("VmRSS")
    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(lambda number: send(chunked=bool(number % 2)), range(6))) == {201}
    grown = (desk.server.figure("VmRSS") - before) / 1024
    assert grown < 20
    assert [send(b"x"), send(b"x", chunked=True)] == [413, 413]
    over = b"x" * files.BODY_BYTES
    assert [send(over), send(over, chunked=True)] == [413, 413]
    headers = {"Authorization": f"Bearer {desk.token}"}
    assert door.ask(desk, "POST", "/api/v1/tool-calls", body, headers).status == 413
    report(
        "files",
        f"6 uploads of 10 MB at once: the server grew by {max(0, grown):.0f} MB; 10 MB and a "
        "byte refused with 413, declared and in chunks",
    )
