"""The house rules that no linter knows, each a function from source to the faults it holds."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

type Rule = Callable[[str], list[int]]
"""Source in, the numbers of the faulty lines out."""

LONG: Final = 300
TOO_LONG: Final = 400
SAYS_NOTHING: Final = frozenset(
    {"common", "helper", "helpers", "managers", "misc", "services", "util", "utils"}
)
BROAD: Final = frozenset({"Exception", "BaseException"})
AT_IMPORT: Final = frozenset({"AUTH_USER_MODEL"})
"""Settings that Django's own idiom reads while a module is imported."""

_MARKUP: Final = frozenset({"SafeData", "SafeString", "SafeText", "mark_safe"})
_UNESCAPED: Final = re.compile(r"\|\s*safe(seq)?\b|{%-?\s*autoescape\s+off\b")
_URL: Final = re.compile(r"https?://|git\+|file:|^\s*(-i|-f|--(extra-)?index-url|--find-links)\b")
_MACHINE: Final = re.compile(
    r"(?<![\w.$~])/(root|work|home/(?!user\b|you\b)[a-z]\w*|Users/[A-Za-z]\w*)/"
)


def says_nothing(path: Path) -> bool:
    """Is the module, or a package it is in, named for nothing?"""
    return bool(SAYS_NOTHING & {path.stem, *path.parent.parts})


def broad_excepts(source: str) -> list[int]:
    """Lines that catch everything: bare, `Exception` or `BaseException`, alone or in a tuple."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ExceptHandler) and (node.type is None or _names(node.type) & BROAD)
    ]


def _names(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} | {
        part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)
    }


def trusted_markup(source: str) -> list[int]:
    """Lines of Python that call text safe unseen: `mark_safe` and its kin, `format_html` with
    anything but a literal to fill.
    """
    lines = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            if _MARKUP & {alias.name.rpartition(".")[2] for alias in node.names}:
                lines.add(node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr in _MARKUP:
            lines.add(node.lineno)
        elif isinstance(node, ast.Call) and "format_html" in _names(node.func):
            first = node.args[0] if node.args else None
            if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
                lines.add(node.lineno)
    return sorted(lines)


def unescaped(template: str) -> list[int]:
    """Lines of a template that switch escaping off."""
    return _lines(_UNESCAPED, template)


def settings_at_import(source: str) -> list[int]:
    """Lines that read Django's settings while the module is imported."""
    tree = ast.parse(source)
    imported = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "django.conf"
        and any(alias.name == "settings" for alias in node.names)
        for node in ast.walk(tree)
    )
    if not imported:
        return []
    return [
        node.lineno
        for node in _run_at_import(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "settings"
        and node.attr not in AT_IMPORT
    ]


def _run_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that an import executes: not the bodies of functions, but their defaults and
    decorators.
    """
    yield node
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        children = iter([*node.decorator_list, node.args])
    elif isinstance(node, ast.Lambda):
        children = iter([node.args])
    for child in children:
        yield from _run_at_import(child)


def environment_reads(source: str) -> list[int]:
    """Lines that read the process's environment."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ]


def variables_read(source: str) -> set[str]:
    """The names that a settings module asks its `env` for."""
    return {
        node.args[0].value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "env"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }


def urls(lock: str) -> list[int]:
    """Lines of a lock that name a place to download from."""
    return _lines(_URL, lock)


def machine_paths(written: str) -> list[int]:
    """Lines that name a folder of the machine they were written on."""
    return _lines(_MACHINE, written)


def _lines(pattern: re.Pattern[str], written: str) -> list[int]:
    lines = enumerate(written.splitlines(), start=1)
    return [number for number, line in lines if pattern.search(line)]
