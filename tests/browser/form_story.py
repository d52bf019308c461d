"""Fills the database of a server with handoffs for the return form; prints their addresses.

Run in the server's environment: `python -m tests.browser.form_story NAME…`, one handoff a name.
"""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from handoff import links  # noqa: E402  (they need the settings)
from handoff.actions.turns import post_turn  # noqa: E402
from handoff.contract.turns import TurnBody  # noqa: E402
from tests import factories  # noqa: E402
from tests.returnforms import forms  # noqa: E402

ARABIC = {
    "summary": "تسأل نور حداد أين طلبها رقم 1234. لقد دفعت قبل أسبوعين.",
    "expected_action": "ابحث عن الطلب 1234 وأخبرنا متى يصل إلى الزبونة.",
    "expected_return": [
        {
            "name": "order_status",
            "type": "enum",
            "label": "حالة الطلب",
            "enum_values": ["قيد المعالجة", "تم الشحن"],
            "required": True,
        },
        {"name": "notes", "type": "multiline", "label": "ملاحظات للزبونة"},
    ],
}


def main(names: list[str]) -> None:
    owner = factories.UserFactory.create(username="ada")
    agent = factories.owned_agent(owner, name="shop", display_name="Shop assistant")
    made = {}
    for name in names:
        channel = factories.inbox_channel(agent, label=f"Sales {name}")
        talk = factories.conversation(agent, external_id=name, name="Noor")
        post_turn(talk, TurnBody(client_id="1", author="subscriber", text="Where is\norder 1234?"))
        asked = ARABIC if "arabic" in name else {"expected_return": forms.EVERY_TYPE}
        session = factories.requested(agent, channel, talk, extra_context={"order": "1"}, **asked)
        made[name] = f"/r/{links.return_token(session.links.get().link_id)}/"
        made[f"{name} owner"] = f"/r/owner/{session.public_id}/"
    sys.stdout.write(json.dumps(made))


if __name__ == "__main__":
    main(sys.argv[1:])
