"""Row 22: keys are changed on a running deployment, and no valid link breaks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

from tests import environment, factories
from tests.fakes.smtp import SmtpServer
from tests.realtime.desk import Desk
from tests.reliability.desks import seeded
from tests.reliability.figures import report
from tests.reliability.fleet import Fleet, visiting
from tests.reliability.sizes import sizes

SIGNING = [f"the {name} signing key that is long enough to be one" for name in ("old", "new")]
SEALING = [Fernet.generate_key().decode() for _ in range(3)]


def environ(sign: str, *fallbacks: str, seal: tuple[str, ...]) -> dict[str, str]:
    return {
        "SECRET_KEY": sign,
        "SECRET_KEY_FALLBACKS": ",".join(fallbacks),
        "HANDOFF_ENCRYPTION_KEYS": ",".join(seal),
    }


def ask_by_mail(desk: Desk, channel: int) -> Any:
    args = {
        "channel_id": channel,
        "summary": factories.SUMMARY,
        "expected_action": factories.EXPECTED_ACTION,
    }
    status, answer = desk.call(
        "POST", "/api/v1/tool-calls", {"name": "handoff_request", "args": args}
    )
    assert status == 200
    return answer


LINKS = """
from handoff import links
from handoff.models import ReturnLink
for link in ReturnLink.objects.filter(session__public_id__in={sessions!r}).order_by("id"):
    print(links.return_url(link.link_id).removeprefix({base!r}))
"""


def new_links(fleet: Fleet, desk: Desk, settings: Mapping[str, str], count: int) -> list[str]:
    """The paths of the links of new handoffs, signed as a process with these settings does it."""
    sessions = [desk.hand_over(desk.conversation()) for _ in range(count)]
    program = LINKS.format(sessions=sessions, base=environment.PUBLIC_BASE_URL)
    return fleet.manage("shell", "--no-imports", "-c", program, **settings).split()


@sizes(quick=1, full=2)
def test_no_valid_link_breaks_while_keys_are_changed(
    size: int, tmp_path: Path, database_url: str
) -> None:
    """`size`: how many processes, restarted one after the other."""
    (old, new), (first, second, lost) = SIGNING, SEALING
    before = environ(old, seal=(first,))
    steps = [environ(new, old, seal=(second, first))]
    if size > 1:  # no process may meet a link of a key that it does not know yet
        steps.insert(0, environ(old, new, seal=(first, second)))
    seed = seeded(tmp_path, {"DATABASE_URL": database_url, **before})
    valid: list[str] = []
    with SmtpServer() as smtp, Fleet(tmp_path, database_url, size) as fleet:
        made = fleet.manage(
            *("new_channel", "--agent=shop", "--kind=email", "--label=Mail", "--json"),
            "--config=" + json.dumps({"to": "a@example.com", "smtp_url": smtp.url}),
            **before,
        )
        mail = json.loads(made)["channel_id"]
        fleet.start(before)
        desk = Desk(fleet.servers[0], tmp_path, seed)
        valid += new_links(fleet, desk, before, 3)
        assert signed_in(desk)
        with visiting(fleet, valid) as statuses:
            for step in steps:
                fleet.restart(step)
                desk = Desk(fleet.servers[0], tmp_path, seed)
                valid += new_links(fleet, desk, step, 1)
                answer = ask_by_mail(desk, mail)
                assert not answer["isError"], answer
                assert signed_in(desk), "the owner stays signed in"
        assert set(statuses) == {200}
        visits = statuses.total()
        assert "first key: 2." in fleet.manage("rotate_keys", **steps[-1])

        fleet.restart(environ(new, seal=(second,)))
        desk = Desk(fleet.servers[0], tmp_path, seed)
        gone, unknown = (fleet.servers[0].get(path) for path in (valid[0], "/r/x/"))
        assert gone == unknown
        assert gone[0] == 404
        assert fleet.servers[0].get(valid[-1])[0] == 200
        assert not ask_by_mail(desk, mail)["isError"]

        fleet.restart(environ(new, seal=(lost,)))
        check_lost_keys(Desk(fleet.servers[0], tmp_path, seed), mail)
        whole = "".join([*fleet.logs, *(server.log() for server in fleet.servers)])
        assert "Traceback" not in whole
    report(
        22,
        f"{visits} visits to {len(valid)} links while {size} process(es) changed both keys: 0 "
        "broken, 0 x 500; without the old key its links are the neutral 404; a channel whose key "
        "is lost asks for its credentials",
    )


def signed_in(desk: Desk) -> bool:
    return desk.server.get("/inbox/", headers={"Cookie": f"sessionid={desk.owner}"})[0] == 200


def check_lost_keys(desk: Desk, mail: int) -> None:
    """A sentence for the agent, no 500, and nothing but the credentials is lost."""
    answer = ask_by_mail(desk, mail)
    assert answer["isError"]
    assert answer["text"].startswith("Nobody could be asked")
    assert answer["result"]["details"]["kind"] == "auth"
    status, listed = desk.get("/api/v1/channels")
    assert status == 200
    assert {c["id"]: c["available"] for c in listed["data"]}[mail] is False
    assert desk.hand_over(desk.conversation()), "the owner's inbox needs no credentials"
