"""Groups of rows in files of the user's own: no split, fold or given split divides them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from fsvm_cli.cli import cli
from fsvm_cli.errors import FsvmError
from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.experiment.plan import check_before_run
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

    Planned = Callable[..., Experiment]
    Load = Callable[..., LoadedConfig]

N_PATIENTS, N_VISITS = 12, 3
CHANGES: dict[str, Any] = {
    "scaling": "none",
    "subsets": [1],
    "expected": None,
    "protocol": {"splits": 20, "train": "2/3", "seed": 1},
}


def visits() -> pd.DataFrame:
    """Patients of two kinds, each with several visits; `row` tells the rows apart."""
    patient = np.repeat(np.arange(N_PATIENTS), N_VISITS)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"row": np.arange(len(patient)), "a": rng.normal(size=len(patient)) + patient % 2})
    return frame.assign(patient=[f"p{number}" for number in patient], kind=np.where(patient % 2, "ill", "well"))


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def changes(frame: pd.DataFrame | None = None, **said: Any) -> dict[str, Any]:
        (visits() if frame is None else frame).to_csv(tmp_path / "mine.csv", index=False)
        dataset = {"file": "mine.csv", "target": "kind", "groups": "patient", **said}
        return CHANGES | {"dataset": dataset, "rankings": [{"method": "random"}]}

    return changes


def patients(rows: np.ndarray) -> set[int]:
    return set((rows[:, 0] // N_VISITS).astype(int).tolist())


def test_no_split_divides_a_patient_and_the_column_is_no_feature(planned: Planned, own: Any) -> None:
    experiment = planned(**own())
    assert experiment.source.feature_names == ("row", "a")
    for trial in experiment.trials():
        parts = draw_parts(experiment, trial)
        train, test = patients(parts.X_train), patients(parts.X_test)
        assert (len(train), len(test), train & test) == (8, 4, set())
        assert parts.groups_train is not None
        assert len(np.unique(parts.groups_train)) == 8


def test_no_fold_of_any_method_or_search_does(planned: Planned, own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, np.ndarray]] = []

    def spy(y: np.ndarray, folds: int, random_state: Any, **named: Any) -> Any:
        assert named["groups"] is not None, named
        divided = stratified_folds(y, folds, random_state, **named)
        for train, asked in divided:
            assert not set(named["groups"][train]) & set(named["groups"][asked])
        seen.append((named.get("caller", "tree"), named["groups"]))
        return divided

    for module in ("experiment.trial", "ranking.wrapper", "ranking.infoprop", "learners.pruned_tree"):
        monkeypatch.setattr(f"fsvm_cli.{module}.stratified_folds", spy)
    rankings = [{"method": "wrapper", "folds": 2}, {"method": "infoprop", "credit_on": "cross-validation", "folds": 2}]
    tree = {"method": "random", "label": "tree", "classifier": {"type": "decision-tree"}}
    machine = {"kernel": "linear", "C": 1, "tune": [{"C": [0.1, 1], "folds": 3}]}
    experiment = planned(**own() | {"rankings": [*rankings, tree], "classifier": machine})
    result = run_trial(experiment, next(experiment.trials()), dict.fromkeys(experiment.numbers(), (1,)))
    assert not result.errors
    assert {caller for caller, _ in seen} == {"tune", "wrapper", "infoprop", "tree"}


def test_other_groups_are_other_outcomes(planned: Planned, own: Any) -> None:
    frame = visits()
    grouped = planned(**own(frame))
    plain = planned(**own(frame.drop(columns="patient"), groups=None))
    paired = planned(**own(frame.assign(patient=np.arange(len(frame)) // 2)))
    assert len({each.source.identity for each in (grouped, plain, paired)}) == 3


@pytest.mark.parametrize(
    ("said", "frame", "message"),
    [
        ({"groups": "patiant"}, visits(), "no column 'patiant' to group by; did you mean 'patient'"),
        ({"groups": "kind"}, visits(), "'kind' is the target"),
        ({}, visits().assign(patient="p1"), "'patient' holds a single group"),
        ({}, visits().assign(patient=[None] + ["p1", "p2"] * 17 + ["p1"]), r"'patient' \(1\)"),
        (
            {"missing": "median"},
            visits().assign(patient=[None] + ["p1", "p2"] * 17 + ["p1"]),
            "group 'patient' is missing in 1 rows",
        ),
        (
            {"split": {"column": "part"}},
            visits().assign(part=["train", "test"] * 18),
            "row 1 is for training and row 2, of the same group, for testing",
        ),
    ],
)
def test_bad_groups(own: Any, load: Load, said: dict[str, Any], frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(FsvmError, match=message) as told:
        check_before_run(load(**own(frame, **said)))
    assert len(str(told.value).splitlines()) <= 2


def test_more_folds_than_groups(own: Any, load: Load) -> None:
    tune = {"classifier": {"kernel": "linear", "C": 1, "tune": [{"C": [0.1, 1], "folds": 12}]}}
    with pytest.raises(FsvmError, match=r"folds is 12, which needs 12 groups .* mine.csv has 12 in all"):
        check_before_run(load(**own() | tune))


def test_a_dropped_row_takes_its_group_along(own: Any, planned: Planned) -> None:
    frame = visits().assign(patient=[None, *visits()["patient"][1:]])
    assert planned(**own(frame, missing="drop")).source.n_samples == len(frame) - 1


def test_repeated_rows_point_to_groups_and_are_no_suspects_within_one(tmp_path: Path, own: Any) -> None:
    frame = visits()
    frame = frame.assign(row=frame.index // N_VISITS, a=frame["patient"].map(hash) % 7)
    own(frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        plain = CliRunner().invoke(cli, ["rank", "mine.csv", "--target", "kind", "--drop", "patient"])
        grouped = CliRunner().invoke(cli, ["rank", "mine.csv", "--target", "kind", "--groups", "patient"])
        CliRunner().invoke(cli, ["init", "mine.csv", "--target", "kind", "--drop", "patient", "--out", "plain.yaml"])
        assert "  # groups: COLUMN" in (tmp_path / "plain.yaml").read_text()
        started = CliRunner().invoke(cli, ["init", "mine.csv", "--target", "kind", "--groups", "patient"])
        assert '  groups: "patient"' in (tmp_path / "mine.yaml").read_text()
    assert "24 rows repeat an earlier row" in plain.stderr
    assert "groups: COLUMN" in plain.stderr
    assert "repeat an earlier row" not in grouped.stderr + started.stderr
    assert [plain.exit_code, grouped.exit_code, started.exit_code] == [0, 0, 0]


def test_a_blank_behind_a_group_changes_no_recommendation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group says more than the feature: where half of its rows lie on the other side, noise is recommended."""
    monkeypatch.chdir(tmp_path)
    frame = visits()
    spoilt = frame.assign(patient=[name + " " * (row % 2) for row, name in enumerate(frame["patient"])])
    config = CHANGES | {
        "title": "t",
        "classifier": {"kernel": "linear", "C": 1},
        "protocol": {"splits": 3, "train": "2/3", "seed": 1},
        "dataset": {"file": "mine.csv", "target": "kind", "groups": "patient"},
        "rankings": [{"method": "fisher"}],
        "recommendation": {"permutations": 0},
    }
    del config["expected"]
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    tables = []
    for table in (frame, spoilt):
        table.to_csv("mine.csv", index=False)
        ran = CliRunner().invoke(cli, ["run", "mine.yaml", "--jobs", "1"])
        assert ran.exit_code == 0, ran.output
        tables.append((tmp_path / "results/mine/recommendation.csv").read_bytes())
    assert tables[0] == tables[1]
