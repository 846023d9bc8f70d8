"""Feature selection for support vector machines.

Rankers and extractors are scikit-learn estimators, `SVM` and `BayesianSVM` scikit-learn classifiers. `rank` ranks the
features of a table as the command ``fsvm rank`` does, `certify` tells how far a trained machine is from the optimum,
and `load_results` reads the results of ``fsvm run``. Each name is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsvm_cli.commands.methods import methods
    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.opening import load_dataset
    from fsvm_cli.errors import DataError, FsvmError, UsageError
    from fsvm_cli.evidence.estimator import BayesianSVM
    from fsvm_cli.extraction.base import Extractor
    from fsvm_cli.extraction.lda import LinearDiscriminants
    from fsvm_cli.extraction.mmip import InformativeProjections
    from fsvm_cli.extraction.pca import PrincipalComponents
    from fsvm_cli.extraction.smife import SeparatedInformation
    from fsvm_cli.kernel_learning.estimator import LearnedKernelSVM
    from fsvm_cli.own_data.certify import certify
    from fsvm_cli.own_data.rank import rank
    from fsvm_cli.ranking.ard import AutomaticRelevance
    from fsvm_cli.ranking.average_separation import AverageSeparation
    from fsvm_cli.ranking.base import Ranker
    from fsvm_cli.ranking.boruta import Boruta
    from fsvm_cli.ranking.elastic_net import ElasticNet
    from fsvm_cli.ranking.eubafes import Eubafes
    from fsvm_cli.ranking.fisher import Fisher
    from fsvm_cli.ranking.forest import Forest
    from fsvm_cli.ranking.gradient_angle import GradientAngle
    from fsvm_cli.ranking.infoprop import Infoprop
    from fsvm_cli.ranking.kernel_selection import KernelSelection
    from fsvm_cli.ranking.knockoffs import Knockoffs
    from fsvm_cli.ranking.koller_sahami import KollerSahami
    from fsvm_cli.ranking.kolmogorov_smirnov import KolmogorovSmirnov
    from fsvm_cli.ranking.kpd import KernelParameterDescent
    from fsvm_cli.ranking.l1_logistic import L1Logistic
    from fsvm_cli.ranking.l1_svm import L1Svm
    from fsvm_cli.ranking.mifs import Mifs
    from fsvm_cli.ranking.mrmr import Mrmr
    from fsvm_cli.ranking.multi_task import MultiTask
    from fsvm_cli.ranking.mutual_information import MutualInformation
    from fsvm_cli.ranking.pearson import Pearson
    from fsvm_cli.ranking.pearson_redundancy import PearsonRedundancy
    from fsvm_cli.ranking.permutation_importance import PermutationImportance
    from fsvm_cli.ranking.radius_margin import RadiusMargin
    from fsvm_cli.ranking.random_order import RandomOrder
    from fsvm_cli.ranking.relief_f import ReliefF
    from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
    from fsvm_cli.ranking.shap import Shap
    from fsvm_cli.ranking.span import Span
    from fsvm_cli.ranking.stability_selection import StabilitySelection
    from fsvm_cli.ranking.wrapper import Wrapper
    from fsvm_cli.report.load import Results, load_results
    from fsvm_cli.svm import (
        SVM,
        Anova,
        ConvergenceError,
        Gaussian,
        Kernel,
        Laplace,
        Linear,
        Polynomial,
        Tanh,
        UnitDiagonal,
        WeightedSum,
    )
    from fsvm_cli.svm.nystroem import NystroemSVM

__version__ = "0.2.0"

_HOMES = {
    "commands.methods": ("methods",),
    "data.dataset": ("Dataset",),
    "data.opening": ("load_dataset",),
    "errors": (
        "DataError",
        "FsvmError",
        "UsageError",
    ),
    "evidence.estimator": ("BayesianSVM",),
    "extraction.base": ("Extractor",),
    "extraction.lda": ("LinearDiscriminants",),
    "extraction.mmip": ("InformativeProjections",),
    "extraction.pca": ("PrincipalComponents",),
    "extraction.smife": ("SeparatedInformation",),
    "kernel_learning.estimator": ("LearnedKernelSVM",),
    "own_data.certify": ("certify",),
    "own_data.rank": ("rank",),
    "ranking.ard": ("AutomaticRelevance",),
    "ranking.average_separation": ("AverageSeparation",),
    "ranking.base": ("Ranker",),
    "ranking.boruta": ("Boruta",),
    "ranking.elastic_net": ("ElasticNet",),
    "ranking.eubafes": ("Eubafes",),
    "ranking.fisher": ("Fisher",),
    "ranking.forest": ("Forest",),
    "ranking.gradient_angle": ("GradientAngle",),
    "ranking.infoprop": ("Infoprop",),
    "ranking.kernel_selection": ("KernelSelection",),
    "ranking.knockoffs": ("Knockoffs",),
    "ranking.koller_sahami": ("KollerSahami",),
    "ranking.kolmogorov_smirnov": ("KolmogorovSmirnov",),
    "ranking.kpd": ("KernelParameterDescent",),
    "ranking.l1_logistic": ("L1Logistic",),
    "ranking.l1_svm": ("L1Svm",),
    "ranking.mifs": ("Mifs",),
    "ranking.mrmr": ("Mrmr",),
    "ranking.multi_task": ("MultiTask",),
    "ranking.mutual_information": ("MutualInformation",),
    "ranking.pearson": ("Pearson",),
    "ranking.pearson_redundancy": ("PearsonRedundancy",),
    "ranking.permutation_importance": ("PermutationImportance",),
    "ranking.radius_margin": ("RadiusMargin",),
    "ranking.random_order": ("RandomOrder",),
    "ranking.relief_f": ("ReliefF",),
    "ranking.rfe": ("RecursiveFeatureElimination",),
    "ranking.shap": ("Shap",),
    "ranking.span": ("Span",),
    "ranking.stability_selection": ("StabilitySelection",),
    "ranking.wrapper": ("Wrapper",),
    "report.load": (
        "Results",
        "load_results",
    ),
    "svm": (
        "SVM",
        "Anova",
        "ConvergenceError",
        "Gaussian",
        "Kernel",
        "Laplace",
        "Linear",
        "Polynomial",
        "Tanh",
        "UnitDiagonal",
        "WeightedSum",
    ),
    "svm.nystroem": ("NystroemSVM",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "SVM",
    "Anova",
    "AutomaticRelevance",
    "AverageSeparation",
    "BayesianSVM",
    "Boruta",
    "ConvergenceError",
    "DataError",
    "Dataset",
    "ElasticNet",
    "Eubafes",
    "Extractor",
    "Fisher",
    "Forest",
    "FsvmError",
    "Gaussian",
    "GradientAngle",
    "Infoprop",
    "InformativeProjections",
    "Kernel",
    "KernelParameterDescent",
    "KernelSelection",
    "Knockoffs",
    "KollerSahami",
    "KolmogorovSmirnov",
    "L1Logistic",
    "L1Svm",
    "Laplace",
    "LearnedKernelSVM",
    "Linear",
    "LinearDiscriminants",
    "Mifs",
    "Mrmr",
    "MultiTask",
    "MutualInformation",
    "NystroemSVM",
    "Pearson",
    "PearsonRedundancy",
    "PermutationImportance",
    "Polynomial",
    "PrincipalComponents",
    "RadiusMargin",
    "RandomOrder",
    "Ranker",
    "RecursiveFeatureElimination",
    "ReliefF",
    "Results",
    "SeparatedInformation",
    "Shap",
    "Span",
    "StabilitySelection",
    "Tanh",
    "UnitDiagonal",
    "UsageError",
    "WeightedSum",
    "Wrapper",
    "certify",
    "load_dataset",
    "load_results",
    "methods",
    "rank",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
