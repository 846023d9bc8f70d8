"""The JSON Schema that the shipped configs name for editors."""

from __future__ import annotations

import json

import pytest

from fsvm_cli.shipped import shipped_folder, shipped_names
from fsvm_cli.spec.load import json_schema

MODELINE = "# yaml-language-server: $schema=fsvm.schema.json"


def test_the_file_is_what_fsvm_schema_prints() -> None:
    stored = json.loads((shipped_folder("configs") / "fsvm.schema.json").read_text(encoding="utf-8"))
    assert stored == json_schema(), "run: fsvm schema > configs/fsvm.schema.json"


@pytest.mark.parametrize("name", shipped_names("configs"))
def test_every_shipped_config_names_it_in_its_first_line(name: str) -> None:
    text = (shipped_folder("configs") / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.splitlines()[0] == MODELINE
