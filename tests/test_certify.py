"""Certificates of trained machines, foreign ones too, against machines in rational arithmetic and tight solutions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from fsvm_cli import SVM, UsageError, certify
from fsvm_cli.cli import cli
from fsvm_cli.errors import DataError
from fsvm_cli.own_data.foreign_models import read_model
from fsvm_cli.svm import DualProblem, solve
from tests.svm.exact_machines import exact_weights, hostile_samples

if TYPE_CHECKING:
    from pathlib import Path

Samples = tuple[np.ndarray, np.ndarray]


def drawn(rng: np.random.Generator, classes: int = 2) -> Samples:
    X = rng.standard_normal((45, 6))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(45) > 0).astype(int)
    return X, y + (classes - 2) * (X[:, 2] > 0.5)


@pytest.fixture
def samples(rng: np.random.Generator) -> Samples:
    return drawn(rng)


def tight(X: np.ndarray, y: np.ndarray, C: float, loss: str) -> np.ndarray:
    """The optimal w of LinearSVC with its bias last, from the dual problem without a bias."""
    Z, labels = np.column_stack([X, np.ones(len(X))]), np.where(y == y.max(), 1.0, -1.0)
    squared = loss == "squared_hinge"
    problem = DualProblem(Z @ Z.T, labels, np.inf if squared else C, equality=False, ridge=0.5 / C if squared else 0.0)
    return (solve(problem, tolerance=1e-12, on_failure="flag").alpha * labels) @ Z


def test_no_exact_machine_is_outside_the_certificate_of_svc() -> None:
    known = tied = 0
    for seed in range(40):
        X, y, C = hostile_samples(seed)
        exact = exact_weights(X, y, np.full(len(y), C))
        if exact is None:
            continue
        known += 1
        model = SVC(kernel="linear", C=C, tol=(1e-1, 1e-3, 1e-6)[seed % 3]).fit(X, y)
        found = certify(model, X, y)
        (machine,) = found.machines
        w = np.array([float(value) for value in exact])
        given = np.zeros(len(y))
        given[model.support_] = model.dual_coef_[0]
        apart = np.linalg.norm(given @ X - w)
        rounding = 1e-13 * (np.linalg.norm(w) + C * len(y) * np.abs(X).max())
        assert machine.distance[0] - rounding <= apart <= machine.distance[1] + rounding
        costs = [value * value for value in exact]
        for j, verdict in enumerate(found.verdicts or ()):
            tied += verdict != "decided"
            others = [cost for k, cost in enumerate(costs) if k != j]
            assert verdict != "decided" or costs[j] not in others
        order = sorted(range(len(costs)), key=lambda j: -costs[j])
        for size in found.decided_sizes[:-1]:
            assert costs[order[size - 1]] > costs[order[size]]
    assert known > 25
    assert tied > 5


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_loose_svc_is_certified_and_repaired(rng: np.random.Generator, kernel: str, classes: int) -> None:
    X, y = drawn(rng, classes)
    parameters = {"kernel": kernel, "coef0": 1.0, "C": 2.0}
    loose, exact = SVC(**parameters, tol=1e-1).fit(X, y), SVC(**parameters, tol=1e-10).fit(X, y)
    far, near = certify(loose, X, y), certify(exact, X, y)
    for a, b in zip(far.machines, near.machines, strict=True):
        assert a.relative_gap > b.relative_gap
        assert a.relative_gap > 1e-6
        assert b.distance[1] < 1e-4 * b.norm
        assert a.distance[0] > 10 * b.distance[1]
        assert a.bias[0] <= b.bias[1]
        assert b.bias[0] <= a.bias[1]
    assert far.decided_predictions.all()
    others = set(far.other_predictions.tolist())
    if classes == 2:
        assert others == set(np.flatnonzero(loose.predict(X) != exact.predict(X)).tolist())
        np.testing.assert_allclose(
            np.mean(far.machines[0].bias), exact.intercept_[0], atol=1e-4 * (1 + abs(exact.intercept_[0]))
        )
    assert (far.verdicts is None) == (kernel != "linear")


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svc_is_held_against_its_own_problem(samples: Samples, loss: str, fit_intercept: bool) -> None:
    X, y = samples
    model = LinearSVC(loss=loss, tol=1e-1, C=0.5, fit_intercept=fit_intercept, random_state=0).fit(X, y)
    found = certify(model, X, y)
    (machine,) = found.machines
    assert any("squared" in remark for remark in found.remarks) == (loss == "squared_hinge")
    assert any("penalised" in remark for remark in found.remarks) == fit_intercept
    if fit_intercept:
        w = tight(X, y, 0.5, loss)
        apart = np.linalg.norm(np.append(model.coef_[0], model.intercept_) - w)
        assert machine.distance[0] - 1e-6 <= apart <= machine.distance[1] + 1e-6
        np.testing.assert_allclose(machine.coef, w[:-1], atol=1e-5)
    assert machine.radius < 1e-5
    assert machine.relative_gap > 0


def test_of_own_machines_the_certificate_agrees_with_their_gap(rng: np.random.Generator) -> None:
    X, y = drawn(rng, 3)
    for shape in ("ovr", "ovo"):
        found = certify(SVM(C=3.0, tolerance=1e-9, decision_function_shape=shape).fit(X, y), X, y)
        assert all(machine.relative_gap < 2e-9 for machine in found.machines)
        assert found.decided_predictions.all()
        assert len(found.other_predictions) == 0


def test_class_weights_and_pipelines_are_part_of_the_problem(samples: Samples) -> None:
    X, y = samples
    for machine in (
        SVC(kernel="linear", class_weight={0: 3.0}, tol=1e-9),
        LinearSVC(class_weight="balanced", tol=1e-9),
    ):
        found = certify(make_pipeline(StandardScaler(), machine).fit(X + 5.0, y), X + 5.0, y)
        assert found.machines[0].distance[1] < 1e-4 * found.machines[0].norm


def test_copies_and_machines_that_see_nothing_are_never_decided(samples: Samples) -> None:
    X, y = samples
    found = certify(SVC(kernel="linear").fit(np.column_stack([X, X[:, 0]]), y), np.column_stack([X, X[:, 0]]), y)
    assert (found.verdicts or ())[0] == (found.verdicts or ())[6] == "copy"
    twice, both = np.vstack([X, X]), np.repeat([0, 1], len(X))
    blind = certify(SVC(kernel="linear").fit(twice, both), twice, both)
    assert set(blind.verdicts or ()) == {"tied"}
    assert not blind.decided_predictions.any()


def test_a_column_less_a_constant_is_no_copy_where_the_bias_is_penalised(samples: Samples) -> None:
    X, y = np.round(64.0 * samples[0]) / 64.0, samples[1]  # so that adding 2 rounds nothing
    X = np.column_stack([X, X[:, 0] + 2.0])
    assert "copy" not in (certify(LinearSVC().fit(X, y), X, y).verdicts or ())
    assert "copy" in (certify(SVC(kernel="linear").fit(X, y), X, y).verdicts or ())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SVC(kernel="sigmoid"), "kernel sigmoid: the kernels linear, rbf and poly"),
        (LinearSVC(penalty="l1"), "only penalty='l2'"),
        (LinearSVC(multi_class="crammer_singer"), "one against the rest"),
        (LogisticRegression(), "LogisticRegression: only SVC and LinearSVC"),
        (SVM(C=float("inf"), on_failure="flag"), "a hard margin"),
    ],
)
def test_models_that_no_bound_is_known_for_are_refused_by_name(samples: Samples, model: Any, words: str) -> None:
    X, y = samples
    with pytest.raises(UsageError, match=words):
        certify(model.fit(X, y), X, y)


@pytest.mark.parametrize(
    ("machine", "attribute"),
    [(SVC(kernel="linear"), "_gamma"), (SVC(kernel="linear"), "class_weight_"), (LinearSVC(), "multi_class")],
    ids=str,
)
def test_a_model_of_a_version_without_an_attribute_is_refused_by_name(
    samples: Samples, machine: Any, attribute: str
) -> None:
    X, y = samples
    machine.fit(X, y)
    delattr(machine, attribute)
    with pytest.raises(UsageError, match=f"has no {attribute}, as one that another version has written"):
        certify(machine, X, y)


@pytest.mark.filterwarnings("ignore:The `probability` parameter was deprecated:FutureWarning")
def test_probability_outputs_change_no_certificate(samples: Samples, tmp_path: Path) -> None:
    X, y = samples
    plain = SVC(kernel="linear", C=0.7).fit(X, y)
    found = certify(plain, X, y)
    with_probability = certify(SVC(kernel="linear", C=0.7, probability=True, random_state=0).fit(X, y), X, y)
    np.testing.assert_allclose(with_probability.machines[0].distance, found.machines[0].distance)
    path = tmp_path / "trained.model"
    path.write_text(as_libsvm(plain, ("0", "1")).replace("label 0 1", "label 0 1\nprobA -2.1\nprobB 0.1"))
    np.testing.assert_allclose(certify(path, X, y, C=0.7).machines[0].distance, found.machines[0].distance, rtol=1e-6)


def test_rows_features_classes_and_weights_of_another_training_are_refused(samples: Samples) -> None:
    X, y = samples
    model = SVC(kernel="linear").fit(X, y)
    with pytest.raises(UsageError, match="no row of the data"):
        certify(model, X + 1.0, y)
    with pytest.raises(UsageError, match="was trained on 6 features"):
        certify(model, X[:, :4], y)
    with pytest.raises(UsageError, match="tells 0, 1 apart"):
        certify(model, X, y + 1)
    with pytest.raises(UsageError, match="is not fitted"):
        certify(SVC(), X, y)
    weighted = SVC(kernel="linear").fit(X, y, sample_weight=np.full(len(y), 9.0))
    with pytest.raises(UsageError, match="weights of samples"):
        certify(weighted, X, y)


def as_libsvm(model: SVC, classes: tuple[str, str]) -> str:
    """What svm-train writes: of two classes the first is +1."""
    lines = ["svm_type c_svc", "kernel_type linear", "nr_class 2", f"total_sv {len(model.support_)}"]
    lines += [f"rho {float(model.intercept_[0])!r}", f"label {' '.join(classes)}"]
    lines += [f"nr_sv {' '.join(map(str, model.n_support_))}", "SV"]
    for vector, c in zip(model.support_vectors_, model.dual_coef_[0], strict=True):
        lines.append(" ".join([repr(float(-c)), *(f"{j}:{value:.8g}" for j, value in enumerate(vector, 1))]))
    return "\n".join(lines) + "\n"


def as_liblinear(model: LinearSVC, classes: tuple[str, str]) -> str:
    w = [*(-model.coef_[0]).tolist(), float(-model.intercept_[0])]
    lines = [
        "solver_type L2R_L2LOSS_SVC_DUAL",
        "nr_class 2",
        f"label {' '.join(classes)}",
        "nr_feature 6",
        "bias 1",
        "w",
    ]
    return "\n".join([*lines, *map(repr, w)]) + "\n"


@pytest.mark.parametrize("kind", ["libsvm", "liblinear"])
def test_a_model_file_is_certified_as_the_same_estimator(samples: Samples, tmp_path: Path, kind: str) -> None:
    X, y = samples
    model: Any = SVC(kernel="linear", C=0.7) if kind == "libsvm" else LinearSVC(C=0.7, random_state=0)
    model.fit(X, y)
    path = tmp_path / "trained.model"
    path.write_text((as_libsvm if kind == "libsvm" else as_liblinear)(model, ("0", "1")))
    by_file, by_estimator = certify(path, X, y, C=0.7), certify(model, X, y)
    np.testing.assert_allclose(by_file.machines[0].distance, by_estimator.machines[0].distance, rtol=1e-6)
    assert by_file.verdicts == by_estimator.verdicts
    with pytest.raises(UsageError, match=r"does not hold C; add the C of its training \(--C\)"):
        certify(path, X, y)
    path.write_text("\n".join(path.read_text().splitlines()[:-2]))
    with pytest.raises(DataError, match="is damaged, or of a version that is not known"):
        certify(path, X, y, C=0.7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("svm_type nu_svc\nkernel_type linear\n", "svm_type nu_svc: only c_svc"),
        ("svm_type c_svc\nkernel_type sigmoid\n", "kernel sigmoid"),
        ("solver_type L2R_LR\n", "solver_type L2R_LR: only"),
        ("hello\n", "is no model of libsvm or liblinear"),
    ],
)
def test_other_model_files_are_refused_by_name(samples: Samples, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "other.model"
    path.write_text(text)
    with pytest.raises((UsageError, DataError), match=words):
        certify(path, *samples, C=1.0)


def test_the_command_prints_a_certificate(samples: Samples, tmp_path: Path) -> None:
    X, y = samples
    table = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(y, "ill", "well"))
    file, model = tmp_path / "mine.csv", tmp_path / "svc.joblib"
    table.to_csv(file, index=False)
    read = pd.read_csv(file)
    joblib.dump(make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(read[list("abcdef")], read["kind"]), model)
    arguments = ["certify", str(model), str(file), "--target", "kind"]
    said = CliRunner().invoke(cli, arguments, catch_exceptions=False).output
    assert "well against ill" in said
    assert "45 of 45 predictions decided; 0 of them are others than the model's" in said
    assert "6 of 6 places by the weights decided" in said
    content = json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json"], catch_exceptions=False).output)
    assert content["places"] == ["decided"] * 6
    assert 0.0 < content["machines"][0]["relative_gap"] < 1e-2


def test_files_that_cannot_be_loaded_say_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_model(tmp_path / "none.joblib")
    path = tmp_path / "broken.joblib"
    path.write_bytes(b"no pickle")
    with pytest.raises(DataError, match="cannot be loaded"):
        read_model(path)


@pytest.mark.parametrize("kind", [SVC, LinearSVC, SVM, "pipeline"])
def test_columns_go_by_their_names(samples: Samples, tmp_path: Path, kind: Any) -> None:
    X, y = samples
    table = pd.DataFrame(X.round(3), columns=[*"abcdef"])
    table.assign(kind=y).to_csv(tmp_path / "t.csv", index=False)
    machine = SVM(C=1.0) if kind is SVM else (LinearSVC if kind is LinearSVC else SVC)(C=1.0)
    if kind is SVC or kind == "pipeline":
        machine.set_params(kernel="linear")
    model = make_pipeline(StandardScaler(), machine) if kind == "pipeline" else machine

    def said(columns: list[str], **more: float) -> Any:
        joblib.dump(model.fit(table[columns].assign(**more), y), tmp_path / "m.joblib")
        return CliRunner().invoke(
            cli,
            ["certify", str(tmp_path / "m.joblib"), str(tmp_path / "t.csv"), "--target", "kind", "--format", "json"],
        )

    def gap(columns: list[str]) -> float:
        (found,) = json.loads(said(columns).stdout)["machines"]
        return float(found["relative_gap"])

    assert gap([*"fedcba"]) == pytest.approx(gap([*"abcdef"]), abs=1e-3)
    with pytest.raises(UsageError, match="trained on other columns: z, w is missing; e, f is no column of the model"):
        raise said([*"abcd"], z=0.0, w=0.0).exception
    with pytest.raises(UsageError, match="e, f is no column"):
        raise said([*"abcd"]).exception
