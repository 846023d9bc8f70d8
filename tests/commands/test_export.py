"""`fsvm export`: the recommended model, fitted on all rows, and the Python that rebuilds it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from scipy.stats import binomtest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
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
    "recommendation": {"permutations": 0},  # one is recommended, whether or not 20 patients show anything
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
    shutil.copy(finished / "mine.csv", tmp_path)
    noted = tmp_path / "results/mine/environment.json"  # where the data are
    noted.write_text(json.dumps(json.loads(noted.read_text()) | {"config_folder": str(tmp_path)}))
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
        (("--python", "--ranking", "fisher", "--keep", 99), "99 features cannot be kept; mine.csv has 8"),
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


@pytest.fixture
def model(call: Call, results: Path) -> Path:
    """Export a calibrated model of two features, and write rows that it has not seen."""
    told = call("export", results, "--ranking", "fisher", "--keep", 3, "--probability", "--model", "model.joblib")
    assert told.code == 0, told.err
    assert "loads with scikit-learn alone" in told.err
    clinic(1).to_csv("fresh.csv", index=False)
    return Path("model.joblib")


def test_predictions_of_a_file_are_those_of_the_model(call: Call, model: Path) -> None:
    told = call("predict", model, "fresh.csv")
    assert told.code == 0, told.err
    table = pd.read_csv(io.StringIO(told.out))
    loaded, fresh = joblib.load(model), pd.read_csv("fresh.csv")
    assert table["predicted"].tolist() == loaded.predict(fresh).tolist()
    np.testing.assert_allclose(table["probability of well"], loaded.predict_proba(fresh)[:, 1])
    # Other columns and the order do not matter, the class need not be there, and codes of gaps are read as such.
    needed = [column["name"] for column in json.loads(Path("model.joblib.card.json").read_text())["columns"]]
    fresh[needed[::-1]].astype(object).fillna("-").to_csv("less.csv", index=False, sep=";")
    assert call("predict", model, "less.csv", "--out", "answers.csv").code == 0
    assert Path("answers.csv").read_text() == told.out


def test_scores_and_importance_of_fresh_rows(call: Call, model: Path) -> None:
    told = call("evaluate", model, "fresh.csv", "--format", "json")
    assert told.code == 0, told.err
    found, loaded, fresh = json.loads(told.out), joblib.load(model), pd.read_csv("fresh.csv")
    right = loaded.predict(fresh) == fresh["kind"]
    assert found["accuracy"]["value"] == right.mean()
    limits = binomtest(int(right.sum()), 40).proportion_ci(method="wilson")
    assert (found["accuracy"]["low"], found["accuracy"]["high"]) == pytest.approx(limits)
    by_class = right.groupby(fresh["kind"]).mean()
    assert {label: share["value"] for label, share in found["recall"].items()} == by_class.to_dict()
    assert found["balanced_accuracy"]["value"] == pytest.approx(by_class.mean())
    probability = loaded.predict_proba(fresh)
    is_well = (fresh["kind"] == "well").to_numpy()
    assert found["area_under_roc"]["value"] == pytest.approx(roc_auc_score(is_well, probability[:, 1]))
    assert found["log_loss"] == pytest.approx(log_loss(is_well, probability))
    assert found["brier_score"] == pytest.approx(2 * brier_score_loss(is_well, probability[:, 1]))
    worth = {row["column"]: row for row in found["importance"]["columns"]}
    assert all(row["ci_low"] <= row["mean"] <= row["ci_high"] for row in worth.values())
    as_table = call("evaluate", model, "fresh.csv")
    assert "fitted on these rows" not in as_table.err
    assert all(name in as_table.out for name in worth)
    assert "the model was fitted on these rows" in call("evaluate", model, "mine.csv").err


def test_the_card_says_what_the_model_is(call: Call, model: Path, results: Path) -> None:
    card, text = json.loads(Path("model.joblib.card.json").read_text()), Path("model.joblib.card.md").read_text()
    assert card["model"]["needs_fsvm"] is False
    assert card["model"]["largest_difference"] <= 1e-9
    assert card["classes"] == {"ill": 20, "well": 20}
    assert card["fitted_on"]["data_sha256"] == load_dataset(DATA).sha256
    assert card["fitted_on"]["file_sha256"] == hashlib.sha256(Path("mine.csv").read_bytes()).hexdigest()
    assert {row["ranking"] for row in card["tried"]} >= {"fisher", "infoprop"}
    worth = card["importance"]["columns"]
    assert {row["column"] for row in worth} == {column["name"] for column in card["columns"]}
    assert all(row["score"] > 0 for row in worth)
    assert "## When not to use it" in text
    assert all(f"| {row['column']} |" in text for row in worth)


def test_a_model_that_does_not_fit_is_told_in_a_line(call: Call, model: Path) -> None:
    fresh = clinic(1)
    needed = json.loads(Path("model.joblib.card.json").read_text())["columns"][0]["name"]
    changed = {
        "lacks.csv": (fresh.drop(columns=needed), f"there is no column '{needed}'"),
        "words.csv": (fresh.assign(**{needed: "old"}), "holds words (old), and the model takes numbers"),
        "strange.csv": (fresh.assign(kind="dead"), "classes that the model does not know: dead; it knows ill, well"),
    }
    for name, (table, message) in changed.items():
        table.to_csv(name, index=False)
        told = call("evaluate", model, name)
        assert (told.code, message in told.err) == (3, True), told.err
        assert len(told.err.strip().splitlines()) <= 2
    assert call("predict", model, "nowhere.csv").code == 3
    assert call("predict", "nowhere.joblib", "words.csv").code == 3
    card = Path("model.joblib.card.json").read_text()
    Path("model.joblib.card.json").write_text("[" * 10**5)
    assert "damaged, or no card of a model" in call("predict", model, "fresh.csv").err
    Path("model.joblib.card.json").write_text(card)
    model.write_bytes(b"no model")
    assert "is the card of another model" in call("predict", model, "fresh.csv").err
    Path("model.joblib.card.json").unlink()
    assert "there is no card beside the model" in call("predict", model, "fresh.csv").err
    model.unlink()
    model.symlink_to("/dev/zero")
    told = call("predict", model, "fresh.csv")
    assert (told.code, "model.joblib: is a device, not a file" in told.err) == (3, True)


def without_figures(card: dict[str, Any], text: str) -> bool:
    return card["accuracy"] is None and not card["tried"] and "Test accuracy" not in text


@pytest.mark.parametrize(
    ("edit", "change"),
    [
        (lambda frame: frame.assign(dose=frame["dose"] + 0.5), "sha256 of the values [0-9a-f]{12} then"),
        (lambda frame: frame.iloc[:30], "40 rows then, 30 now"),
        (lambda frame: frame[frame.columns[::-1]], "features 'age', .* then, 'weight', .* now"),
        (lambda frame: frame.rename(columns={"dose": "weight", "weight": "dose"}), "features 'age', .* then"),
        (lambda frame: frame.replace("well", "whole"), "classes 'ill', 'well' then, 'ill', 'whole' now"),
    ],
    ids=["values", "rows", "order", "names", "classes"],
)
def test_figures_of_a_run_are_not_put_on_other_data(
    call: Call, results: Path, edit: Callable[[pd.DataFrame], pd.DataFrame], change: str
) -> None:
    edit(pd.read_csv("mine.csv")).to_csv("mine.csv", index=False)
    for option in (("--model", "m.joblib"), ("--python",)):
        told = call("export", results, *option)
        assert (told.code, told.out) == (3, "")
        assert re.search(f"the data are not those of the run any more .*{change}.*\n.*--refit", told.err), told.err
    assert not Path("m.joblib").exists()
    told = call("export", results, "--model", "m.joblib", "--refit")
    assert (told.code, "without the figures of the run" in told.err) == (0, True), told.err
    card, text = json.loads(Path("m.joblib.card.json").read_text()), Path("m.joblib.card.md").read_text()
    assert without_figures(card, text)
    assert "chosen by a run on other data" in text


def test_refitting_the_data_of_the_run_changes_nothing(call: Call, results: Path) -> None:
    assert call("export", results, "--model", "m.joblib", "--refit").code == 0
    card, text = json.loads(Path("m.joblib.card.json").read_text()), Path("m.joblib.card.md").read_text()
    assert not without_figures(card, text)


def test_what_shows_stored_results_needs_no_data(call: Call, results: Path) -> None:
    """So that it cannot put them beside others."""
    commands = [("plot",), ("report",), ("table",), ("compare",), ("stats",), ("export", "--crate", "crate")]

    def shown() -> list[Any]:
        shutil.rmtree("crate", ignore_errors=True)
        answers = [call(name, results, *options) for name, *options in commands]
        assert [each.code for each in answers] == [0] * len(commands), answers
        written = {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()}
        return [written, *(each.out for each in answers[1:])]  # figures that are there already are not drawn again

    before = shown()
    Path("mine.csv").unlink()
    assert shown() == before


def test_a_file_that_changed_since_the_fit_is_no_held_out_one(call: Call, model: Path) -> None:
    told = "mine.csv: has changed since the model was fitted on a file of this name"
    assert told not in call("evaluate", model, "fresh.csv").err
    pd.read_csv("mine.csv")[::-1].to_csv("mine.csv", index=False)
    assert told in call("evaluate", model, "mine.csv").err


def test_words_and_values_that_the_model_has_not_seen_are_counted(call: Call, results: Path) -> None:
    assert call("export", results, "--ranking", "fisher", "--keep", 8, "--model", "model.joblib").code == 0
    known = clinic(0)
    known.to_csv("known.csv", index=False)
    assert call("predict", "model.joblib", "known.csv").err == ""
    known.loc[:3, "ward"] = "violet"
    known.loc[4, "ward"] = "North"
    known.loc[5, "ward"] = " south\u00a0"
    known.loc[6:8, "dose"] = [99.0, -99.0, 98.0]
    known.loc[9:19, "kind"] = None
    known.to_csv("strange.csv", index=False)
    for command in ("predict", "evaluate"):
        read, strange, *others = call(command, "model.joblib", "strange.csv").err.splitlines()
        assert "'ward' (1 rows, such as ' south\\xa0' as 'south')" in read
        assert strange == (
            "no word that the model knows: 'violet' in 4 rows of 'ward', 'North' in 1 row of 'ward' (it knows "
            "'north'); outside the ranges of the card: 3 rows of 'dose'"
        )
        without = ["left out: 11 of 40 rows, without a class in 'kind'"]
        assert others == (without if command == "evaluate" else [])
    # The model itself reads words alike where it is loaded without fsvm.
    plain = known.assign(ward=known["ward"].where(known.index != 5, "south"))
    loaded = joblib.load("model.joblib")
    np.testing.assert_array_equal(loaded.decision_function(known), loaded.decision_function(plain))


def test_an_empty_field_that_the_model_cannot_fill_is_counted(call: Call, tmp_path: Path) -> None:
    clinic(0).dropna().to_csv("whole.csv", index=False)
    data = {"file": "whole.csv", "target": "kind", "categorical": "one-hot", "drop": ["patient"]}
    Path("whole.yaml").write_text(yaml.safe_dump(CONFIG | {"dataset": data, "rankings": [{"method": "fisher"}]}))
    assert call("run", "whole.yaml", "--jobs", "1").code == 0
    assert call("export", "results/whole", "--ranking", "fisher", "--keep", 6, "--model", "m.joblib").code == 0
    clinic(0).assign(age=1.0).to_csv("gaps.csv", index=False)
    n = int(clinic(0)["ward"].isna().sum())
    assert (
        f"no word that the model knows: an empty field in {n} rows of 'ward'"
        in call("predict", "m.joblib", "gaps.csv").err
    )


@pytest.mark.parametrize("out", ["crate", "crate.zip"])
def test_a_crate_has_what_the_profile_asks_for(call: Call, results: Path, tmp_path: Path, out: str) -> None:
    assert call("export", results, "--crate", out).code == 0
    if out.endswith(".zip"):
        shutil.unpack_archive(out, "crate")
    crate = Path("crate")
    metadata = json.loads((crate / "ro-crate-metadata.json").read_text())
    entities = {entity["@id"]: entity for entity in metadata["@graph"]}
    assert len(entities) == len(metadata["@graph"])
    assert all("@type" in entity for entity in entities.values())
    # RO-Crate 1.1: the descriptor, and what the root must and should have.
    assert metadata["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert {"@id": "https://w3id.org/ro/crate/1.1"} in descriptor["conformsTo"]
    assert descriptor["about"] == {"@id": "./"}
    assert root["@type"] == "Dataset"
    assert all(root[name] for name in ("name", "description", "datePublished", "license"))
    # Workflow Run Crate 0.5 and what it extends.
    wanted = {f"https://w3id.org/ro/wfrun/{name}/0.5" for name in ("process", "workflow")}
    assert wanted <= {each["@id"] for each in root["conformsTo"]}
    workflow = entities[root["mainEntity"]["@id"]]
    assert set(workflow["@type"]) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert entities[workflow["programmingLanguage"]["@id"]]["@type"] == "ComputerLanguage"
    action = entities[root["mentions"]["@id"]]
    assert action["@type"] == "CreateAction"
    assert action["instrument"] == root["mainEntity"]
    assert datetime.fromisoformat(action["endTime"]) >= datetime.fromisoformat(action["startTime"])
    # Every file is listed, with its hash; nothing is listed that is not there, nor referred to.
    readme = entities["README.md"]
    assert readme["about"] == {"@id": "./"}
    assert readme["encodingFormat"] == "text/markdown"
    software = [each for each in entities.values() if each["@type"] == "SoftwareApplication"]
    assert {each["name"] for each in software} == set(json.loads((crate / "run.json").read_text())["packages"])
    assert all(each["@id"].startswith("https://") for each in software if each["name"] != "fsvm")
    files = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    assert {each["@id"] for each in root["hasPart"]} == files - {"ro-crate-metadata.json"}
    assert "trials.sqlite" not in files
    for name in files - {"ro-crate-metadata.json"}:
        assert entities[name]["sha256"] == hashlib.sha256((crate / name).read_bytes()).hexdigest()
    referred = re.findall(r'"@id": "([^"]+)"', json.dumps(metadata))
    assert set(referred) <= entities.keys() | {"https://w3id.org/ro/crate/1.1"}
    assert entities["#data"]["sha256"] == load_dataset(DATA).sha256
    # The workflow runs.
    shutil.copy(crate / "workflow.yaml", "again.yaml")
    assert call("check", "again.yaml").code == 0


def test_a_crate_overwrites_nothing(call: Call, results: Path) -> None:
    told = call("export", results, "--crate", ".")
    assert (told.code, "holds something already" in told.err) == (2, True)
    assert call("export", "nowhere", "--crate", "crate").code == 3


def test_a_given_test_part_stays_held_out(call: Call, tmp_path: Path) -> None:
    clinic(0).to_csv("train.csv", index=False)
    others = clinic(1)
    others.assign(patient=others["patient"] + 20).to_csv("test.csv", index=False)
    data = DATA | {"file": "train.csv", "split": {"test_file": "test.csv"}}
    config = CONFIG | {"dataset": data, "protocol": {"train": "given", "splits": 1, "seed": 1}}
    Path("given.yaml").write_text(yaml.safe_dump(config))
    assert call("run", "given.yaml", "--jobs", "1").code == 0
    told = call("export", "results/given", "--ranking", "fisher", "--keep", 2, "--model", "m.joblib", "--python")
    assert "fitted on 40 rows" in told.err
    scope: dict[str, Any] = {}
    exec(compile(told.out, "rebuilt", "exec"), scope)
    found = joblib.load("m.joblib").decision_function(clinic(1))
    np.testing.assert_allclose(found, scope["model"].decision_function(clinic(1)), atol=1e-9)
    card = json.loads(Path("m.joblib.card.json").read_text())
    assert card["importance"]["about"] == "on the 40 rows outside the training part"
