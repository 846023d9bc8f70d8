"""Learning curves: lists of training sizes, in figures, on the terminal and in claims; and the oracle beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.columns import columns_of
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.curve_table import MAX_SIZES, learning_rows, sizes_shown
from fsvm_cli.report.drawing import draw_figures
from fsvm_cli.report.folder import read_table
from fsvm_cli.report.style import series_style
from fsvm_cli.report.summary import print_summary
from fsvm_cli.report.tables import write_tables
from fsvm_cli.report.verdicts import Trials
from fsvm_cli.spec.claims.base import Place
from fsvm_cli.store.store import Store
from fsvm_cli.svm import SVM
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

TRAIN = [20, 6, 12]
LEARNING: dict[str, Any] = {
    "dataset": {"name": "noise20", "samples": 60},
    "classifier": {"kernel": "linear", "C": 1, "tolerance": 1e-8},
    "protocol": {"splits": 2, "train": TRAIN, "test": 40, "seed": 7},
    "oracle": ["x2", "x1"],
}


@pytest.fixture
def ran(load: Callable[..., LoadedConfig], tmp_path: Path) -> tuple[LoadedConfig, Experiment, Path]:
    """Run a small learning curve, and write its tables."""
    loaded = load(**LEARNING)
    experiment = plan(loaded, print)
    folder = tmp_path / "results"
    run_job(experiment, folder)
    with Store(folder, writable=False) as store:
        write_tables(loaded, experiment, store, folder)
    return loaded, experiment, folder


def test_each_number_of_features_has_a_figure_with_a_line_for_each_competitor(
    ran: tuple[LoadedConfig, Experiment, Path],
) -> None:
    paths = {path.name: path.read_text() for path in draw_figures(ran[2], ("svg",))}
    names = [name for name in paths if "training-rows" in name]
    assert names == ["error-vs-training-rows-1-features.svg", "error-vs-training-rows-5-features.svg"]
    for name in names:
        for text in ("average-separation", "random", "oracle", "all features", "6", "12", "20", "Test error (%)"):
            assert f"<!-- {text} -->" in paths[name]
        assert "the kept (%)" not in paths[name], "all features of this generator are relevant"


@pytest.mark.usefixtures("_plain_figures")
def test_a_learning_curve_of_the_machine_alone_is_drawn_too(load: Callable[..., LoadedConfig], tmp_path: Path) -> None:
    protocol = {"splits": 2, "train": [20, 40], "test": 40, "seed": 7}
    loaded = load(dataset="wine", protocol=protocol, rankings=None, parts=["test", "train"])
    experiment = plan(loaded, print)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        write_tables(loaded, experiment, store, tmp_path)
    test, train = draw_figures(tmp_path, ("svg",))
    assert (test.name, train.name) == ("error-vs-training-rows.svg", "error-vs-training-rows-training-part.svg")
    assert "<!-- Test error (%) -->" in test.read_text()
    assert "<!-- Training error (%) -->" in train.read_text()
    assert "the kept (%)" not in test.read_text()


def test_a_run_ends_with_a_table_down_which_the_training_rows_grow(
    ran: tuple[LoadedConfig, Experiment, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    loaded, experiment, folder = ran
    with Store(folder, writable=False) as store:
        curves = write_tables(loaded, experiment, store, folder)
    print_summary(loaded, curves, folder, figures=(), caveats=())
    printed = capsys.readouterr().out
    for size in (1, 5):
        assert f"test accuracy in %, {size} features" in printed
    rows = [line.split()[1] for line in printed.splitlines() if line.startswith("│")]
    assert rows == ["6", "12", "20"] * 2
    (all_features,) = {line.rpartition("┃")[0].split("┃")[-1].strip() for line in printed.splitlines() if "┃" in line}
    assert all_features == "all features"


def test_a_method_that_fails_at_a_training_size_takes_no_other_line_with_it(
    ran: tuple[LoadedConfig, Experiment, Path],
) -> None:
    loaded, _, folder = ran
    table = read_table(folder / "curves.csv")
    curves = table[(table["part"] == "test") & ((table["ranking"] != "average-separation") | (table["train_size"] > 6))]
    for _, rows in learning_rows(curves, loaded.config):
        sizes = rows.groupby("ranking")["train_size"].apply(list).to_dict()
        assert sizes.pop("average-separation") == [12, 20]
        assert sizes == {label: [6, 12, 20] for label in ("random", "oracle", "all features")}
    assert list(learning_rows(curves[:0], loaded.config)) == []


def test_the_oracle_is_the_machine_on_the_features_that_it_names(ran: tuple[LoadedConfig, Experiment, Path]) -> None:
    _, experiment, folder = ran
    with Store(folder, writable=False) as store:
        collected = collect(experiment, store)
    for n_train in TRAIN:
        found = collected["oracle", n_train]
        for split in range(2):
            parts = draw_parts(experiment, Trial(n_train, split))
            # At one feature the first, x2; at 5, and at all, both.
            for column, known in enumerate(([1], [0, 1], [0, 1])):
                features = np.flatnonzero(np.isin(columns_of(experiment, split), known))
                svm = SVM("linear", C=1, tolerance=1e-8).fit(parts.X_train[:, features], parts.y_train)
                expected = np.mean(svm.predict(parts.X_test[:, features]) == parts.y_test)
                assert found.values["accuracy", "test"][split, column] == pytest.approx(expected)


def test_what_the_generator_knows_is_the_oracle(planned: Callable[..., Experiment]) -> None:
    assert (
        planned(oracle="relevant").compared_methods[-1].identity()
        == planned(oracle=[f"x{feature + 1}" for feature in planned().source.relevant_features or ()])
        .compared_methods[-1]
        .identity()
    )


def test_a_claim_may_speak_of_an_error_at_a_training_size(ran: tuple[LoadedConfig, Experiment, Path]) -> None:
    _, experiment, folder = ran
    with Store(folder, writable=False) as store:
        collected = collect(experiment, store)
    trials = Trials(experiment, collected)
    for label, features in (("random", 5), ("all features", "all"), ("oracle", 1)):
        place = {"ranking": label, "features": features, "train_size": 6}
        error, accuracy = (trials.at(Place(metric=metric, **place)) for metric in ("error", "accuracy"))
        np.testing.assert_allclose(error, 100 - accuracy)
    found = trials.at(Place(train_size=6)) / 100
    np.testing.assert_array_equal(found, collected["random", 6].values["accuracy", "test"][:, -1])


CLAIM = {"id": "a", "claim": "c", "where": "w", "kind": "value", "published": 1, "tolerance": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"expected": [CLAIM | {"at": {"train_size": 7}}]},
            r"the claim a speaks of 7 training rows, and the protocol trains on 20, 6, 12; name one of these",
        ),
        (
            {"protocol": LEARNING["protocol"] | {"train": [6, 21]}},
            r"21 training and 40 test rows cannot be drawn from the 60 rows of noise20",
        ),
        ({"oracle": ["x21"]}, r"noise20 has no feature 'x21'; did you mean 'x2'"),
        ({"dataset": "wine", "oracle": "relevant"}, r"nobody knows which features of wine matter; list their names"),
    ],
)
def test_what_the_data_do_not_have_is_refused_with_its_place(
    load: Callable[..., LoadedConfig], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=rf"small\.yaml:\d+:\d+: {message}"):
        plan(load(**(LEARNING | changes)), print)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rankings": [{"method": "random", "label": "oracle"}]}, "two rankings are called 'oracle'"),
        (
            {"metrics": ["rci"], "expected": [CLAIM | {"at": {"metric": "error"}}]},
            "the claim a speaks of accuracy, which 'metrics' does not list",
        ),
    ],
)
def test_what_a_config_does_not_have_is_refused(
    load: Callable[..., LoadedConfig], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load(**(LEARNING | changes))


def test_of_many_numbers_of_features_a_few_are_shown() -> None:
    assert sizes_shown([3, 9, 20]) == [3, 9]
    assert sizes_shown([20]) == [20]
    many = sizes_shown(range(1, 62))
    assert (many[0], many[-1], len(many)) == (1, 60, MAX_SIZES)


def test_series_are_told_apart() -> None:
    styles = [tuple(series_style(number).values()) for number in range(49)]
    assert len(set(styles)) == 49
