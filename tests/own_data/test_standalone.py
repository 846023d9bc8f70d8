"""A model in scikit-learn's own classes: the same answers as fsvm's, from the columns that it keeps alone."""

from __future__ import annotations

import pickle
import pickletools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from fsvm_cli import SVM, Fisher, load_dataset
from fsvm_cli.errors import UsageError
from fsvm_cli.own_data.export import Export, table_transformer
from fsvm_cli.own_data.standalone import MAX_DIFFERENCE, stand_alone
from fsvm_cli.svm import Gaussian, Laplace, Polynomial, Tanh
from fsvm_cli.svm.nystroem import NystroemSVM

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.data.dataset import Dataset


def exported(data: Dataset, machine: Any, n_features: int = 3, scaling: Any = None, **more: Any) -> Export:
    steps = [
        ("columns", table_transformer(data)),
        ("scaling", scaling or StandardScaler()),
        ("selector", Fisher(n_features_to_select=n_features)),
        ("classifier", machine),
    ]
    return Export(Pipeline(steps), data, np.arange(data.n_samples), {}, **more)


def modules_of(model: Any) -> set[str]:
    """Name the packages that a pickle imports, by its instructions."""
    text = [(code.name, value) for code, value, _ in pickletools.genops(pickle.dumps(model, protocol=2))]
    return {str(value).split(" ")[0].split(".")[0] for name, value in text if name == "GLOBAL"}


def two_classes(name: str = "wine") -> Dataset:
    data = load_dataset(name)
    rows = data.y < 2
    return type(data)(data.name, data.X[rows], data.y[rows], data.feature_names, data.class_names[:2], data.sha256)


STANDARD = {"__builtin__", "_codecs", "collections", "copyreg", "copy_reg"}

MACHINES = [
    SVM(C=0.5),
    SVM(C=1, class_weight="balanced", output_scaling="times-margin"),
    SVM(Gaussian(theta=6.0), C=3),
    SVM("gaussian", C=3, output_scaling="divided-by-margin"),
    SVM(Polynomial(degree=2, offset=0.5, scale=0.3), C=1),
    SVM(Tanh(scale=0.1, offset=0.2), C=1, on_failure="flag"),
    NystroemSVM(Gaussian(theta=6.0), 1.0, 20, random_state=0),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("machine", MACHINES, ids=[str(number) for number in range(len(MACHINES))])
def test_machines_answer_as_before_without_fsvm(machine: Any, n_classes: int) -> None:
    data = two_classes() if n_classes == 2 else load_dataset("wine")
    before = exported(data, machine)
    fitted = before.fitted()
    found = stand_alone(before)
    assert (found.reason, found.n_ties) == ("", 0)
    assert found.largest_difference <= MAX_DIFFERENCE
    assert modules_of(found.model) <= STANDARD | {"sklearn", "numpy", "scipy"}
    frame = data.frame()[[*found.columns]]
    assert frame.shape[1] == 3
    expected = fitted.decision_function(data.frame())
    for samples in (frame, frame[frame.columns[::-1]], frame.to_numpy(), data.frame()):
        np.testing.assert_allclose(found.model.decision_function(samples), expected, atol=1e-9 * np.abs(expected).max())
        assert found.model.predict(samples).tolist() == fitted.predict(data.frame()).tolist()


@pytest.mark.parametrize("kernel", ["linear", Gaussian(theta=6.0)])
def test_pairs_of_classes_vote_as_before(kernel: Any) -> None:
    data = load_dataset("wine")
    before = exported(data, SVM(kernel, decision_function_shape="ovo"))
    found = stand_alone(before)
    assert (found.reason, found.n_ties) == ("", 0)
    assert found.largest_difference <= MAX_DIFFERENCE
    assert "fsvm_cli" not in modules_of(found.model)
    assert found.model.predict(data.frame()).tolist() == before.fitted().predict(data.frame()).tolist()


def test_what_scikit_learn_cannot_say_keeps_its_class_and_says_why() -> None:
    found = stand_alone(exported(two_classes(), SVM(Laplace(theta=3.0))))
    assert "no laplace kernel" in found.reason
    assert len(found.columns) == 3
    weighted = stand_alone(exported(two_classes(), SVM(Gaussian(theta=3.0, weights=(1.0, 2.0, 0.5)))))
    assert "no gaussian kernel with weights" in weighted.reason
    assert stand_alone(exported(two_classes(), GaussianNB())).reason == ""


def test_the_norm_of_a_row_needs_all_columns() -> None:
    data = two_classes()
    before = exported(data, SVM(), scaling=Normalizer())
    found = stand_alone(before)
    assert len(found.columns) == data.n_features
    assert len(found.features) == 3
    expected = before.fitted().decision_function(data.frame())
    np.testing.assert_allclose(found.model.decision_function(data.frame().to_numpy()), expected, atol=1e-9)


def test_probabilities_are_those_of_rows_left_out() -> None:
    # On labels drawn at random the scores of training rows tell the classes apart, and those of other rows do not.
    rng = np.random.default_rng(0)
    data = two_classes()
    noise = type(data)(
        "noise", rng.normal(size=(60, 40)), np.arange(60) % 2, tuple(f"f{j}" for j in range(40)), ("a", "b"), "0" * 64
    )
    found = stand_alone(exported(noise, SVM(Gaussian(theta=10.0), C=100), 20), probability=True)
    assert "fsvm_cli" not in modules_of(found.model)
    probability = found.model.predict_proba(noise.frame())
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert np.abs(probability - 0.5).max() < 0.3
    real = stand_alone(exported(data, SVM()), probability=True).model
    assert (real.predict_proba(data.frame())[:, 1].round() == data.y).mean() > 0.9


def test_probabilities_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="for each class against the rest"):
        stand_alone(exported(load_dataset("wine"), SVM(decision_function_shape="ovo")), probability=True)


