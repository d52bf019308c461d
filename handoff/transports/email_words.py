"""What mail programs write over a quoted mail, by language: patterns of `email_quote`."""

from typing import Final

ATTRIBUTIONS: Final = (
    r"\bwrote\b",
    r"\bschrieb\b",
    r"\ba [ée]crit\b",
    r"\bescribi[óo]\b",
    r"\bescreveu\b",
    r"\bha scritto\b",
    r"\bskrev\b",
    r"\bschreef\b",
    r"\bnapisa[łl](?:a|\(a\))?",
    r"\bnapsal(?:a|\(a\))?",
    r"\bkirjoitti\b",
    r"\bírta\b",
    "\\byazd\u0131\\b",
    r"(?:написал|пишет|написав)",
    r"(?:كتب|تمت كتابة)",
    r"(?:書きました|書き込みました|のメール|写道|寫道|작성)",
)
"""The verb of `Mia wrote:`."""
OPENERS: Final = (
    "On", "Am", "Le", "El", "Em", "No dia", "Il", "Den", "Op", "Dnia", "Dne", "W dniu",
    "man", "tir", "ons", "tor", "fre", "lør", "søn", "P[åa]", "في", "بتاريخ", "يوم",
)  # fmt: skip
"""How such a line begins when it names no address."""
FROM: Final = (
    "From", "Von", "De", "Da", "Fra", "Från", "Van", "Od", "Lähettäjä", "Feladó", "Kimden", "От",
    "Від", "من", "المرسل", "差出人", "送信者", "发件人", "寄件者", "보낸 ?사람",
)  # fmt: skip
HEADERS: Final = (
    "Sent", "Date", "To", "Cc", "Bcc", "Subject", "Reply-To",
    "Gesendet", "Datum", "An", "Betreff",
    "Envoyé(?: le)?", "À", "Objet",
    "Enviado(?: el| em)?", "Enviada(?: em)?", "Fecha", "Para", "Asunto", "Assunto", "Data",
    "Inviato", "A", "Oggetto",
    "Sendt", "Dato", "Til", "Emne", "Kopi",
    "Skickat", "Till", "Ämne", "Verzonden", "Aan", "Onderwerp",
    "Wysłano", "Do", "DW", "Temat", "Odesláno", "Komu", "Předmět", "Дата", "Кому", "Тема",
    "تاريخ(?: الإرسال)?", "التاريخ", "تم الإرسال", "أ?رسلت?", "إلى", "الموضوع", "نسخة(?: إلى)?",
    "送信日時", "日時", "日付", "宛先", "件名",
    "发送时间", "日期", "收件人", "主题", "보낸 ?날짜", "받는 ?사람", "제목",
)  # fmt: skip
SEPARATORS: Final = (
    "Original Message", "Original Appointment", "Ursprüngliche Nachricht", "Originalnachricht",
    "Original-Nachricht", "Message d['’]origine", "Message original", "Mensaje original",
    "Mensagem original", "Messaggio originale", "Oprindelig meddelelse", "Opprinnelig melding",
    "Ursprungligt meddelande", "Oorspronkelijk bericht", "Исходное сообщение", "الرسالة الأصلية",
    "元のメッセージ", "原始邮件", "원본 메시지",
)  # fmt: skip
