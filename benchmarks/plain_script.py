"""What one writes without fsvm: Figure 3(a) of hermes2000 with scikit-learn's SVC and joblib, into one CSV file.

`python plain_script.py N_SPLITS JOBS FILE`; the peer of `benchmarks.end_to_end`.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

C = 10.0


def machines(X: np.ndarray, y: np.ndarray) -> list[SVC]:
    """Fit one machine for each class against the rest."""
    return [SVC(C=C, kernel="linear").fit(X, y == code) for code in range(3)]


def accuracy(fitted: list[SVC], X: np.ndarray, y: np.ndarray) -> float:
    scores = np.stack([machine.decision_function(X) for machine in fitted])
    return float(np.mean(scores.argmax(axis=0) == y))


def gradient_angle(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    w = np.abs([machine.coef_[0] for machine in machines(X, y)])
    return np.asarray((2 / np.pi * np.arcsin(w / np.linalg.norm(w, axis=1, keepdims=True))).mean(axis=0))


def average_separation(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    separations = [np.abs(X[y == k][:, None] - X[y != k][None]).mean(axis=(0, 1)) for k in range(3)]
    return np.asarray(np.mean(separations, axis=0))


def one_split(X: np.ndarray, y: np.ndarray, seed: int) -> list[tuple[str, int, str, float]]:
    train, test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    angles = np.argsort(-gradient_angle(train, y_train), kind="stable")
    orders = {
        "gradient-angle": angles,
        "average-separation": np.argsort(-average_separation(train, y_train), kind="stable"),
        "random": np.random.default_rng(seed).permutation(X.shape[1]),
        "least important": angles[::-1],
    }
    rows = []
    for name, order in orders.items():
        for size in range(1, X.shape[1] + 1):
            subset = order[:size]
            fitted = machines(train[:, subset], y_train)
            rows.append((name, size, "train", accuracy(fitted, train[:, subset], y_train)))
            rows.append((name, size, "test", accuracy(fitted, test[:, subset], y_test)))
    return rows


def main() -> None:
    n_splits, jobs, target = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    X, y = load_wine(return_X_y=True)
    found = Parallel(n_jobs=jobs)(delayed(one_split)(X, y, seed) for seed in range(n_splits))
    rows = pd.DataFrame([row for rows in found for row in rows], columns=["ranking", "features", "part", "accuracy"])
    rows.groupby(["ranking", "features", "part"], sort=False)["accuracy"].agg(["mean", "std"]).to_csv(target)


if __name__ == "__main__":
    main()
