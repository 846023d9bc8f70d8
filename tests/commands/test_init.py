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
from fsvm_cli.report.recommendation_in_words import describe_recommendation
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


def short(config: Path, **numbers: int) -> None:
    """Let a config that `fsvm init` wrote run for a few seconds."""
    text = config.read_text().replace("n_trees: 50", "n_trees: 5")
    for key, number in numbers.items():
        text = re.sub(rf"^  {key}: \d+", f"  {key}: {number}", text, flags=re.M)
    config.write_text(text)


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


@pytest.mark.parametrize(
    ("rows_per_class", "options", "is_stratified"), [(3, (), True), (10, (), False), (3, ("--groups", "site"), False)]
)
def test_a_class_of_few_rows_is_in_both_parts(
    rng: np.random.Generator, rows_per_class: int, options: tuple[str, ...], is_stratified: bool
) -> None:
    y = np.repeat(np.arange(30), rows_per_class)
    frame = table(rng, len(y), 3).assign(y=[f"class {code:02d}" for code in y], site=np.arange(len(y)) // 2)
    frame.to_csv("mine.csv", index=False)
    fsvm("init", "mine.csv", "--target", "y", *options)
    config = load_any("mine.yaml").config
    assert config.protocol.stratified == is_stratified


def test_thirty_classes_of_three_rows_end_well_and_recommend_nothing(rng: np.random.Generator) -> None:
    y = np.repeat(np.arange(30), 3)
    table(rng, 90, 3).assign(y=[f"class {code:02d}" for code in y]).to_csv("mine.csv", index=False)
    fsvm("init", "mine.csv", "--target", "y")
    config = Path("mine.yaml")
    short(config, splits=2, permutations=0)
    # Every other ranking would train some thousand machines of pairs more.
    text = re.sub(r"C: \[[^]]*\]", "C: [1]", config.read_text())
    config.write_text(re.sub(r"^  - {method: (?!fisher).*\n", "", text, flags=re.M))
    run = fsvm("run", config, "--jobs", 1)
    assert run.exit_code == 0
    assert "No subset is recommended: of class 'class 00' there are 3 rows" in " ".join(run.stdout.split())


def test_figures_of_merit_for_a_rare_class_are_named(rng: np.random.Generator) -> None:
    table(rng, 100, 4, 0.1).to_csv("mine.csv", index=False)
    fsvm("init", "mine.csv", "--target", "y")
    config = Path("mine.yaml")
    (line,) = [line for line in config.read_text().splitlines() if line.startswith("metrics:")]
    names, positive = re.search(r"to find the rare 'ill': (.*) \(add (positive: .*)\)", line).groups()  # type: ignore[union-attr]
    config.write_text(config.read_text().replace(line, f"metrics: [{names}]\n{positive}"))
    assert load_any("mine.yaml").config.metrics == ("average-precision", "f1", "sensitivity-at-specificity-0.95")
    assert fsvm("check", config).exit_code == 0


def test_features_that_act_together_are_found_by_a_machine_that_bends(rng: np.random.Generator) -> None:
    X = rng.normal(size=(180, 5))
    names = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    pd.DataFrame(X, columns=[f"f{j}" for j in range(5)]).assign(y=names).to_csv("mine.csv", index=False)
    fsvm("init", "mine.csv", "--target", "y")
    config = Path("mine.yaml")
    short(config, splits=4, permutations=0)
    config.write_text(config.read_text().replace("[0.1, 1, 10, 100]", "[0.1, 1]"))
    said = fsvm("run", config, "--jobs", 1).stdout
    row = pd.read_csv("results/mine/recommendation.csv").query("recommended == True").iloc[0]
    assert row["machine"] == "gaussian, tuned"
    assert row["steady_features"] == "f0; f1"
    assert re.search(r"Machines, by their best mean: gaussian, tuned [6-9]\d.*; linear, tuned [4-6]", said)
    assert "The grid of the gaussian, tuned machine may be too narrow: C = 1, the largest of its grid, in " in said
    assert "2 features" in fsvm("export", "results/mine", "--model", "model.joblib").output


def test_several_classes_are_told_apart_by_pairs(rng: np.random.Generator) -> None:
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc")).assign(y=[f"k{row % 6}" for row in range(90)])
    frame["a"] += 4 * (np.arange(90) % 6)  # on a line: a plane cuts off the outer ones only
    frame.to_csv("mine.csv", index=False)
    fsvm("init", "mine.csv", "--target", "y")
    config = Path("mine.yaml")
    short(config, splits=2, permutations=0)
    fsvm("check", "mine.yaml")
    fsvm("run", config, "--jobs", 1)
    rows = pd.read_csv("results/mine/recommendation.csv").set_index("ranking")
    assert rows.loc["fisher", "machine"] == "linear, tuned, by pairs"
    assert (
        rows.loc["fisher", "best_mean"] > rows.loc["rfe", "best_mean"] + 0.1
    )  # whose machines are one against the rest


def test_a_sparse_file_gets_methods_that_take_it() -> None:
    Path("mine.svm").write_text("".join(f"{row % 2} {1 + row % 3}:1 {4 + row % 2}:2\n" for row in range(30)))
    fsvm("init", "mine.svm")
    fsvm("check", "mine.yaml")
    assert {ranking.method for ranking in load_any("mine.yaml").config.rankings} == {
        "fisher",
        "gradient-angle",
        "infoprop",
        "l1-svm",
        "mutual-information",
        "random",
        "rfe",
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


def test_what_cannot_be_a_feature_is_left_out_with_the_reason(rng: np.random.Generator) -> None:
    frame = table(rng, 210, 2).assign(empty="", seen=pd.date_range("2020-01-01", periods=210).strftime("%Y-%m-%d"))
    frame["note"] = [f"word {row}" for row in range(210)]
    frame["day"] = [f"{row % 28 + 1}.{row % 12 + 1}.2021" for row in range(210)]
    frame.to_csv("mine.csv", index=False)
    said = fsvm("init", "mine.csv", "--target", "y").stderr
    assert "left out: 'seen', since it holds dates; a number, such as the days since an event" in said
    text = Path("mine.yaml").read_text()
    assert "  # dropped: empty, since it is empty\n" in text
    assert "  # dropped: note, since it holds 210 different words, and so names rows, or is free text\n" in text
    config = load_any("mine.yaml").config
    assert set(config.dataset.drop) == {"empty", "seen", "note", "day"}  # type: ignore[union-attr]
    assert "correct" in fsvm("check", "mine.yaml").stdout


def test_an_option_that_is_given_twice_is_refused(rng: np.random.Generator) -> None:
    table(rng, 40, 2).to_csv("mine.csv", index=False)
    with pytest.raises(UsageError, match=r"--target is given 2 times \(f0, y\); give it once"):
        fsvm("init", "mine.csv", "--target", "f0", "--target", "y")


def test_a_suspect_among_the_recommended_features_is_named_again(rng: np.random.Generator) -> None:
    frame = table(rng, 60, 4)
    frame["leak"] = (frame["y"] == "ill") + rng.normal(scale=0.3, size=60)
    frame.to_csv("mine.csv", index=False)
    Path("mine.yaml").write_text(SMALL.format(metric="accuracy") + "recommendation: {permutations: 0}\n")
    said = fsvm("run", "mine.yaml", "--jobs", 1, "--set", "protocol.splits=3").stdout
    assert re.search(
        r"Among them, too: suspect, alone (nearly separates a class|separates the classes perfectly): 'leak'", said
    )
    assert "the paper" not in said


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
    short(config, splits=6, permutations=19, permuted_splits=2)
    said = fsvm("run", config, "--jobs", 1, "--out", "results").stdout
    rows = pd.read_csv("results/mine/recommendation.csv").set_index("ranking")
    with Store(Path("results/mine"), writable=False) as store:
        collected = collect(plan(stored_config(Path("results/mine")), print), store)
    curves = {label: trials.values["accuracy", "test"] for (label, _), trials in collected.items()}
    # A curve ends with the columns that have a score in each split.
    means = {label: np.nan_to_num(values.mean(axis=0), nan=-1.0) for label, values in curves.items()}
    best_of_all = max(mean.max() for label, mean in means.items() if not label.startswith("random"))
    near_best_of_all = {}
    for label in ("fisher", "rfe", "relief-f", "random"):
        near = np.flatnonzero(means[label] >= best_of_all - 0.01 - 1e-12) + 1
        own = np.flatnonzero(means[label] >= means[label].max() - 0.01 - 1e-12) + 1
        assert rows.loc[label, "n_features"] == (near[0] if len(near) else own[0])
    for label, mean in means.items():
        near = np.flatnonzero(mean >= best_of_all - 0.01 - 1e-12) + 1
        if not label.startswith("random") and len(near):
            near_best_of_all[label] = near[0]
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
    assert (rows["chance"] == "found").all()
    assert rows["p_chance"].eq(0.05).all() or rows["p_chance"].eq(0.025).all()
    assert "random" not in re.search(r"Not told apart.*|$", said)[0]  # type: ignore[index]
    assert said.index("Recommended: ") < said.index("Better than chance (p = ") < said.index("Against all features")
    assert not curves.keys() & set(pd.read_csv("results/mine/curves.csv")["ranking"]) & {"random, order 2"}
    printed = fsvm("table", "results/mine").stdout
    interval = chosen.iloc[0][["mean", "ci_low", "ci_high"]] * 100
    assert "{:.1f} [{:.1f}, {:.1f}]".format(*interval).translate({91: "\\["}) in printed
    assert "95 % interval for other rows of the same kind" in printed
    steady = set(str(chosen["steady_features"].item()).split("; "))
    assert steady <= set(str(chosen["best_steady_features"].item()).split("; "))
    command = shlex.split(re.search(r"The columns themselves: (.*)", said)[1])  # type: ignore[index]
    fsvm(*command[1:])
    assert pd.read_csv("selected.csv").columns[-1] == "y"
    fsvm("verify", "results/mine")


SMALL = """title: mine
dataset: {{file: mine.csv, target: y}}
scaling: standard
classifier: {{kernel: linear, C: 1}}
protocol: {{splits: 4, train: 2/3, seed: 1}}
rankings: [{{method: fisher}}, {{method: random}}]
subsets: [1, 2, 4]
metrics: [{metric}]
"""


def test_on_noise_it_says_first_that_nothing_is_found() -> None:
    noise = np.random.default_rng(0).normal(size=(60, 4))  # of 20 such tables one is found, by the level of the test
    pd.DataFrame(noise, columns=list("abcd")).assign(y=["ill", "well"] * 30).to_csv("mine.csv", index=False)
    Path("mine.yaml").write_text(SMALL.format(metric="accuracy"))
    result = fsvm("run", "mine.yaml", "--jobs", 1)
    rows = pd.read_csv("results/mine/recommendation.csv")
    assert result.exit_code == 0
    assert re.search(
        r"^No ranking is better than chance on these data: nothing is recommended \(p = 0", result.stdout, re.M
    )
    assert "Recommended" not in result.stdout
    assert "fsvm export" not in result.stdout
    assert not rows["recommended"].any()
    assert (rows["chance"] == "not found").all()
    with pytest.raises(UsageError, match=r"nothing is recommended there.*--ranking 'fisher' --keep N"):
        fsvm("export", "results/mine", "--model", "model.joblib")


def test_of_few_rows_of_a_class_it_says_so_first_and_recommends_nothing(rng: np.random.Generator) -> None:
    frame = table(rng, 60, 4, 0.1)
    frame.loc[frame["y"] == "ill", "f0"] += 8
    frame.to_csv("mine.csv", index=False)
    Path("mine.yaml").write_text(SMALL.format(metric="balanced-accuracy"))
    said = fsvm("run", "mine.yaml", "--jobs", 1).stdout
    rows = pd.read_csv("results/mine/recommendation.csv").set_index("ranking")
    assert "No subset is recommended: of class 'ill' there are 6 rows, fewer than 10" in said
    assert not rows["recommended"].any()
    # All are recognised in all splits, and yet 6 rows do not show that the recall is above .54.
    assert rows.loc["fisher", "mean"] == 1.0
    assert rows.loc["fisher", "ci_low"] < 0.8


def test_a_class_of_one_row_and_many_classes_of_three_rows_lead_to_no_recommendation(rng: np.random.Generator) -> None:
    one = table(rng, 40, 4).assign(y=["odd", *["a"] * 19, *["b"] * 20])
    many = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd")).assign(y=[f"k{row % 30}" for row in range(90)])
    for frame, words in ((one, "of class 'odd' there is 1 row"), (many, "there are 3 rows, fewer than 10")):
        frame.to_csv("mine.csv", index=False)
        Path("mine.yaml").write_text(SMALL.format(metric="balanced-accuracy") + "recommendation: {permutations: 19}\n")
        result = fsvm("run", "mine.yaml", "--jobs", 1, "--overwrite", "--fresh")
        assert words in result.stdout


def test_a_test_that_could_show_nothing_is_refused(rng: np.random.Generator) -> None:
    table(rng, 40, 4).to_csv("mine.csv", index=False)
    Path("mine.yaml").write_text(SMALL.format(metric="accuracy") + "recommendation: {permutations: 5}\n")
    with pytest.raises(UsageError, match=r"5 permutations cannot show anything at the level \.05; write 19 or more"):
        fsvm("check", "mine.yaml")


def test_without_the_test_it_says_so_and_recommends(rng: np.random.Generator) -> None:
    table(rng, 40, 4).to_csv("mine.csv", index=False)
    Path("mine.yaml").write_text(SMALL.format(metric="accuracy") + "recommendation: {permutations: 0, margin: 0}\n")
    said = fsvm("run", "mine.yaml", "--jobs", 1).stdout
    assert "Whether any ranking is better than chance was not tested." in said
    row = pd.read_csv("results/mine/recommendation.csv").query("recommended == True").iloc[0]
    assert row["mean"] == row["best_mean"]


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
    columns = [f"{name}{end}" for name in ("behind_best", "above_random") for end in ("", "_ci_low", "_ci_high")]
    differences = dict.fromkeys([*columns, "p_random"], 0.0)
    steady |= differences | {
        "best_mean": 0.7,
        "chance": "not tested",
        "n_rarest": 12,
        "machine": "",
        "at_edge": "",
        "suspects": "",
    }
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
