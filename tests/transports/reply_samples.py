"""Our mail as it comes back below a reply, and what mail programs write over it."""

from handoff.transports.email_body import REPLY_MARKER

TOKEN = "h7abcdefghijklmnop"
OURS = f"""{REPLY_MARKER}

Nova, an AI agent, asks Sales support to take over.

What is needed from you (written by an AI agent):
| Look up order 1234 and say when it arrives.

To end the handoff by mail, begin your reply with this line:
/release {TOKEN}

--\x20
Nova is an AI agent."""
QUOTED = "\n".join(f"> {line}".rstrip() for line in OURS.split("\n"))
OUTLOOK = {
    "en": "From: Desk <desk@desk.example>\nSent: Monday, 30 November 2026 10:00\n"
    "To: Mia <mia@support.example>\nSubject: Sales support",
    "de": "Von: Desk <desk@desk.example>\nGesendet: Montag, 30. November 2026 10:00\n"
    "An: Mia <mia@support.example>\nBetreff: Sales support",
    "fr": "De : Desk <desk@desk.example>\nEnvoyé : lundi 30 novembre 2026 10:00\n"
    "À : Mia <mia@support.example>\nObjet : Sales support",
    "es": "De: Desk <desk@desk.example>\nEnviado el: lunes, 30 de noviembre de 2026 10:00\n"
    "Para: Mia <mia@support.example>\nAsunto: Sales support",
    "pt": "De: Desk <desk@desk.example>\nEnviada em: segunda-feira, 30 de novembro de 2026 10:00\n"
    "Para: Mia <mia@support.example>\nAssunto: Sales support",
    "da": "Fra: Desk <desk@desk.example>\nSendt: 30. november 2026 10:00\n"
    "Til: Mia <mia@support.example>\nEmne: Sales support",
    "ar": "من: Desk <desk@desk.example>\nتاريخ الإرسال: الاثنين، 30 نوفمبر 2026 10:00\n"  # noqa: RUF001
    "إلى: Mia <mia@support.example>\nالموضوع: Sales support",  # noqa: RUF001
    "ja": "差出人: Desk <desk@desk.example>\n送信日時: 2026年11月30日 10:00\n"
    "宛先: Mia <mia@support.example>\n件名: Sales support",
    "ja, wide colons": "差出人\uff1a Desk <desk@desk.example>\n送信日時\uff1a 2026年11月30日\n"
    "宛先\uff1a Mia <mia@support.example>\n件名\uff1a Sales support",
    "de, web mail": "Gesendet: Montag, 30. November 2026 um 10:00 Uhr\nVon: desk@desk.example\n"
    "An: mia@support.example\nBetreff: Sales support",
    "bold": "*From:* Desk <desk@desk.example>\n*Sent:* Monday, 30 November 2026 10:00\n"
    "*To:* Mia <mia@support.example>\n*Subject:* Sales support",
}
WROTE = {
    "en": "On Mon, 30 Nov 2026 at 10:00, Desk <desk@desk.example> wrote:",
    "en, wrapped": "On Mon, 30 Nov 2026 at 10:00, Sales support desk of the shop\n"
    "<desk@desk.example> wrote:",
    "en, Apple": "On 30 Nov 2026, at 10:00, Desk <desk@desk.example> wrote:",
    "de": "Am Mo., 30. Nov. 2026 um 10:00 Uhr schrieb Desk <desk@desk.example>:",
    "de, Thunderbird": "Am 30.11.26 um 10:00 schrieb Desk:",
    "fr": "Le lun. 30 nov. 2026 à 10:00, Desk <desk@desk.example> a écrit :",
    "fr, no-break space": "Le 30 nov. 2026 à 10:00, Desk <desk@desk.example> a écrit\u00a0:",
    "es": "El lun, 30 nov 2026 a las 10:00, Desk (<desk@desk.example>) escribió:",
    "pt": "Em seg., 30 de nov. de 2026 às 10:00, Desk <desk@desk.example> escreveu:",
    "ar": "\u200fفي الاثنين، 30 نوفمبر 2026 في 10:00 ص تمت كتابة ما يلي بواسطة Desk "
    "<\u202adesk@desk.example\u202c>:",
    "ar, Apple": "في 30‏/11‏/2026، الساعة 10:00 ص، كتب Desk <desk@desk.example>:",
    "ja": "2026年11月30日(月) 10:00 Desk <desk@desk.example>:",
    "ja, Apple": "2026/11/30 10:00、Desk <desk@desk.example>のメール:",
    "da": "Den man. 30. nov. 2026 kl. 10.00 skrev Desk <desk@desk.example>:",
    "da, Apple": "Den 30. nov. 2026 kl. 10.00 skrev Desk <desk@desk.example>:",
    "nl": "Op ma 30 nov 2026 om 10:00 schreef Desk <desk@desk.example>:",
    "it": "Il giorno lun 30 nov 2026 alle ore 10:00 Desk <desk@desk.example> ha scritto:",
    "pl": "pon., 30 lis 2026 o 10:00 Desk <desk@desk.example> napisał(a):",
}
GMAIL = f"""<html><head><style>p {{color: red}}</style><title>x</title></head><body>
<div dir="ltr">It ships <b>tomorrow</b>.<div><br></div><div>Mia &amp; Jo</div></div><br>
<div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Mon, 30 Nov 2026
at 10:00, Desk &lt;<a href="mailto:desk@desk.example">desk@desk.example</a>&gt; wrote:<br></div>
<blockquote><div>{REPLY_MARKER}</div><code>/release {TOKEN}</code></blockquote></div></body></html>
"""
HTML = {
    "Outlook on the web": f"""<div>Tomorrow.</div><div id="appendonsend"></div><hr>
<div id="divRplyFwdMsg"><b>From:</b> Desk</div><div>{REPLY_MARKER}<p>/release {TOKEN}</p></div>""",
    "Outlook": f"""<p class="MsoNormal">Tomorrow.</p><div style="border-top: solid">
<p class="MsoNormal"><b>Von:</b> Desk &lt;desk@desk.example&gt;<br><b>Gesendet:</b> Montag<br>
<b>An:</b> Mia<br><b>Betreff:</b> Hilfe</p></div><p>/release {TOKEN}</p>""",
    "Thunderbird": f"""Tomorrow.<div class="moz-cite-prefix">Am 30.11.26 um 10:00 schrieb Desk:<br>
</div><blockquote type="cite">/release {TOKEN}</blockquote>""",
    "Yahoo": f"""<div>Tomorrow.</div><div class="yahoo_quoted">On Monday, Desk wrote:
<div>/release {TOKEN}</div></div>""",
    "preformatted": f"""<pre>Tomorrow.
</pre><blockquote><pre>
/release {TOKEN}
</pre></blockquote>""",
    "never closed": f"Tomorrow.<blockquote><blockquote>x</blockquote><p>/release {TOKEN}",
}
