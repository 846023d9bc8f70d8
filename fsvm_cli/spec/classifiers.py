"""Models of the classifiers in a config: the support vector machine, the Bayesian one, and those of scikit-learn."""

from __future__ import annotations

import dataclasses
import typing
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, create_model, model_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.evidence.parameters import LengthScales, TuningParameters, ValidationShare
from fsvm_cli.kernel_learning import Combine, MarginKind
from fsvm_cli.learners.base import EstimatorLearner
from fsvm_cli.learners.machine import Approximation, Machine
from fsvm_cli.learners.tuned_machine import Multiclass, TunedMachine
from fsvm_cli.spec.kernels import SYNONYMS, AnyKernel, KernelSpec, models_of_kernels
from fsvm_cli.spec.tuning import TuneSteps  # noqa: TC001 - pydantic reads it
from fsvm_cli.svm import SVM
from fsvm_cli.svm.costs import CUnit  # noqa: TC001 - pydantic reads it
from fsvm_cli.svm.kernels.registry import as_kernel
from fsvm_cli.svm.multiclass import OutputScaling  # noqa: TC001 - pydantic reads it
from fsvm_cli.svm.routing import MAX_SAMPLES_OF_GRAM
from fsvm_cli.svm.solvers.dual import SolverName  # noqa: TC001 - pydantic reads it
from fsvm_cli.svm.solvers.solve import StoppedLibsvm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.learners.base import Learner
    from fsvm_cli.svm.costs import ClassWeight


class BayesianBase(StrictModel):
    """The Bayesian support vector machine, whose C and kernel are tuned by the evidence on each training part."""

    type: Literal["bayesian"]
    length_scales: LengthScales = Field(
        default="per-feature", description="Whether each feature has a length scale of its own, or all have one."
    )
    validation_share: ValidationShare = Field(
        default=0.0,
        description="Share of the training rows that is withheld from the ascent, which then ends at the step with the "
        "fewest errors on them; 0: the ascent ends by its rule alone.",
    )

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:  # noqa: ARG002 - as in Classifier
        """Build what a trial tunes and trains."""
        from fsvm_cli.evidence.estimator import BayesianSVM  # noqa: PLC0415 - slow to import, and seldom needed
        from fsvm_cli.learners.bayesian import BayesianLearner  # noqa: PLC0415

        return BayesianLearner(BayesianSVM(**self.model_dump(exclude={"type"}), random_state=random_state))


def _bayesian_model() -> Any:
    hints = typing.get_type_hints(TuningParameters, include_extras=True)
    fields: dict[str, Any] = {
        each.name: (hints[each.name], each.default) for each in dataclasses.fields(TuningParameters)
    }
    return create_model("Bayesian", __base__=BayesianBase, **fields)


if TYPE_CHECKING:
    Bayesian = BayesianBase
else:
    Bayesian = _bayesian_model()


class BayesianMedian(Bayesian):
    """The Bayesian machine with the medians of what the evidence finds on random subsets of each training part."""

    type: Literal["bayesian-median"]  # type: ignore[assignment]
    n_subsets: Annotated[int, Field(ge=1)] = Field(default=5, description="Random subsets, each with an ascent.")
    subset_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.5, description="Share of the training rows in each, with equal shares of the classes."
    )

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:  # noqa: ARG002 - as in Classifier
        """Build what a trial tunes and trains."""
        from fsvm_cli.evidence.estimator import BayesianSVM  # noqa: PLC0415 - slow to import, and seldom needed
        from fsvm_cli.learners.bayesian import MedianBayesianLearner  # noqa: PLC0415

        words = self.model_dump(exclude={"type", "n_subsets", "subset_share"})
        return MedianBayesianLearner(
            BayesianSVM(**words, random_state=random_state),
            n_subsets=self.n_subsets,
            subset_share=self.subset_share,
            random_state=random_state,
        )


class SklearnClassifier(StrictModel):
    """A classifier with the interface of scikit-learn, which handles several classes itself."""

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
        from fsvm_cli.learners.pruned_tree import PrunedTree  # noqa: PLC0415 - as above

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
        from fsvm_cli.bounds.ard import BoundTunedSVM  # noqa: PLC0415 - as above

        return BoundTunedSVM(self.bound, self.max_iterations)


