"""Sync views that are slow, endless, large or broken."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from config.urls import urlpatterns as product
from handoff import push

LOG: Final[list[int]] = []
"""Stands for the rows: `burst` appends to it, the probe's sockets read after their cursor."""
_log_lock = threading.Lock()


def ping(request: HttpRequest) -> HttpResponse:
    return HttpResponse("pong")


def slow(request: HttpRequest) -> HttpResponse:
    """Sleeps, then leaves a file, then answers: `?seconds=&mark=`."""
    time.sleep(float(request.GET["seconds"]))
    if "mark" in request.GET:
        Path(request.GET["mark"]).touch()
    return HttpResponse("done")


def stream(request: HttpRequest) -> StreamingHttpResponse:
    """A kilobyte each 20 ms: `?seconds=`."""

    def lines() -> Iterator[bytes]:
        end = time.monotonic() + float(request.GET["seconds"])
        while time.monotonic() < end:
            yield b"x" * 1024
            time.sleep(0.02)

    return StreamingHttpResponse(lines())


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a secret of the view")


def broken_stream(request: HttpRequest) -> StreamingHttpResponse:
    def lines() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("a secret of the stream")

    return StreamingHttpResponse(lines())


@csrf_exempt
def large(request: HttpRequest) -> HttpResponse:
    """A megabyte, or `?megabytes=`."""
    return HttpResponse(b"0123456789abcdef" * 65_536 * int(request.GET.get("megabytes", "1")))


@csrf_exempt
def echo(request: HttpRequest) -> JsonResponse:
    seen = {
        name: text for name, text in request.META.items() if name.startswith(("HTTP_", "CONTENT"))
    }
    return JsonResponse(
        {
            "method": request.method,
            "path": request.path,
            "query": request.META["QUERY_STRING"],
            "length": len(request.body),
            "fields": dict(request.POST.items()),
            "headers": seen,
        }
    )


def database(request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("row")


def burst(request: HttpRequest) -> HttpResponse:
    """Four threads write and nudge: `?each=`."""
    each = int(request.GET["each"])

    def write() -> None:
        for _ in range(each):
            with _log_lock:
                LOG.append(len(LOG))
            push.nudge("probe")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return HttpResponse(str(len(LOG)))


def nudge(request: HttpRequest) -> HttpResponse:
    push.nudge(request.GET["topic"])
    return HttpResponse("nudged")


urlpatterns = [
    path("probe/ping", ping),
    path("probe/slow", slow),
    path("probe/stream", stream),
    path("probe/broken", broken),
    path("probe/broken-stream", broken_stream),
    path("probe/large", large),
    path("probe/echo", echo),
    path("api/probe/slow", slow),
    path("probe/database", database),
    path("probe/burst", burst),
    path("probe/nudge", nudge),
    *product,
]
