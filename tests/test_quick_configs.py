"""A quick run has every experiment, with few steps in every method and machine that limits them."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from fsvm_cli.spec.collection import EXPERIMENTS_KEY
from fsvm_cli.spec.config import load_config, read_config
from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

quick = runpy.run_path(str(CHECKOUT / ".ci" / "quick_configs.py"))


def limits_in(value: Any) -> Iterator[tuple[str, int]]:
    for each in value if isinstance(value, tuple) else (value,):
        for name, part in each if isinstance(each, BaseModel) else ():
            if name in quick["MOST_STEPS"]:
                yield name, part
            elif isinstance(part, (BaseModel, tuple)):
                yield from limits_in(part)


def test_every_experiment_is_run_with_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["quick_configs.py", str(tmp_path)])
    quick["main"]()
    shipped = {path.name for path in (CHECKOUT / "configs").glob("*.yaml")}
    assert {path.name for path in tmp_path.iterdir()} == shipped
    found = []
    for path in sorted(tmp_path.iterdir()):
        _, document = read_config(str(path))
        if EXPERIMENTS_KEY in document.content:
            continue
        limited, whole = load_config(str(path)).config, load_config(str(CHECKOUT / "configs" / path.name)).config
        assert [each.label for each in limited.rankings] == [each.label for each in whole.rankings]
        assert [each.label for each in limited.alternatives] == [each.label for each in whole.alternatives]
        assert len(list(limits_in(limited))) == len(list(limits_in(whole)))
        found += limits_in(limited)
    assert {name for name, _ in found} == quick["MOST_STEPS"].keys()
    assert all(steps <= quick["MOST_STEPS"][name] for name, steps in found)