class TunedMachineSpec(SklearnClassifier):
    """The support vector machine with C chosen inside each training part, a width in proportion to it, and pairs."""

    type: Literal["tuned-machine"]
    kernel: Literal["linear", "gaussian"] = Field(
        description="Of the Gaussian kernel the squared width theta is the sum of the variances of the kept "
        "features, on each subset."
    )
    C: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1)] = Field(
        description="Values of C to choose from, by accuracy in cross-validation on all features."
    )
    folds: Annotated[int, Field(ge=2)] = Field(
        default=5, description="Of the cross-validation; fewer where a class has fewer rows or groups."
    )
    multiclass: Multiclass = Field(
        default="one-vs-rest", description="Of more than two classes: a machine for each, or for each pair."
    )
    class_weight: Literal["balanced"] | None = Field(
        default=None, description="balanced: C is multiplied by rows / (classes * rows of the class)."
    )

    synonyms: ClassVar[Mapping[str, str]] = SYNONYMS

    def learner(self, class_names: Sequence[str], random_state: int) -> TunedMachine:  # noqa: ARG002 - as in Classifier
        """Build what a trial tunes and trains."""
        Cs = tuple(sorted(set(self.C)))
        return TunedMachine(self.kernel, Cs, self.folds, self.multiclass, self.class_weight, random_state)

    def estimator(self, random_state: int) -> Any:
        """Build the machine with the middle C, which draws nothing."""
        return replace(self.learner((), random_state), C=sorted(self.C)[len(self.C) // 2]).estimator()


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
        from fsvm_cli.learners.learned_kernel import LearnedKernelMachine  # noqa: PLC0415 - seldom needed

        kernels = tuple(kernel.kernel_or_name() for kernel in self.kernels)
        C = 1.0 if self.C is None else self.C
        return LearnedKernelMachine(
            kernels, self.combine, self.margin, C, self.unit_diagonal, self.tolerance, self.transductive
        )

    def estimator(self, random_state: int) -> Any:
        """Build the estimator, which draws nothing."""
        return self.learner((), random_state).ranking_arguments()["estimator"]

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


NO_SCALING: Literal["none"] = "none"
NO_UNIT: Literal["none"] = "none"


def _names(weights: Any) -> Any:
    """Read whole numbers among the names of classes as text."""
    is_mapping = isinstance(weights, dict)
    return {str(name) if type(name) is int else name: each for name, each in weights.items()} if is_mapping else weights


ClassWeights = Annotated[Literal["balanced"] | dict[str, Annotated[float, Field(gt=0)]], BeforeValidator(_names)]


def is_absent(value: object) -> bool:
    """Whether a value equals a left-out key, which is not written, so that keys of stored trials do not change."""
    return value in (None, {}, (), NO_SCALING)


class Nystroem(StrictModel):
    """A Gram matrix of low rank in place of the exact one, where there are many training rows."""

    above: Annotated[int, Field(ge=0)] = Field(
        default=MAX_SAMPLES_OF_GRAM, description="Training rows up to which the machine is exact."
    )
    landmarks: Annotated[int, Field(ge=1)] = Field(
        default=500, description="Training rows that are drawn; the machine is a linear one with a feature for each."
    )


class Classifier(KernelSpec):
    """The support vector machine that is trained on each subset of the features."""

    C: Annotated[float, Field(gt=0)] = Field(description="Upper bound of alpha, the price of a margin violation.")
    C_unit: CUnit = Field(
        default="none",
        exclude_if=is_absent,
        description="Unit of C, and of C in 'tune'. mean-diagonal: 1 / mean of K(x, x) over the rows that a machine is "
        "trained on, with its own kernel and the features that are kept.",
    )
    tolerance: Annotated[float, Field(gt=0, lt=1)] = Field(default=1e-6, description="Relative duality gap to reach.")
    solver: SolverName = Field(default="auto", description="Solver of the dual problem.")
    stop_after: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Iterations after which libsvm stops, wherever it is then: machines that are not at their optimum, "
        "to see what comes of them. Their duality gap is a measure, and they count as converged.",
    )
    cache_mb: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Megabytes for kernel values where the solver is decomposition, as auto is on more than 10,000 "
        "rows; a quarter of the free memory if left out.",
    )
    nystroem: Nystroem | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Approximates the machine where there are many training rows, and measures its distance from the "
        "exact one; ranking methods train exact machines all the same.",
    )
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

    class_weight: ClassWeights | None = Field(
        default=None,
        exclude_if=is_absent,
        description="What C is multiplied by for the rows of a class, by its name (1 where it is not named); balanced: "
        "rows / (classes * rows of the class), so that all classes weigh the same.",
    )

    def machine(self, class_names: Sequence[str]) -> Machine:
        """Build the machine that the config describes, before anything is tuned."""
        own = {class_names.index(name): spec.kernel_or_name() for name, spec in self.class_kernels.items()}
        weights: ClassWeight | None = self.class_weight
        if isinstance(self.class_weight, dict):
            weights = {class_names.index(name): weight for name, weight in self.class_weight.items()}
        solver = self.solver if self.stop_after is None else StoppedLibsvm(self.stop_after)
        svm = SVM(
            self.kernel_or_name(),
            self.C,
            self.tolerance,
            solver,
            class_kernels=own or None,
            output_scaling=self.output_scaling,
            class_weight=weights,
            cache_mb=self.cache_mb,
            C_unit=self.C_unit,
        )
        return Machine(svm)

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:
        """Build what a trial trains, before anything is tuned."""
        machine = self.machine(class_names)
        if self.nystroem is None:
            return machine
        approximation = Approximation(self.nystroem.above, self.nystroem.landmarks, random_state)
        return replace(machine, approximation=approximation)

    @model_validator(mode="after")
    def _stops_libsvm_alone(self) -> Classifier:
        if self.stop_after is not None and self.solver != "libsvm":
            raise ValueError("'stop_after' is for libsvm; write 'solver: libsvm' beside it, or leave it out")
        if self.stop_after is not None and self.tune is not None:
            raise ValueError("'tune' looks for the best machine, and 'stop_after' ends short of it; leave out one")
        return self

    @model_validator(mode="after")
    def _approximates_plain_machines(self) -> Classifier:
        if self.nystroem is None:
            return self
        if not self.kernel_object().positive_semidefinite:
            raise ValueError(
                f"'nystroem' needs a positive semidefinite kernel, which {self.kernel} is not; leave it out"
            )
        if self.tune is not None or self.class_kernels or self.output_scaling != NO_SCALING or self.C_unit != NO_UNIT:
            raise ValueError(
                "'nystroem' is for machines with one kernel and one C that are given; leave out either it or tune, "
                "class_kernels, output_scaling and C_unit"
            )
        return self

    @model_validator(mode="after")
    def _has_a_unit(self) -> Classifier:
        if self.C_unit == NO_UNIT:
            return self
        kernels = [each.kernel_object() for each in (self, *self.class_kernels.values())]
        kernels += [as_kernel(kernel) for step in self.tune or () for each in step.kernels for kernel in each.objects()]
        for kernel in kernels:
            if not kernel.positive_semidefinite:
                raise ValueError(
                    f"'C_unit' needs positive semidefinite kernels: the mean of K(x, x) of {kernel.name} may be "
                    "negative; leave it out, or take another kernel"
                )
        return self

    @model_validator(mode="after")
    def _tunes_plain_machines(self) -> Classifier:
        if self.tune is not None and (self.class_kernels or self.output_scaling != NO_SCALING):
            raise ValueError(
                "'tune' is for machines that are alike; leave out either it or class_kernels and output_scaling"
            )
        return self


def _names_a_type(value: Any) -> str:
    """Return the key that distinguishes machines with one kernel, with several kernels, and classifiers with a type."""
    for name in ("kernels", "type"):
        if name in value if isinstance(value, dict) else hasattr(value, name):
            return name
    return "kernel"


if TYPE_CHECKING:
    AnyClassifier = Classifier
    ExperimentClassifier = Classifier | SklearnClassifier | BayesianBase
else:
    AnyClassifier = models_of_kernels(Classifier, "Classifier")
    ExperimentClassifier = Annotated[
        Annotated[AnyClassifier, Tag("kernel")]
        | Annotated[LearnedKernel, Tag("kernels")]
        | Annotated[
            NaiveBayes | DecisionTree | AdaBoost | BoundTuned | Bayesian | BayesianMedian | TunedMachineSpec,
            Field(discriminator="type"),
            Tag("type"),
        ],
        Discriminator(_names_a_type),
    ]


class LabelledClassifier(StrictModel):
    """One more classifier on all features, beside that of the experiment."""

    label: Annotated[str, Field(min_length=1)] = Field(description="Its name in tables and claims.")
    classifier: ExperimentClassifier
