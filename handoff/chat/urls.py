"""`/` and `/demo/…`: the chat as a visitor sees it, and the mailbox that stands in for a server."""

from django.urls import path

from handoff.chat import mail, pages

app_name = "chat"
urlpatterns = [
    path("", pages.front, name="front"),
    path("demo/", pages.demo, name="demo"),
    path("demo/ticket/", pages.ticket, name="ticket"),
    path("demo/again/", pages.again, name="again"),
    path("demo/mail/", mail.mailbox, name="mailbox"),
    path("demo/mail/<str:name>/", mail.letter, name="letter"),
    path("demo/mail/<str:name>/html/", mail.html_part, name="letter-html"),
]