def clinic(seed: int) -> pd.DataFrame:
    """Words, numbers, and codes of missing values as they stand in a file."""
    rng = np.random.default_rng(seed)
    ill = np.arange(80) % 2
    age = np.where(rng.uniform(size=80) < 0.2, "-", (rng.normal(size=80) + 2 * ill).round(3).astype(str))
    dose = np.where(rng.uniform(size=80) < 0.1, "unknown", (rng.normal(size=80) + ill).round(3).astype(str))
    ward = np.where(rng.uniform(size=80) < 0.1, "n/a", np.where(ill, "north", rng.choice(["south", "east"], 80)))
    return pd.DataFrame(
        {"age": age, "ward": ward, "dose": dose, "weight": rng.normal(size=80), "kind": np.where(ill, "ill", "well")}
    )


@pytest.mark.parametrize("categorical", ["one-hot", "ordinal"])
@pytest.mark.parametrize("missing", ["mean", "median", "most-frequent", "indicator", "drop"])
@pytest.mark.parametrize("n_features", [2, 4])
def test_codes_of_missing_values_are_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, categorical: str, n_features: int
) -> None:
    monkeypatch.chdir(tmp_path)
    clinic(0).to_csv("mine.csv", index=False)
    asked = {"file": "mine.csv", "target": "kind", "missing": missing, "categorical": categorical}
    data = load_dataset(asked | {"na": ["unknown", "n/a", "-"]})
    before = exported(data, SVM(), n_features, scaling=FunctionTransformer(), na=("unknown", "n/a", "-"))
    found = stand_alone(before)
    assert (found.reason, found.n_ties) == ("", 0)
    assert found.largest_difference <= MAX_DIFFERENCE
    assert "fsvm_cli" not in modules_of(found.model)
    model = pickle.loads(pickle.dumps(found.model))
    raw = clinic(0)[[*found.columns]]
    if missing == "drop":
        raw = raw[~raw.isin(["-", "unknown", "n/a"]).any(axis=1)]
        assert not found.missing_codes
        return
    expected = before.fitted().decision_function(data.frame())
    # As text, as pandas reads it with these codes, and as an array.
    as_read = raw.replace({"-": np.nan, "unknown": np.nan, "n/a": np.nan})
    for samples in (raw, as_read, raw.to_numpy(dtype=object)):
        np.testing.assert_allclose(model.decision_function(samples), expected, atol=1e-9)
    if "age" in found.columns:
        with pytest.raises(ValueError, match="could not convert string to float: 'old'"):
            model.predict(raw.assign(age="old"))
