"""Bounds beside the errors that they are about, along a descent; jebara-slides, "Margin & Radius Bound"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.bounds.bound import hard_margin_machine, spread
from fsvm_cli.bounds.radius_margin import enclosing_ball, radius_margin_bound
from fsvm_cli.bounds.span import predicted_slacks
from fsvm_cli.experiment.records.base import Record
from fsvm_cli.ranking.bound_ranker import SCALE_PREFIX, BoundRanker
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.evaluation.splits import Parts
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config


class BoundDescent(Record):
    """Both bounds, the leave-one-out error and the test error of the machine at the end of each round of a ranking.

    The machine is that which the bounds are about: with a hard margin, and the ridge of the ranking. Table
    `bound-descent`: ranking, number of features, and as shares of the rows the radius-margin bound, which may exceed 1,
    the leave-one-out errors that the spans predict, the leave-one-out errors, and the errors on the test part.
    """

    name: ClassVar[str] = "bound-descent"
    method: ClassVar[str] = "radius-margin or span"
    tables: ClassVar[tuple[str, ...]] = ("bound-descent",)

    def rankings(self, config: Config) -> list[Ranking]:
        """List the rankings that descend a bound."""
        methods = ranking_methods()
        return [ranking for ranking in config.rankings if issubclass(methods[ranking.method], BoundRanker)]

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:
        """Find whether there is no ranking, or there are more classes than two."""
        if len(data.class_names) != 2:
            here = ("record", config.record.index(self.name))
            message = f"a bound descent needs 2 classes; {data.name} has {len(data.class_names)}; leave it out"
            yield Issue(here, message)
        yield from super().issues(config, data)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Train the machine of each round, and once more without each of its samples."""
        config = trial.experiment.config
        rows = []
        for ranking in self.rankings(config):
            ranker = trial.ranker(ranking, config.classifier_of(ranking))
            assert isinstance(ranker, BoundRanker)
            path = pd.DataFrame(ranker.diagnostics_["path"])
            scales = path[[name for name in path if str(name).startswith(SCALE_PREFIX)]].to_numpy()
            for s in scales:
                features = np.flatnonzero(s)
                found = bounds_and_errors(ranker, trial.parts, features, s[features])
                rows.append({"ranking": ranking.label, "n_features": len(features), **found})
        return {"bound-descent": pd.DataFrame(rows)}


def bounds_and_errors(
    ranker: BoundRanker, parts: Parts, features: NDArray[np.intp], s: NDArray[np.float64]
) -> dict[str, float]:
    """Find what the bounds of a machine on scaled features say, and how often it errs.

    Parameters
    ----------
    ranker : BoundRanker
        Its kernel, C and ridge are the machine's.
    parts : Parts
        Of two classes.
    features : ndarray of int, shape (n_scales,)
    s : ndarray, shape (n_scales,)

    Returns
    -------
    dict of str to float
        ``radius_margin``, ``span``, ``leave_one_out`` and ``test_error``, as shares of the samples.
    """
    kernel = ranker.kernel_object(parts.X_train)
    X = parts.X_train[:, features] * s
    y = np.where(parts.y_train == 1, 1.0, -1.0)
    gram = kernel.gram(X, X)
    gram.flat[:: len(X) + 1] += 1.0 / ranker.C if ranker.ridge is None else ranker.ridge * spread(gram)
    options: dict[str, Any] = {"tolerance": ranker.tolerance, "solver": ranker.solver, "on_failure": "flag"}
    machine = hard_margin_machine(gram, y, **options)
    bound = radius_margin_bound(y, enclosing_ball(gram, tolerance=ranker.tolerance), machine)
    left_out = np.empty(len(y))
    for p in range(len(y)):
        rest = np.delete(np.arange(len(y)), p)
        without = hard_margin_machine(gram[np.ix_(rest, rest)], y[rest], **options)
        left_out[p] = gram[p, rest] @ (without.alpha * y[rest]) + without.bias
    values = kernel.gram(parts.X_test[:, features] * s, X) @ (machine.alpha * y) + machine.bias
    return {
        "radius_margin": bound.value / len(y),
        "span": float(np.mean(predicted_slacks(gram, machine.alpha) > 1.0)),
        "leave_one_out": float(np.mean(y * left_out <= 0.0)),
        "test_error": float(np.mean((values > 0.0) != (parts.y_test == 1))),
    }
