"""Features that always stay, from the config to the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import yaml

from tests.helpers.calling import fsvm_here
from tests.ranking.test_always_keep import write_table


@pytest.mark.usefixtures("plain_figures")
def test_from_the_config_to_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(yaml.safe_dump(write_table(tmp_path) | {"always_keep": ["a"]}))
    told = fsvm_here("run", "mine.yaml", "--jobs", "1", "--format", "svg")
    assert told.code == 0, told.err
    assert "Recommended: 2 features" in told.out
    assert "a, d" in told.out
    assert "--always-keep a" in told.out
    told = fsvm_here("export", "results/mine", "--model", "model.joblib", "--python")
    assert "kept: a, d" in told.err, told.err
    scope: dict[str, Any] = {}
    exec(compile(told.out, "rebuilt", "exec"), scope)
    frame = pd.read_csv("mine.csv")
    found = joblib.load("model.joblib").decision_function(frame[["a", "d"]])
    np.testing.assert_allclose(found, scope["model"].decision_function(frame), atol=1e-9)
