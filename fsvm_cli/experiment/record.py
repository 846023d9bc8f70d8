"""What an experiment keeps of its first split beside figures of merit: the `record` of a config."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import threadpoolctl

from fsvm_cli.experiment.fit import RECORDED_METHODS
from fsvm_cli.experiment.plan import Experiment, Trial
from fsvm_cli.experiment.trial import draw_parts, fitted_ranker, machine_for
from fsvm_cli.ranking.gradient_angle import margin_region
from fsvm_cli.ranking.kpd import KernelPenalisedDescent
from fsvm_cli.sources import source_digests
from fsvm_cli.spec.machine import Machine
from fsvm_cli.svm import SVM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.trial import Parts
    from fsvm_cli.spec.schema import Ranking

GRID_POINTS = 49
MARGIN_AROUND_DATA = 0.15
PATH_POINTS = 101
"""Of a longer descent so many points are kept, equally far apart: more than a figure can show."""


def record_key(experiment: Experiment, name: str) -> str:
    """Key of a record in the store: its name, the code that makes it, the keys of the outcomes on its split."""
    code = source_digests(__name__)[__name__]
    places = [experiment.rankings().index(ranking) for ranking in recorded_rankings(experiment, name)]
    return "/".join([name, code, *(experiment.key(place, _recorded_trial(experiment)) for place in places)])


def record_of(experiment: Experiment, name: str) -> str:
    """Compute a record, as JSON of tables by name, each a list of columns."""
    make = {"decision-field": _decision_field, "descent-path": _descent_paths}[name]
    with threadpoolctl.threadpool_limits(limits=1):
        parts = draw_parts(experiment, _recorded_trial(experiment))
        tables = make(experiment, parts, recorded_rankings(experiment, name))
    return json.dumps({table: frame.to_dict(orient="list") for table, frame in tables.items()})


def tables_of(record: str) -> dict[str, pd.DataFrame]:
    """Read what `record_of` wrote."""
    return {table: pd.DataFrame(columns) for table, columns in json.loads(record).items()}


def recorded_rankings(experiment: Experiment, name: str) -> list[Ranking]:
    """Find the rankings that a record shows: one machine, or every descent."""
    of_method = [ranking for ranking in experiment.config.rankings if ranking.method == RECORDED_METHODS[name]]
    return of_method[:1] if name == "decision-field" else of_method


def _recorded_trial(experiment: Experiment) -> Trial:
    return Trial(n_train=max(experiment.n_test), split=0)


def _decision_field(experiment: Experiment, parts: Parts, rankings: Sequence[Ranking]) -> dict[str, pd.DataFrame]:
    """Evaluate the decision function and its gradient on a grid and at the training points, hermes2000, Figure 1."""
    (ranking,) = rankings
    classifier = experiment.config.classifier_of(ranking)
    machine = machine_for(experiment, _recorded_trial(experiment), classifier, parts)
    assert isinstance(machine, Machine), "a gradient-angle ranking has a machine"
    X, y = parts.X_train, np.where(parts.y_train == 1, 1.0, -1.0)
    svm = SVM(machine.kernel, machine.C, machine.tolerance, machine.solver).fit(X, parts.y_train)
    alpha = np.zeros(len(X))
    alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    region = margin_region(
        y * svm.decision_function(X),
        svm.margin_vectors_[0],
        svm.support_,
        ranking.parameters()["epsilon"],
    )
    points = pd.DataFrame({"class": parts.y_train, "alpha": alpha, "in_region": np.isin(np.arange(len(X)), region)})
    return {"points": _at(svm, X).join(points), "field": _at(svm, _grid(X))}


def _grid(X: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - MARGIN_AROUND_DATA * (high - low), high + MARGIN_AROUND_DATA * (high - low)
    axes = np.linspace(low, high, GRID_POINTS).T
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def _at(svm: SVM, X: NDArray[np.float64]) -> pd.DataFrame:
    gradient = svm.input_gradient(X)[0]
    return pd.DataFrame(
        {
            "x1": X[:, 0],
            "x2": X[:, 1],
            "decision_value": svm.decision_function(X),
            "gradient_x1": gradient[:, 0],
            "gradient_x2": gradient[:, 1],
        }
    )


def _descent_paths(experiment: Experiment, parts: Parts, rankings: Sequence[Ranking]) -> dict[str, pd.DataFrame]:
    """Follow the feature weights of kernels along their descents, kpd2018, section 3."""
    trial, paths = _recorded_trial(experiment), []
    weight_names = [f"weight of {name}" for name in experiment.source.feature_names]
    for ranking in rankings:
        machine = machine_for(experiment, trial, experiment.config.classifier_of(ranking), parts)
        ranker = fitted_ranker(experiment, trial, ranking, parts, machine)
        assert isinstance(ranker, KernelPenalisedDescent), "the plan has seen to it"
        for place, path in enumerate(ranker.path_):
            n_points = len(path.objective)
            kept = np.unique(np.linspace(0, n_points - 1, min(n_points, PATH_POINTS)).round().astype(int))
            steps = {
                "ranking": ranking.label,
                "machine": place,
                "iteration": kept,
                "objective": path.objective[kept],
                "n_active": path.n_active[kept],
            }
            paths.append(pd.DataFrame(steps).join(pd.DataFrame(path.weights[kept], columns=weight_names)))
    return {"path": pd.concat(paths, ignore_index=True)}
