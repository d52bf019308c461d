"""Each rule of tests/style/rules.py catches what it is there for."""

from pathlib import Path

import pytest

from tests.style import rules


@pytest.mark.parametrize("name", ["handoff/utils.py", "handoff/common/text.py", "services.py"])
def test_a_module_named_for_nothing_is_caught(name: str) -> None:
    assert rules.says_nothing(Path(name))
    assert not rules.says_nothing(Path("handoff/links.py"))


@pytest.mark.parametrize(
    "caught",
    [
        "except:",
        "except Exception:",
        "except BaseException as problem:",
        "except (KeyError, Exception):",
        "except builtins.Exception:",
    ],
)
def test_catching_everything_is_caught(caught: str) -> None:
    assert rules.broad_excepts(f"try:\n    work()\n{caught}\n    pass\n") == [3]
    assert rules.broad_excepts("try:\n    work()\nexcept KeyError:\n    pass\n") == []


@pytest.mark.parametrize(
    "source",
    [
        "from django.utils.safestring import mark_safe",
        "safestring.mark_safe(text)",
        "format_html(text)",
        "format_html(f'<b>{text}</b>')",
        "html.format_html('<b>' + text)",
    ],
)
def test_text_called_safe_unseen_is_caught(source: str) -> None:
    assert rules.trusted_markup(source) == [1]
    assert rules.trusted_markup("format_html('<b>{}</b>', text)") == []


@pytest.mark.parametrize(
    "template", ["{{ text|safe }}", "{{ text | safe }}", "{% autoescape off %}", "{{ a|safeseq }}"]
)
def test_a_template_that_does_not_escape_is_caught(template: str) -> None:
    assert rules.unescaped(f"<p>\n{template}\n</p>") == [2]
    assert rules.unescaped("{{ text|default:'safe' }}") == []


@pytest.mark.parametrize(
    "line",
    [
        "LIMIT = settings.LIMIT",
        "class View:\n    limit = settings.LIMIT",
        "def view(limit=settings.LIMIT): ...",
        "@limited(settings.LIMIT)\ndef view(): ...",
        "limit = lambda n=settings.LIMIT: n",
    ],
)
def test_a_setting_read_at_import_is_caught(line: str) -> None:
    assert rules.settings_at_import(f"from django.conf import settings\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "def view():\n    return settings.LIMIT",
        "limit = lambda: settings.LIMIT",
        "owner = ForeignKey(settings.AUTH_USER_MODEL)",
    ],
)
def test_a_setting_read_when_it_is_needed_is_fine(line: str) -> None:
    assert rules.settings_at_import(f"from django.conf import settings\n{line}\n") == []


def test_a_read_of_the_environment_is_caught() -> None:
    assert rules.environment_reads("import os\nkey = os.environ['KEY']\nos.getenv('X')") == [2, 3]


def test_the_variables_of_a_settings_module_are_found() -> None:
    source = 'A = env.str("ONE", default="")\nB = other.str("TWO")\nC = env.list("THREE")\n'
    assert rules.variables_read(source) == {"ONE", "THREE"}


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://packages.example.org/simple",
        "-i mirror",
        "thing @ git+ssh://host/thing",
        "thing @ file:///wheels/thing.whl",
        "thing @ http://host/thing.whl",
    ],
)
def test_a_download_address_in_a_lock_is_caught(line: str) -> None:
    assert rules.urls(f"django==6.1.3 \\\n    --hash=sha256:00\n{line}") == [3]


@pytest.mark.parametrize("folder", ["root", "work", "home/alice", "Users/alice"])
def test_a_path_of_one_machine_is_caught(folder: str) -> None:
    assert rules.machine_paths(f"fine\nsee /{folder}/desk") == [2]


@pytest.mark.parametrize("line", ["./work/x", "a/root/b", "/home/you/desk", "/usr/bin/chromium"])
def test_other_paths_are_fine(line: str) -> None:
    assert rules.machine_paths(line) == []
