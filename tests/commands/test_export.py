"""`fsvm export`: the recommended model, fitted on all rows, and the Python that rebuilds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from sklearn.pipeline import Pipeline

from fsvm_cli.cli import cli
from fsvm_cli.data.opening import load_dataset
from fsvm_cli.own_data.export import table_transformer
from fsvm_cli.own_data.held_out import TRUSTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.helpers.calling import Answer

    Call = Callable[..., Answer]

DATA = {"file": "mine.csv", "target": "kind", "missing": "indicator", "categorical": "one-hot", "groups": "patient"}
CONFIG: dict[str, Any] = {
    "title": "mine",
    "dataset": DATA,
    "scaling": "standard",
    "classifier": {
        "kernel": "gaussian",
        "theta": 4,
        "C": 1,
        "class_weight": {"ill": 2.0},
        "tune": [{"C": [0.1, 1.0], "folds": 2}],
    },
    "protocol": {"splits": 3, "train": "2/3", "seed": 1},
    "rankings": [{"method": "fisher"}, {"method": "infoprop", "credit_on": "cross-validation", "folds": 2}],
    "subsets": [2, 4],
}


def clinic(seed: int) -> pd.DataFrame:
    """Patients with two rows each; gaps, words, and a column that nobody speaks of."""
    rng = np.random.default_rng(seed)
    ill = np.repeat(np.arange(20) % 2, 2)
    age = np.where(rng.uniform(size=40) < 0.2, np.nan, rng.normal(size=40) + 2 * ill)
    ward = np.where(rng.uniform(size=40) < 0.1, None, rng.choice(["north", "south", "east"], 40))
    frame = {"age": age, "ward": ward, "dose": rng.normal(size=40) + ill, "weight": rng.normal(size=40)}
    return pd.DataFrame(frame).assign(patient=np.repeat(np.arange(20), 2), kind=np.where(ill, "ill", "well"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, plain_figures: None) -> Path:
    """Run a config on a table that has everything; give the folder."""
    folder = tmp_path_factory.mktemp("clinic")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        clinic(0).to_csv("mine.csv", index=False)
        Path("mine.yaml").write_text(yaml.safe_dump(CONFIG))
        assert CliRunner().invoke(cli, ["run", "mine.yaml", "--jobs", "1"]).exit_code == 0
    return folder


@pytest.fixture
def results(finished: Path, tmp_path: Path, call: Call) -> Path:
    """Give a copy of the results, in the current folder."""
    shutil.copytree(finished / "results", tmp_path / "results")
    return Path("results/mine")


def test_what_is_exported_is_what_the_printed_python_rebuilds(call: Call, results: Path) -> None:
    told = call("export", results, "--model", "model.joblib", "--python")
    assert told.code == 0, told.err
    assert "kept: " in told.err
    recommended = pd.read_csv(results / "recommendation.csv").query("recommended == True").iloc[0]
    assert f"{recommended['ranking']}, {recommended['n_features']} features, fitted on 40 rows" in told.err
    model = joblib.load("model.joblib")
    assert isinstance(model, Pipeline)
    assert model["machine"].n_features_in_ == recommended["n_features"]
    fresh = clinic(1)
    fresh.loc[0, "ward"] = "west"  # a word that nobody has seen
    scope: dict[str, Any] = {}
    exec(compile(told.out, "rebuilt", "exec"), scope)
    rebuilt = scope["model"]
    np.testing.assert_allclose(model.decision_function(fresh), rebuilt.decision_function(fresh), atol=1e-9)
    assert set(model.predict(fresh)) <= {"ill", "well"}
    assert (model.predict(clinic(0)) == clinic(0)["kind"]).mean() > 0.7

    # In another process, which has imported nothing.
    fresh.to_csv("fresh.csv", index=False)
    code = "import joblib, pandas; print(*joblib.load('model.joblib').predict(pandas.read_csv('fresh.csv')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert run.stdout.split() == model.predict(fresh).tolist()


def test_any_ranking_can_be_asked_for(call: Call, results: Path) -> None:
    told = call("export", results, "--ranking", "infoprop", "--keep", 3, "--python")
    assert told.code == 0, told.err
    assert "n_features_to_select=3" in told.out
    assert "selector__groups=data.groups" in told.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "say what to make of the results"),
        (("--model", "model.pkl"), "a model ends in .joblib or .skops"),
        (("--python", "--keep", 2), "--ranking LABEL and --keep N go together"),
        (("--python", "--ranking", "fischer", "--keep", 2), "no ranking is called 'fischer'; did you mean 'fisher'"),
        (("--python", "--ranking", "fisher", "--keep", 99), "99 features cannot be kept; mine has 8"),
    ],
)
def test_bad_input_is_told_in_a_line(call: Call, results: Path, options: tuple[Any, ...], message: str) -> None:
    told = call("export", results, *options)
    assert told.code == 2
    assert message in told.err
    assert len(told.err.strip().splitlines()) <= 2


def test_a_folder_without_results_or_recommendation(call: Call, results: Path) -> None:
    assert call("export", "nowhere", "--python").code == 3
    (results / "recommendation.csv").unlink()
    told = call("export", results, "--python")
    assert told.code == 2
    assert "holds no recommendation" in told.err


def test_skops_is_an_extra(call: Call, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skops.io", None)
    told = call("export", results, "--model", "model.skops")
    assert (told.code, "pip install skops" in told.err) == (2, True)


def test_what_skops_writes_loads_with_types_of_libraries_alone(call: Call, results: Path) -> None:
    from skops import io as skops_io  # noqa: PLC0415 - looks through all of scikit-learn, for this test alone

    assert call("export", results, "--model", "model.skops").code == 0
    strange = skops_io.get_untrusted_types(file="model.skops")
    assert set(strange) <= {"numpy.dtype", *TRUSTED}
    model = skops_io.load("model.skops", trusted=strange)
    assert call("export", results, "--model", "model.joblib").code == 0
    fresh = clinic(1)
    np.testing.assert_array_equal(model.decision_function(fresh), joblib.load("model.joblib").decision_function(fresh))


@pytest.mark.parametrize("categorical", ["one-hot", "ordinal"])
@pytest.mark.parametrize("missing", ["mean", "median", "most-frequent", "indicator", "drop"])
def test_the_transformer_makes_what_the_experiment_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, categorical: str
) -> None:
    monkeypatch.chdir(tmp_path)
    clinic(0).to_csv("mine.csv", index=False)
    data = load_dataset(DATA | {"missing": missing, "categorical": categorical})
    made = table_transformer(data).fit_transform(data.frame())
    np.testing.assert_allclose(made.astype(float), data.X, rtol=1e-12)
    rows = clinic(0).dropna() if missing == "drop" else clinic(0)
    assert data.labels().tolist() == rows["kind"].tolist()
