"""A table whose rows a column orders, from `fsvm init` to the model."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import joblib
import pytest

from tests.experiment.test_splits_in_order import visits
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("plain_figures")
def test_from_the_table_to_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    visits(tmp_path)
    told = fsvm_here("init", "visits.csv", "--target", "y", "--order-by", "day")
    assert told.code == 0, told.err
    config = tmp_path / "visits.yaml"
    text = config.read_text()
    assert "train: before" in text
    assert '"day"' in text
    head, rankings = text.split("rankings:\n")
    fisher = next(line for line in rankings.splitlines() if "fisher" in line)
    config.write_text(f"{head}rankings:\n{fisher}\nsubsets: [1, 2]\nrecommendation: {{permutations: 0}}\n")
    ran = fsvm_here("run", "visits.yaml", "--jobs", "1")
    assert ran.code == 0, ran.err
    assert "over 5 origins" in ran.out.replace("\n", " ")
    assert "Recommended: 1 feature, as fisher ranks them" in ran.out.replace("\n", " ")
    command = next(line for line in ran.out.splitlines() if line.startswith("The columns themselves: "))
    assert fsvm_here(*shlex.split(command)[4:]).code == 0
    told = fsvm_here("export", "results/visits", "--model", "model.joblib")
    assert told.code == 0, told.err
    assert "fitted on 90 rows" in told.err
    assert list(joblib.load("model.joblib").predict([[-3.0], [6.0]])) == ["ill", "well"]
    card = (tmp_path / "model.joblib.card.md").read_text()
    assert "over 5 origins in time" in card
