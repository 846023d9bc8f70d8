"""The evidence and its gradient with thirty samples, against thermodynamic integration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.evidence.gradient import evidence_gradient
from fsvm_cli.evidence.importance import ImportanceSettings, importance_averages
from fsvm_cli.evidence.kernels import ArdKernel, nystroem_factor
from fsvm_cli.evidence.losses import Hinge, SquaredHinge
from fsvm_cli.evidence.posterior import Posterior
from fsvm_cli.evidence.sampled_evidence import Hyperparameters
from tests.evidence.problems import two_classes
from tests.evidence.thermodynamic import integrated_log_evidence

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss

X, Y = two_classes(30)
HERE = Hyperparameters(1.3, ArdKernel(1.4, 0.6, (1.2, 1.5, 2.0)))
HALF = 0.25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "direction"),
    [(Hinge(), np.array([0.0, 1.0, 0.5, -1.0, -1.0, 1.0])), (SquaredHinge(), np.eye(6)[0])],
    ids=["hinge, kernel", "squared hinge, C"],
)
def test_the_evidence_and_its_slope_are_those_of_thermodynamic_integration(loss: Loss, direction: np.ndarray) -> None:
    def posterior(shift: float) -> Posterior:
        point = Hyperparameters.from_logarithms(HERE.logarithms + shift * direction)
        factor = nystroem_factor(point.kernel, X, np.arange(30), 30)
        return Posterior(factor.V, Y, point.C, loss)

    low, high = (integrated_log_evidence(p.V, p.y, p.C, loss, k) for k, p in enumerate(map(posterior, (-HALF, HALF))))
    for integral, shift in ((low, -HALF), (high, HALF)):
        weighted = importance_averages(posterior(shift), ImportanceSettings(n_pairs=200), np.random.default_rng(3))
        error = np.hypot(integral.error, weighted.log_evidence_error)
        assert abs(integral.value - weighted.log_evidence) < 5 * error < 0.02
    factor = nystroem_factor(HERE.kernel, X, np.arange(30), 30)
    weighted = importance_averages(posterior(0.0), ImportanceSettings(n_pairs=200), np.random.default_rng(4))
    found = evidence_gradient(factor, posterior(0.0), weighted.averages)
    slope = (high.value - low.value) / (2 * HALF)
    error = np.hypot(low.error, high.error) / (2 * HALF) + np.abs(direction) @ found.error
    # The difference over a step of this length is off by its third derivative, some hundredths of the slope.
    assert found.value @ direction == pytest.approx(slope, abs=5 * error + 0.05 * abs(slope) + 1e-3)
    assert abs(slope) > 3 * error
