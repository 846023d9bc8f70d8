"""Texts for users hold none of the phrases that have a plainer equivalent."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    import pytest

SPEC = importlib.util.spec_from_file_location("prose", CHECKOUT / ".ci" / "prose.py")
assert SPEC is not None
assert SPEC.loader is not None
prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prose)


def test_phrases_are_found_across_line_ends_and_in_any_case() -> None:
    text = "It fits.\nWhere one\nwas missed, 2 things are to be\nmended.\n"
    assert [(line, phrase) for line, phrase, _ in prose.findings(text)] == [
        (2, "Where one was missed"),
        (3, "are to be mended"),
        (4, "mended"),
    ]
    assert prose.findings("A recommendation amends nothing.") == []


def test_no_text_for_users_holds_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert prose.main() == 0, capsys.readouterr().out
    names = {path.name for path in prose.texts()}
    assert {"README.md", "verdicts.md", "table.md", "cli.py", "pyproject.toml"} <= names
