"""Classifiers in scikit-learn's manner that a config can name: its own, and machines that tune themselves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from fsvm_cli.documents import StrictModel
from fsvm_cli.kernel_learning.kinds import Combine, MarginKind
from fsvm_cli.spec.kernels import SYNONYMS, AnyKernel
from fsvm_cli.spec.learner import EstimatorLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.spec.learner import Learner


class SklearnClassifier(StrictModel):
    """A classifier in scikit-learn's manner; several classes are its own affair."""

    type: str

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:  # noqa: ARG002 - as in Classifier
        """Build what a trial trains; ranking methods that take any classifier get one of their own stream."""
        return EstimatorLearner(self.estimator(random_state), self.estimator(random_state=0))

    @abstractmethod
    def estimator(self, random_state: int) -> Any:
        """Build the estimator; `random_state` decides what it draws, if it draws anything."""


class NaiveBayes(SklearnClassifier):
    """Features that are independent within each class, with Laplace's correction for features of 0 and 1."""

    type: Literal["naive-bayes"]
    likelihood: Literal["bernoulli", "gaussian"] = Field(
        description="Distribution of a feature in a class: bernoulli for features of 0 and 1, gaussian for others."
    )

    def estimator(self, random_state: int) -> Any:  # noqa: ARG002 - nothing is drawn
        """Build the estimator."""
        from sklearn.naive_bayes import BernoulliNB, GaussianNB  # noqa: PLC0415 - slow to import, and seldom needed

        return BernoulliNB() if self.likelihood == "bernoulli" else GaussianNB()


class DecisionTree(SklearnClassifier):
    """A decision tree that splits by entropy, pruned as far as cross-validation on its training rows finds best.

    It is not C4.5: it divides every feature in two, takes the gain of information, not its ratio, and prunes by cost
    and complexity, not by a pessimistic estimate of the error. Methods that train many trees train them unpruned.
    """

    type: Literal["decision-tree"]
    min_samples_leaf: Annotated[int, Field(ge=1)] = Field(default=2, description="Fewest training rows of a leaf.")
    pruning: Literal["cross-validation", "none"] = Field(
        default="cross-validation", description="How the price of a leaf is chosen; none: every tree grows to its end."
    )

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:  # noqa: ARG002 - as above
        """Build what a trial trains; a wrapper grows thousands of trees, and each would be pruned on ten folds."""
        return EstimatorLearner(self.estimator(random_state), self._unpruned(random_state=0))

    def estimator(self, random_state: int) -> Any:
        """Build the estimator; splits that are equally good, and folds, are drawn."""
        from fsvm_cli.evaluation.pruned_tree import PrunedTree  # noqa: PLC0415 - as above

        if self.pruning == "none":
            return self._unpruned(random_state)
        return PrunedTree(min_samples_leaf=self.min_samples_leaf, random_state=random_state)

    def _unpruned(self, random_state: int) -> Any:
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - as above

        return DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=self.min_samples_leaf, random_state=random_state
        )


class AdaBoost(SklearnClassifier):
    """Decision stumps, each trained on rows weighted by what those before it got wrong."""

    type: Literal["adaboost"]
    rounds: Annotated[int, Field(ge=1)] = Field(default=200, description="Number of stumps.")

    def estimator(self, random_state: int) -> Any:
        """Build the estimator."""
        from sklearn.ensemble import AdaBoostClassifier  # noqa: PLC0415 - as above

        return AdaBoostClassifier(n_estimators=self.rounds, random_state=random_state)


class BoundTuned(SklearnClassifier):
    """The machine with a length scale for each feature, tuned by a bound on the leave-one-out error."""

    type: Literal["bound-tuned"]
    bound: Literal["radius-margin", "span"] = Field(
        default="radius-margin", description="Radius over margin, or the smoothed span of the support vectors."
    )
    max_iterations: Annotated[int, Field(ge=1)] = Field(default=100, description="Steps of the descent, at most.")

    def estimator(self, random_state: int) -> Any:  # noqa: ARG002 - nothing is drawn
        """Build the estimator."""
        from fsvm_cli.bounds.estimator import BoundTunedSVM  # noqa: PLC0415 - as above

        return BoundTunedSVM(self.bound, self.max_iterations)


class LearnedKernel(SklearnClassifier):
    """The machine on a weighted sum of kernels, with weights that are learned on the training part."""

    type: Literal["learned-kernel"] = "learned-kernel"
    kernels: Annotated[tuple[AnyKernel, ...], Field(min_length=1)] = Field(description="Base kernels.")
    combine: Combine = Field(
        default="qcqp",
        description="How their weights are learned: for the largest margin, not negative (qcqp) or of either sign "
        "(sdp); by alignment with the labels, of kernels as they are or centred.",
    )
    margin: MarginKind = Field(
        default="1-norm", description="What violations of the margin cost; a hard margin allows none."
    )
    C: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Price of a margin violation; of no meaning for a hard margin and a learned ridge."
    )
    unit_diagonal: bool = Field(default=False, description="Whether kernels are divided by the lengths of the samples.")
    transductive: bool = Field(
        default=False, description="Whether the features of the test part, not its classes, take part in learning."
    )
    tolerance: Annotated[float, Field(gt=0, lt=1)] = Field(default=1e-4, description="Relative gap of the weights.")

    synonyms: ClassVar[Mapping[str, str]] = SYNONYMS

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:  # noqa: ARG002 - nothing is drawn
        """Build what a trial trains."""
        from fsvm_cli.spec.learned_kernel import LearnedKernelMachine  # noqa: PLC0415 - seldom needed

        kernels = tuple(kernel.kernel_object() for kernel in self.kernels)
        C = 1.0 if self.C is None else self.C
        return LearnedKernelMachine(
            kernels, self.combine, self.margin, C, self.unit_diagonal, self.tolerance, self.transductive
        )

    def estimator(self, random_state: int) -> Any:
        """Build the estimator, which draws nothing."""
        return self.learner((), random_state).handed()["estimator"]

    @model_validator(mode="after")
    def _has_a_price_where_one_is_due(self) -> LearnedKernel:
        is_soft = self.margin in {"1-norm", "2-norm"}
        if is_soft and self.C is None:
            raise ValueError(f"the key 'C' is missing; violations of the {self.margin} margin need a price")
        if not is_soft and self.C is not None:
            raise ValueError(f"a {self.margin} margin has no C; leave it out")
        if self.margin == "learned-2-norm" and self.combine != "qcqp":
            raise ValueError("a ridge is learned by the qcqp only; combine the kernels by it, or give a margin with C")
        return self
