"""Probabilities of classes, calibrated on samples that the machine has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.solvers.dual import Array

FOLDS = 5


def asked_for_probability(machine: Any) -> Literal[True]:
    """Say whether a machine has `predict_proba`.

    Raises
    ------
    AttributeError
        If it has not.
    """
    if not machine.probability:
        raise AttributeError("predict_proba is there with probability=True only, which calibrates it in fit")
    return True


def calibrated(machine: Any, X: Any, y: npt.ArrayLike, sample_weight: Array | None) -> Any:
    """Fit scikit-learn's calibration of a machine: one sigmoid per class, on the scores of left-out samples.

    Parameters
    ----------
    machine : SVM
    X : (n, n_features) array or CSR matrix
    y : (n,) array
        Class labels.
    sample_weight : (n,) array, optional

    Raises
    ------
    ValueError
        If a class has a single sample.
    """
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - slow to import, and seldom needed

    folds = min(FOLDS, int(np.unique(np.asarray(y), return_counts=True)[1].min()))
    if folds < 2:
        raise ValueError("probability needs two samples of each class or more, to leave some out")
    plain = clone(machine).set_params(probability=False)
    return CalibratedClassifierCV(plain, cv=folds, ensemble=False).fit(X, y, sample_weight=sample_weight)
