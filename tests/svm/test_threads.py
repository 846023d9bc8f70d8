"""Fits keep BLAS to one thread, and give back what they found."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from fsvm_cli import validation
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.svm import SVM


def blas_threads() -> set[int]:
    return {library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers}


@pytest.mark.parametrize("fitted", [SVM(), Fisher()])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_fit_keeps_blas_to_one_thread(monkeypatch: pytest.MonkeyPatch, fitted: SVM | Fisher, n_threads: int) -> None:
    seen: list[set[int]] = []
    monkeypatch.setattr(validation, "check_classification_targets", lambda _: seen.append(blas_threads()))
    with threadpool_limits(n_threads, user_api="blas"):
        before = blas_threads()  # a library that another test has loaded may know a single thread
        fitted.fit(np.random.default_rng(0).standard_normal((40, 3)), np.array(["a", "b"] * 20))
        assert max(before) == n_threads
        assert blas_threads() == before
    assert seen == [{1}]
