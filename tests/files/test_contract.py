"""Names and types of files: what a desk takes, and under which name it shows it."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff.contract import files
from tests.contract.hostile import TEXTS
from tests.files import samples


def proved(content: bytes, declared: str) -> str | None:
    return files.proved(io.BytesIO(content), declared, files.SUFFIXES)


@pytest.mark.parametrize("kind", files.SUFFIXES)
def test_every_type_is_known_by_its_content(kind: str) -> None:
    assert proved(samples.GOOD[kind], kind) == kind
    assert proved(samples.GOOD[kind], f"{kind.upper()}; charset=utf-8") == kind
    undeclared = files.PLAIN if kind == files.CSV else kind
    assert proved(samples.GOOD[kind], "application/octet-stream") == undeclared
    others = [other for other in files.SUFFIXES if other != kind]
    assert files.proved(io.BytesIO(samples.GOOD[kind]), kind, others) is None


@pytest.mark.parametrize("what", samples.BAD)
def test_what_is_not_plainly_one_of_them_is_refused(what: str) -> None:
    assert proved(*samples.BAD[what]) is None


@pytest.mark.parametrize(
    ("given", "kind", "shown"),
    [
        ("invoice.pdf", files.PDF, "invoice.pdf"),
        ("Größe 3.PDF", files.PDF, "Größe 3.PDF"),
        ("../../etc/passwd", files.PLAIN, "passwd.txt"),
        ("C:\\Users\\ana\\photo.JPG", files.JPEG, "photo.JPG"),
        ("page.html", "image/png", "page.html.png"),
        ("run.pdf.exe", files.PDF, "run.pdf.exe.pdf"),
        ("\u202egnp.exe", "image/png", "gnp.exe.png"),
        ("a\u2066b\u200bc\u2028d.png", "image/png", "a b c d.png"),
        ("nul\x00l\r\nSet-Cookie: a=b.png", "image/png", "nul\ufffdl Set-Cookie_ a=b.png"),
        ('"; filename="x.exe', files.PLAIN, "_; filename=_x.exe.txt"),
        ("...", files.PLAIN, "file.txt"),
        (".htaccess", files.PLAIN, "htaccess.txt"),
        ("", files.CSV, "file.csv"),
        (".png", "image/png", "png.png"),
        ("x" * 500 + ".csv", files.CSV, "x" * (files.NAME_MAX - 4) + ".csv"),
        ("half \ud800.png", "image/png", "half \ufffd.png"),
    ],
)
def test_a_name_hides_nothing_and_leads_nowhere(given: str, kind: str, shown: str) -> None:
    assert files.named(given, kind) == shown


@given(TEXTS, st.sampled_from(sorted(files.SUFFIXES)))
def test_any_name_is_a_name(given: str, kind: str) -> None:
    name = files.named(given, kind)
    assert name == files.named(name, kind)
    assert 0 < len(name) <= files.NAME_MAX
    assert name.isprintable()
    assert not set(name) & set('/\\"<>|\r\n\u202e')
    assert name.lower().endswith(files.SUFFIXES[kind])
    assert not name.startswith(".")
