"""What `rfe` keeps when only the order of the rows changes: solvers at their tolerances beside the certified order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.experiment.records.base import Record
from fsvm_cli.ranking.base import order_of, tie_priority
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config

    Order = Callable[[NDArray[np.float64], NDArray[np.intp]], Sequence[int]]

N_ORDERS = 10
SIZES = (4, 8, 64)
"""Of the sets of best features that are compared; those below the number of features."""
SVC_TOLERANCES = (1e-3, 1e-6)
"""scikit-learn's default, and a thousandth of it."""
OWN_TOLERANCES = (1e-3, 1e-6)
SMALLEST = 1e-12
"""Of a distance relative to a weight: below it is rounding."""


class RowOrders(Record):
    """The best features of all rows, in their order and in ten drawn ones, by solver and tolerance.

    The rows are those of both parts, scaled together. Table `row-orders`: how many of the best features are those of
    the certified order, where features that are copies of each other count as the same; "one row less" is the exact
    order without one row. Table `row-order-features`: the best features by each. Table `elimination-bounds`: for each
    elimination of the certified order how far the two smallest weights are apart, and the bounds on the distance of
    SVC's at its default tolerance, all in units of the second smallest; an elimination is decided by a bound that is
    below. Pairs of copies are left out. Several classes are separated one against the rest by every solver, and the
    costs added up, as `rfe` does.
    """

    name: ClassVar[str] = "row-orders"
    method: ClassVar[str] = "rfe"
    tables: ClassVar[tuple[str, ...]] = ("row-orders", "row-order-features", "elimination-bounds")

    def rankings(self, config: Config) -> list[Ranking]:
        """List the one ranking whose machine is taken."""
        return super().rankings(config)[:1]

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:
        """Find a kernel that is not linear."""
        here = ("record", config.record.index(self.name))
        for ranking in self.rankings(config):
            kernel = getattr(config.classifier_of(ranking), "kernel", None)
            if kernel != "linear":
                yield Issue(here, f"row orders need the linear kernel, not {kernel}; leave it out")
        yield from super().issues(config, data)

    def ratios(self, table: pd.DataFrame) -> Sequence[str]:
        """List the columns of distances, which go over many powers of ten."""
        return [name for name in ("difference", "by_gap", "by_first_order") if name in table]

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Rank by every solver on every order."""
        from fsvm_cli.ranking.certified_places import classes_of_copies  # noqa: PLC0415 - compiles

        (ranking,) = self.rankings(trial.experiment.config)
        own = trial.learner(trial.experiment.config.classifier_of(ranking)).ranking_arguments()
        rows = trial.parts.all_rows()
        X, y = fit_scaling(trial.experiment.config.scaling, rows.X).transform(rows.X), rows.y
        certified = ranking.estimator(**own, random_state=0).set_params(certify=True).fit(X, y)
        C, names = float(certified.C), trial.feature_names
        exact = order_of(certified.scores_).tolist()
        copies = classes_of_copies(np.ascontiguousarray(X.T), None)
        sizes = [size for size in SIZES if size < X.shape[1]]
        shared: list[tuple[str, float, int, int, int]] = []
        features: list[tuple[str, float, int, int, str]] = []

        def compare(solver: str, tolerance: float, number: int, order: Sequence[int]) -> None:
            for size in sizes:
                same = _n_shared(copies[order[:size]], copies[exact[:size]])
                shared.append((solver, tolerance, number, size, same))
            best = order[: sizes[-1]]
            features.extend(
                (solver, tolerance, number, rank, names[feature]) for rank, feature in enumerate(best, start=1)
            )

        compare("certified", certified.tolerance, 0, exact)
        orders = [np.arange(len(y)), *(trial.stream("row-orders", str(k)).permutation(len(y)) for k in range(N_ORDERS))]
        for solver, tolerance, eliminate in _solvers(certified, C):
            for number, order in enumerate(orders):
                compare(solver, tolerance, number, eliminate(X[order], y[order]))
        *_, (_, tolerance, eliminate) = _solvers(certified, C)
        for number, left_out in enumerate(orders[1][:N_ORDERS].tolist(), start=1):
            kept = np.delete(np.arange(len(y)), left_out)
            compare("one row less", tolerance, number, eliminate(X[kept], y[kept]))
        return {
            "row-orders": pd.DataFrame(shared, columns=["solver", "tolerance", "row_order", "n_features", "n_same"]),
            "row-order-features": pd.DataFrame(
                features, columns=["solver", "tolerance", "row_order", "rank", "feature"]
            ),
            "elimination-bounds": _bounds(X, y, C, certified.certificate_["feature"].tolist(), copies),
        }


def _n_shared(first: NDArray[np.intp], second: NDArray[np.intp]) -> int:
    """Count what two sets have in common, of several copies as many as both have."""
    length = int(max(first.max(), second.max())) + 1
    return int(np.minimum(np.bincount(first, minlength=length), np.bincount(second, minlength=length)).sum())


def _solvers(certified: RecursiveFeatureElimination, C: float) -> Iterator[tuple[str, float, Order]]:
    """Yield the name of each solver, its tolerance, and what ranks by it, best feature first.

    LinearSVC is left out: it penalises the bias, so that its optimum is another one.
    """
    from sklearn.base import clone  # noqa: PLC0415 - slow to import
    from sklearn.svm import SVC  # noqa: PLC0415

    def by(machine: Any) -> Order:
        return lambda X, y: _eliminated(machine, X, y, certified)

    def by_own(tolerance: float) -> Order:
        plain = clone(certified).set_params(certify=False, tolerance=tolerance)
        return lambda X, y: order_of(clone(plain).fit(X, y).scores_).tolist()

    for tolerance in SVC_TOLERANCES:
        yield "SVC", tolerance, by(SVC(kernel="linear", C=C, tol=tolerance))
    for tolerance in OWN_TOLERANCES:
        yield "rfe", tolerance, by_own(tolerance)


def _eliminated(
    machine: Any, X: NDArray[np.float64], y: NDArray[np.intp], rfe: RecursiveFeatureElimination
) -> list[int]:
    """Rank as scikit-learn's RFE with a step of 1; of equal weights that goes first which goes first in `rfe`."""
    left, gone, priority = np.arange(X.shape[1]), [], tie_priority(rfe.tie_seed, X.shape[1])
    while len(left) > 1:
        w = np.vstack([machine.fit(X[:, left], one).coef_ for one in _labels(y)])
        costs = (w**2).sum(axis=0)
        worst = int(np.lexsort((-priority[left], costs))[0])
        gone.append(int(left[worst]))
        left = np.delete(left, worst)
    return [*left.tolist(), *reversed(gone)]


