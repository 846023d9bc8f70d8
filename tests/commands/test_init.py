"""`fsvm init`, and the recommendation in which a run of its config ends."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from fsvm_cli.cli import cli
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.experiment.plan import plan
from fsvm_cli.own_data.export import export
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.recommendation import describe_recommendation
from fsvm_cli.runner.verify import stored_config
from fsvm_cli.spec.load import load_any
from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable


pytestmark = pytest.mark.usefixtures("plain_figures")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fsvm(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, list(map(str, arguments)))
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def table(rng: np.random.Generator, n_rows: int, n_features: int, share: float = 0.5) -> pd.DataFrame:
    """Two classes that the first two features tell apart."""
    y = np.arange(n_rows) < share * n_rows
    X = rng.normal(size=(n_rows, n_features))
    X[:, :2] += 1.5 * y[:, None]
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(n_features)]).assign(y=np.where(y, "ill", "well"))


KINDS: dict[str, tuple[Callable[[np.random.Generator], pd.DataFrame], tuple[str, ...], dict[str, Any]]] = {
    "small": (lambda rng: table(rng, 60, 4), (), {"subsets": "all", "metrics": ("accuracy", "balanced-accuracy")}),
    "wide": (lambda rng: table(rng, 30, 300), (), {}),
    "imbalanced": (lambda rng: table(rng, 100, 4, 0.1), (), {"metrics": ("balanced-accuracy", "accuracy")}),
    "a tiny class": (lambda rng: table(rng, 30, 4, 0.1), (), {}),
    "words": (
        lambda rng: table(rng, 40, 2).assign(word=["a: #b", "c'd"] * 20),
        ("--categorical", "one-hot", "--drop", "f0"),
        {},
    ),
    "missing": (lambda rng: table(rng, 40, 3).mask(rng.uniform(size=(40, 4)) < 0.05), ("--missing", "drop"), {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_config_is_one_that_a_run_takes(kind: str, rng: np.random.Generator) -> None:
    make, options, expected = KINDS[kind]
    Path("data").mkdir()
    make(rng).to_csv("data/my file.csv", index=False)
    fsvm("init", "data/my file.csv", "--target", "y", *options, "--out", "configs/mine.yaml")
    assert "correct" in fsvm("check", "configs/mine.yaml").stdout
    config = load_any("configs/mine.yaml").config
    assert {key: getattr(config, key) for key in expected} == expected
    assert config.expected == ()
    assert {"fisher", "rfe", "random"} <= {ranking.method for ranking in config.rankings}


def test_a_sparse_file_gets_methods_that_take_it() -> None:
    Path("mine.svm").write_text("".join(f"{row % 2} {1 + row % 3}:1 {4 + row % 2}:2\n" for row in range(30)))
    fsvm("init", "mine.svm")
    fsvm("check", "mine.yaml")
    assert {ranking.method for ranking in load_any("mine.yaml").config.rankings} == {
        "mutual-information",
        "infoprop",
    }


def test_what_is_slow_for_the_size_stands_in_a_comment(rng: np.random.Generator) -> None:
    table(rng, 3_200, 2).to_csv("mine.csv", index=False)
    fsvm("init", "mine.csv", "--target", "y")
    assert "rfe" not in {ranking.method for ranking in load_any("mine.yaml").config.rankings}
    assert "# takes long: - {method: rfe}" in Path("mine.yaml").read_text()


def test_suspects_are_said_and_written(rng: np.random.Generator) -> None:
    table(rng, 40, 2).assign(id=range(40)).to_csv("mine.csv", index=False)
    assert "numbers the rows: 'id'" in fsvm("init", "mine.csv", "--target", "y").stderr
    assert "# Note: suspect, numbers the rows: 'id'" in Path("mine.yaml").read_text()


def test_nothing_is_overwritten_and_mistakes_are_named(rng: np.random.Generator) -> None:
    table(rng, 40, 2).to_csv("mine.csv", index=False)
    Path("mine.yaml").write_text("mine\n")
    with pytest.raises(UsageError, match=r"mine\.yaml: exists already; name another with --out"):
        fsvm("init", "mine.csv", "--target", "y")
    with pytest.raises(UsageError, match="a config ends in"):
        fsvm("init", "mine.csv", "--target", "y", "--out", "mine.csv")
    with pytest.raises(UsageError, match="wine: there is no such file; built-in data sets have configs"):
        fsvm("init", "wine")
    with pytest.raises(DataError, match=r"other\.csv: cannot be read"):
        fsvm("init", "other.csv", "--target", "y")
    assert Path("mine.yaml").read_text() == "mine\n"


def test_a_run_of_it_ends_in_a_recommendation(rng: np.random.Generator) -> None:
    table(rng, 60, 4).assign(word=["u", "v", "w"] * 20).to_csv("mine.csv", index=False)
    fsvm("init", "mine.csv", "--target", "y", "--categorical", "one-hot")
    config = Path("mine.yaml")
    config.write_text(config.read_text().replace("splits: 100", "splits: 6"))
    said = fsvm("run", config, "--jobs", 1, "--out", "results").stdout
    rows = pd.read_csv("results/mine/recommendation.csv").set_index("ranking")
    with Store(Path("results/mine"), writable=False) as store:
        collected = collect(plan(stored_config(Path("results/mine")), print), store)
    curves = {label: trials.values["accuracy", "test"] for (label, _), trials in collected.items()}
    best_of_all = max(
        (values[:, np.argmax(values.mean(axis=0))] for label, values in curves.items() if label != "random"),
        key=np.mean,
    )

    def is_near(behind: np.ndarray) -> bool:
        return bool(behind.mean() <= behind.std(ddof=1) * np.sqrt(1 / 6 + 20 / 40) + 1e-12)

    near_best_of_all = {}
    for label, values in curves.items():
        own_best = values[:, np.argmax(values.mean(axis=0))]
        size = next(size for size, mean in enumerate(values.T, start=1) if is_near(own_best - mean))
        assert rows.loc[label, "n_features"] == size
        if label != "random" and is_near(best_of_all - values[:, size - 1]):
            near_best_of_all[label] = size
    chosen = rows[rows["recommended"]]
    assert len(chosen) == 1
    assert chosen["tied"].all()
    assert chosen["n_features"].item() == near_best_of_all[chosen.index.item()] == min(near_best_of_all.values())
    assert set(chosen["steady_features"].item().split("; ")) <= {f"f{j}" for j in range(4)}
    assert rows.loc["most frequent class", "mean"] == 0.5
    assert rows.loc["all features", "n_features"] == 7
    assert "Recommended: " in said
    assert "Not known: " in said
    assert "The model, fitted on all rows: fsvm export results/mine --model model.joblib" in said
    assert not re.search(r"\.0 features", said)
    larger = chosen["best_n_features"].item() > chosen["n_features"].item()
    assert (f"The mean is highest with {chosen['best_n_features'].item():.0f} features" in said) == larger
    steady = set(str(chosen["steady_features"].item()).split("; "))
    assert steady <= set(str(chosen["best_steady_features"].item()).split("; "))
    command = shlex.split(re.search(r"The columns themselves: (.*)", said)[1])  # type: ignore[index]
    fsvm(*command[1:])
    assert pd.read_csv("selected.csv").columns[-1] == "y"
    fsvm("verify", "results/mine")


@pytest.mark.parametrize(
    ("ranking", "classifier", "options"),
    [
        ("{method: rfe, step: 0.5}", "{kernel: linear, C: 1, class_weight: balanced}", ("step=0.5", "class_weight=")),
        ("{method: gradient-angle}", "{kernel: gaussian, theta: 4, C: 2}", ("kernel=", "theta=4", "C=2")),
        ("{method: fisher}", "{kernel: gaussian, theta: 4, C: 2}", ()),
        ("{method: rfe}", "{kernel: linear, C: 1, tune: {C: [0.1, 1], folds: 2}}", None),
    ],
)
def test_the_command_for_the_columns_ranks_by_the_same_machine(
    rng: np.random.Generator, ranking: str, classifier: str, options: tuple[str, ...] | None
) -> None:
    table(rng, 40, 4, 0.3).to_csv("mine.csv", index=False)
    Path("mine.yaml").write_text(
        f"title: mine\ndataset: {{file: mine.csv, target: y}}\nscaling: standard\nclassifier: {classifier}\n"
        f"protocol: {{splits: 2, train: 2/3, seed: 1}}\nrankings: [{ranking}]\nsubsets: all\n"
    )
    config = load_any("mine.yaml").config
    row = {"ranking": config.rankings[0].label, "method": config.rankings[0].method, "n_features": 2.0}
    rest = {"metric": "accuracy", "best_n_features": 2.0, "mean": 0.7, "ci_low": 0.6, "ci_high": 0.8}
    steady = {"tied": True, "recommended": True, "steady_features": "f0", "best_steady_features": "f0"}
    said = "\n".join(describe_recommendation(pd.DataFrame([row | rest | steady]), config, Path(), Path("results/mine")))
    found = re.search(r"The columns themselves: (.*)", said)
    assert (found is None) == (options is None)
    if found is not None and options is not None:
        words = shlex.split(found[1])
        assert words.count("--set") == len(options)
        assert all(any(word.startswith(option) for word in words) for option in options)
        fsvm(*words[1:])
        model = export(plan(load_any("mine.yaml"), print), str(row["ranking"]), 2).fitted()
        kept = np.array([f"f{j}" for j in range(4)])[model["selector"].get_support()]
        assert {*pd.read_csv("selected.csv").columns} == {*kept, "y"}
