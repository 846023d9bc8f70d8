"""Fits keep BLAS to one thread, and give back what they found."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from fsvm_cli.ranking import base
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.svm import SVM, estimator


def blas_threads() -> set[int]:
    return {library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers}


@pytest.mark.parametrize(("module", "fitted"), [(estimator, SVM()), (base, Fisher())])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_fit_keeps_blas_to_one_thread(
    monkeypatch: pytest.MonkeyPatch, module: object, fitted: SVM | Fisher, n_threads: int
) -> None:
    seen: list[set[int]] = []
    monkeypatch.setattr(module, "check_classification_targets", lambda _: seen.append(blas_threads()))
    with threadpool_limits(n_threads, user_api="blas"):
        fitted.fit(np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2)
        assert blas_threads() == {n_threads}
    assert seen == [{1}]
