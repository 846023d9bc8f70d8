"""The machine whose length scales a bound has tuned, in scikit-learn's manner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge

from fsvm_cli.bounds.ard import TunedArd, tune_ard
from fsvm_cli.magnitudes import refusing_overflow
from fsvm_cli.svm.threads import one_blas_thread
from fsvm_cli.svm.tuned_machines import TOLERANCE, TunedMachines


@dataclass(eq=False, repr=False)
class BoundTunedSVM(TunedMachines):
    """Support vector machine of the squared loss whose C and length scales, one for each feature, a bound has chosen.

    The kernel is exp(-½ Σ_a (x_a - x'_a)² / l_a²). A quasi-Newton method goes down a bound on the leave-one-out error,
    along the logarithms of the length scales and of the ridge 1/C. Several classes are separated one against the rest,
    each machine with length scales of its own. Scale the features first.

    Parameters
    ----------
    bound : {"radius-margin", "span"}, default="radius-margin"
        Radius over margin, or the smoothed span of the support vectors; see `tune_ard`.
    max_iterations : int, default=100
        Of the descent, at least 1.

    Attributes
    ----------
    classes_ : (n_classes,) array
    machines_ : tuple of TunedArd
        With the kernel, C and bound of each machine.
    converged_ : (n_machines,) array of bool
        Whether all machines and balls on the way reached their tolerance.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array of str
        Where `X` had string column names.

    See Also
    --------
    BayesianSVM : Tunes such length scales by the evidence.
    RadiusMargin, Span : Rank features by such bounds.

    References
    ----------
    - O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing Multiple Parameters for Support Vector Machines",
      Machine Learning 46, 2002, pages 131-159; the comparison is that of gold2005.

    Examples
    --------
    >>> from fsvm_cli.bounds.estimator import BoundTunedSVM
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> BoundTunedSVM().fit(X, y).predict([[0, 0], [6, 6]]).tolist()
    ['a', 'b']
    """

    bound: Literal["radius-margin", "span"] = "radius-margin"
    max_iterations: Annotated[int, Ge(1)] = 100

    @one_blas_thread()
    def fit(self, X: Any, y: Any) -> Self:
        """Tune and train the machines.

        Parameters
        ----------
        X : (n, n_features) array or data frame
        y : (n,) array
            Class labels.

        Raises
        ------
        ValueError
            If the input is not fit for classification, holds one class only, has all samples in one place, or a
            parameter is out of range.
        """
        X, labels = self._training_set(X, y)
        with refusing_overflow("the machine tuned by a bound"):
            # The balls have the tolerance of the machines.
            self.machines_: tuple[TunedArd, ...] = tuple(
                tune_ard(X, each, self.bound, max_iterations=self.max_iterations, tolerance=TOLERANCE)
                for each in labels
            )
        self.converged_ = np.array([machine.converged for machine in self.machines_])
        return self