def _labels(y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the labels of each machine, -1 or +1, shape (n_machines, n_samples); one machine for two classes."""
    codes = np.arange(y.max() + 1) if y.max() > 1 else np.array([1])
    return np.where(y == codes[:, None], 1.0, -1.0)


def _bounds(
    X: NDArray[np.float64], y: NDArray[np.intp], C: float, eliminated: Sequence[int], copies: NDArray[np.intp]
) -> pd.DataFrame:
    """Bound the distance of SVC's weights at its default tolerance along an order of elimination."""
    from sklearn.svm import SVC  # noqa: PLC0415 - slow to import

    from fsvm_cli.svm.certified import Points, lengths_of, locate, normal_vector_of  # noqa: PLC0415 - compiles

    columns, bounds = np.ascontiguousarray(X.T), np.full(len(y), C)
    left, rows = np.arange(X.shape[1]), []
    for step, feature in enumerate(eliminated, start=1):
        gap, squared_radius, costs = 0.0, 0.0, np.zeros(len(left))
        for labels in _labels(y):
            points = Points(columns, columns, left, lengths_of(columns, left), labels, bounds)
            machine = SVC(kernel="linear", C=C, tol=SVC_TOLERANCES[0]).fit(X[:, left], labels)
            c = np.zeros(len(y))
            c[machine.support_] = np.clip(machine.dual_coef_[0], -C, C)
            w, bias = normal_vector_of(columns, left, c), float(machine.intercept_[0])
            slack = 1.0 - labels * (X[:, left] @ w + bias)
            gap += float(np.maximum(C * np.maximum(slack, 0.0) - c * labels * slack, 0.0).sum())
            found = locate(points, c, w, bias)
            squared_radius += found.radius**2
            costs += normal_vector_of(columns, left, found.c) ** 2  # after a Newton step: exact up to rounding
        lengths = np.sqrt(costs)
        first, second = np.argsort(lengths, kind="stable")[:2]
        if copies[left[first]] != copies[left[second]] and lengths[second] > 0.0:
            unit = lengths[second]
            # Decided where both intervals, twice the radius, are shorter than the difference.
            values = (unit - lengths[first], 2.0 * np.sqrt(gap), 2.0 * np.sqrt(squared_radius))
            rows.append((step, *(max(float(value / unit), SMALLEST) for value in values)))
        left = left[left != feature]
    return pd.DataFrame(rows, columns=["step", "difference", "by_gap", "by_first_order"])
