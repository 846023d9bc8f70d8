"""Figures of merit of a model on held-out rows, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, matthews_corrcoef, roc_curve

from fsvm_cli.own_data.held_out import HeldOutRows, evaluate

METRICS = (
    "average-precision",
    "f1",
    "macro-f1",
    "mcc",
    "auc",
    "log-loss",
    "sensitivity-at-specificity-0.8",
    "accuracy",
)


def rows(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    labels = np.where(np.arange(n) % 3 == 0, "ill", "well")
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["a"] += 1.2 * (labels == "ill")
    return frame, labels


@pytest.mark.parametrize("positive", ["ill", "well", None])
def test_what_the_run_lists_is_computed(rng: np.random.Generator, positive: str | None) -> None:
    model = LogisticRegression().fit(*rows(90, rng))
    frame, labels = rows(60, rng)
    found = evaluate(model, HeldOutRows(frame, list(labels), ()), METRICS, positive)
    label = positive or "well"
    scores, is_positive = model.decision_function(frame), labels == label
    towards = scores if label == "well" else -scores
    predicted = model.predict(frame)
    false, true, _ = roc_curve(is_positive, towards, drop_intermediate=False)
    expected = {
        "average-precision": average_precision_score(is_positive, towards),
        "f1": f1_score(labels, predicted, pos_label=label),
        "macro-f1": f1_score(labels, predicted, average="macro"),
        "mcc": matthews_corrcoef(labels, predicted),
        "sensitivity-at-specificity-0.8": true[false <= 0.2 + 1e-9].max(),
    }
    assert {name: share.value for name, share in found.others.items()} == pytest.approx(expected)
    assert all(share.low <= share.value <= share.high for share in found.others.values())
    assert found.content()["others"].keys() == expected.keys()
    assert found.importance is not None
    assert found.importance.metric == "average-precision"
    columns = {row["column"]: row["mean"] for row in found.importance.columns}
    assert columns["a"] > columns["b"]


def test_a_loss_is_no_measure_of_what_a_column_is_worth(rng: np.random.Generator) -> None:
    model = LogisticRegression().fit(*rows(60, rng))
    frame, labels = rows(30, rng)
    found = evaluate(model, HeldOutRows(frame, list(labels), ()), ["log-loss", "auc"], "ill")
    assert found.log_loss is not None
    assert not found.others
    assert found.importance is not None
    assert found.importance.metric == "accuracy"
