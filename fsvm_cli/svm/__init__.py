"""The mathematics of one support vector machine.

The names below are imported on first use, so that a command that fits nothing does not wait for numba or scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fsvm_cli.jit_cache import use_cache_of_these_sources

if TYPE_CHECKING:
    from fsvm_cli.svm.estimator import SVM
    from fsvm_cli.svm.kernels.anova import Anova
    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.kernels.gaussian import Gaussian
    from fsvm_cli.svm.kernels.laplace import Laplace
    from fsvm_cli.svm.kernels.linear import Linear
    from fsvm_cli.svm.kernels.polynomial import Polynomial
    from fsvm_cli.svm.kernels.registry import KERNELS, kernel_for, kernel_from_name
    from fsvm_cli.svm.kernels.tanh import Tanh
    from fsvm_cli.svm.kernels.unit_diagonal import UnitDiagonal
    from fsvm_cli.svm.kernels.weighted_sum import WeightedSum
    from fsvm_cli.svm.multiclass import OneVsRest, decision_values, fit_one_vs_rest, predict_codes
    from fsvm_cli.svm.paths.nested import NestedCurves, nested_curves
    from fsvm_cli.svm.solvers.certificate import bias_of, duality_gap
    from fsvm_cli.svm.solvers.dual import ConvergenceError, DualProblem, DualSolution, InfeasibleError, Solver
    from fsvm_cli.svm.solvers.solve import solve
    from fsvm_cli.svm.tuning import GridSearch, grid_search

use_cache_of_these_sources()

_HOMES = {
    "estimator": ("SVM",),
    "kernels.anova": ("Anova",),
    "kernels.base": ("Kernel",),
    "kernels.gaussian": ("Gaussian",),
    "kernels.laplace": ("Laplace",),
    "kernels.linear": ("Linear",),
    "kernels.polynomial": ("Polynomial",),
    "kernels.registry": (
        "KERNELS",
        "kernel_for",
        "kernel_from_name",
    ),
    "kernels.tanh": ("Tanh",),
    "kernels.unit_diagonal": ("UnitDiagonal",),
    "kernels.weighted_sum": ("WeightedSum",),
    "multiclass": (
        "OneVsRest",
        "decision_values",
        "fit_one_vs_rest",
        "predict_codes",
    ),
    "paths.nested": (
        "NestedCurves",
        "nested_curves",
    ),
    "solvers.certificate": (
        "bias_of",
        "duality_gap",
    ),
    "solvers.dual": (
        "ConvergenceError",
        "DualProblem",
        "DualSolution",
        "InfeasibleError",
        "Solver",
    ),
    "solvers.solve": ("solve",),
    "tuning": (
        "GridSearch",
        "grid_search",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "KERNELS",
    "SVM",
    "Anova",
    "ConvergenceError",
    "DualProblem",
    "DualSolution",
    "Gaussian",
    "GridSearch",
    "InfeasibleError",
    "Kernel",
    "Laplace",
    "Linear",
    "NestedCurves",
    "OneVsRest",
    "Polynomial",
    "Solver",
    "Tanh",
    "UnitDiagonal",
    "WeightedSum",
    "bias_of",
    "decision_values",
    "duality_gap",
    "fit_one_vs_rest",
    "grid_search",
    "kernel_for",
    "kernel_from_name",
    "nested_curves",
    "predict_codes",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
