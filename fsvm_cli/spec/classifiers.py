"""Classifiers that a config can name: the support vector machine, and others, which are scikit-learn's."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from fsvm_cli.documents import StrictModel
from fsvm_cli.spec.kernels import AnyKernel, KernelSpec, models_of_kernels
from fsvm_cli.spec.learner import EstimatorLearner
from fsvm_cli.spec.machine import Machine
from fsvm_cli.spec.tuning import TuneSteps  # noqa: TC001 - pydantic's fields are made from what stands here
from fsvm_cli.svm.one_vs_rest import OutputScaling  # noqa: TC001 - as above
from fsvm_cli.svm.solvers.dual import Solver  # noqa: TC001 - as above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.spec.learner import Learner

NO_SCALING: Literal["none"] = "none"


class SklearnClassifier(StrictModel):
    """A classifier of scikit-learn; several classes are its own affair, and it has no duality gap to reach."""

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


def is_absent(value: object) -> bool:
    """Say what is not written: a config that leaves the key out reads as it did before there was such a key."""
    return value in (None, {}, NO_SCALING)


class Classifier(KernelSpec):
    """The support vector machine that is trained on each subset of the features."""

    C: Annotated[float, Field(gt=0)] = Field(description="Upper bound of alpha, the price of a margin violation.")
    tolerance: Annotated[float, Field(gt=0, lt=1)] = Field(default=1e-6, description="Relative duality gap to reach.")
    solver: Solver = Field(default="auto", description="Solver of the dual problem.")
    tune: TuneSteps | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Choice of the kernel, its parameters or C inside each training part: a grid search, or several, "
        "one after the other. The first begins with the classifier's own kernel and C.",
    )

    class_kernels: dict[str, AnyKernel] = Field(
        default_factory=dict,
        exclude_if=is_absent,
        description="Kernels of the machines of single classes, by name, where they differ.",
    )
    output_scaling: OutputScaling = Field(
        default=NO_SCALING,
        exclude_if=is_absent,
        description="What the machines' outputs are multiplied or divided by before they are compared.",
    )

    def machine(self, class_names: Sequence[str]) -> Machine:
        """Build the machine that the config describes, before anything is tuned."""
        own = {class_names.index(name): spec.kernel_object() for name, spec in self.class_kernels.items()}
        return Machine(self.kernel_object(), self.C, self.tolerance, self.solver, own or None, self.output_scaling)

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:  # noqa: ARG002 - nothing is drawn
        """Build what a trial trains, before anything is tuned."""
        return self.machine(class_names)

    @model_validator(mode="after")
    def _tunes_plain_machines(self) -> Classifier:
        if self.tune is not None and (self.class_kernels or self.output_scaling != NO_SCALING):
            raise ValueError(
                "'tune' is for machines that are alike; leave out either it or class_kernels and output_scaling"
            )
        return self


def _names_a_type(value: Any) -> str:
    """Tell the classifiers that have a type from the machines, which have a kernel."""
    has_type = "type" in value if isinstance(value, dict) else hasattr(value, "type")
    return "type" if has_type else "kernel"


if TYPE_CHECKING:
    AnyClassifier = Classifier
    ExperimentClassifier = Classifier | SklearnClassifier
else:
    AnyClassifier = models_of_kernels(Classifier, "Classifier")
    ExperimentClassifier = Annotated[
        Annotated[AnyClassifier, Tag("kernel")]
        | Annotated[NaiveBayes | DecisionTree, Field(discriminator="type"), Tag("type")],
        Discriminator(_names_a_type),
    ]
