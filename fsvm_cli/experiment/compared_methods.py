"""The compared methods of an experiment: rankings and extractors, or without any the classifier on all features.

The oracle is a classifier on the features that are known to be relevant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.learners.machine import LearnedMachine, Machine
from fsvm_cli.ranking.always_keep import with_kept_first
from fsvm_cli.ranking.base import tie_priority
from fsvm_cli.ranking.kernel_descent import descent_kernel, kernel_at, weights_of_subset
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.rankings import (
    ALL_FEATURES,
    DescentRanking,
    Extraction,
    Ranking,
    can_be_recommended,
    is_control,
    learns_machine,
)
from fsvm_cli.spec.schema import ORACLE, RELEVANT, selections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.scaling import ScalingName
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.evaluation.splits import Parts
    from fsvm_cli.experiment.outcome import Chosen
    from fsvm_cli.learners.base import Learner
    from fsvm_cli.ranking.base import Ranker
    from fsvm_cli.spec.classifiers import ExperimentClassifier
    from fsvm_cli.spec.schema import Config, Selection
    from fsvm_cli.svm.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class Ordering:
    """Columns in the order in which subsets keep them, and the scores that led to it.

    Attributes
    ----------
    parts : Parts
        Whose columns these are: features, or components made of them.
    columns : ndarray of int, shape (n_columns,)
        The first to be kept comes first.
    scores : tuple of float
        Score of each feature, in the order of their names; empty where nothing was ranked.
    converged : bool
        Whether every machine that the method trained reached its duality gap.
    chosen : dict of str to value
        Hyperparameters that the method selected on the training part, by their names in configs.
    n_with_score : int or None
        How many of the columns say something, the first ones: subsets end with them. None for all.
    """

    parts: Parts
    columns: NDArray[np.intp]
    scores: tuple[float, ...]
    converged: bool
    chosen: Chosen
    n_with_score: int | None = field(default=None, kw_only=True)


class TrialData(Protocol):
    """A trial with its data, as compared methods use it; `fsvm_cli.experiment.trial.DrawnTrial` is one."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def parts(self) -> Parts:
        """Training and test part, scaled."""

    @property
    def columns(self) -> NDArray[np.intp]:
        """Which feature each column is."""

    def scaled(self, scaling: ScalingName) -> TrialData:
        """Scale the features once more by the training part."""

    def learner(self, classifier: ExperimentClassifier) -> Learner:
        """Return the learner of a classifier, tuned on the training part."""

    def ranker(self, ranking: Ranking, classifier: ExperimentClassifier) -> Ranker:
        """Return the fitted method of a ranking."""

    def stream(self, *purpose: str) -> np.random.Generator:
        """Return the random stream of this split for a purpose."""


def by_feature(values: Sequence[float] | NDArray[np.float64], trial: TrialData) -> tuple[float, ...]:
    """Put values of the columns of a trial, if there are any, into the order of the features' names."""
    return tuple(np.asarray(values, dtype=np.float64)[np.argsort(trial.columns)].tolist()) if len(values) else ()


class ComparedMethod(ABC):
    """A method with a curve of its own in an experiment."""

    classifier: ExperimentClassifier
    """What is trained on its subsets."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Its name in tables and figures."""

    @abstractmethod
    def order(self, trial: TrialData) -> Ordering:
        """Order the columns by what the training part of a trial shows."""

    def learner(self, trial: TrialData, ordering: Ordering) -> Learner:  # noqa: ARG002 - for those tuned on its parts
        """Return the learner for the subsets, tuned on all features of the training part."""
        return trial.learner(self.classifier)

    @abstractmethod
    def identity(self) -> dict[str, Any] | None:
        """Return, for the keys of outcomes, what `order` depends on, except data and classifier."""

    @abstractmethod
    def code(self) -> tuple[type, ...]:
        """Return the classes whose code, with all that they refer to, determines `order`."""


@dataclass(frozen=True)
class AllFeatures(ComparedMethod):
    """A classifier on all features, which nothing has ordered."""

    classifier: ExperimentClassifier
    name: str = ALL_FEATURES

    @property
    def label(self) -> str:
        """Return its name; for the classifier of the experiment, 'all features'."""
        return self.name

    def order(self, trial: TrialData) -> Ordering:
        """Leave the features as they are; some classifiers find relevances of them."""
        columns = np.arange(trial.parts.X_train.shape[1])
        scores = by_feature(trial.learner(self.classifier).relevances, trial)
        return Ordering(trial.parts, columns, scores=scores, converged=True, chosen={})

    def identity(self) -> None:
        """Return None: no method orders the features."""

    def code(self) -> tuple[type, ...]:
        """Return this class."""
        return (AllFeatures,)


@dataclass(frozen=True)
class Ranked(ComparedMethod):
    """The best features of a ranking, or the worst."""

    ranking: Ranking
    classifier: ExperimentClassifier

    @property
    def label(self) -> str:
        """Name the ranking."""
        return self.ranking.label

    def order(self, trial: TrialData) -> Ordering:
        """Rank the features, and begin at the end that the ranking keeps."""
        if self.ranking.scaling is not None:
            trial = trial.scaled(self.ranking.scaling)
        ranker = trial.ranker(self.ranking, self.classifier)
        best_first = np.argsort(ranker.ranking_)
        columns = best_first[::-1] if self.ranking.order == "worst-first" else best_first
        scores = by_feature(ranker.scores_, trial)
        # The worst ones are a control, for which these are the very ones.
        n_with_score = None if self.ranking.order == "worst-first" else int(ranker.has_score_.sum())
        said = {} if n_with_score in {None, len(columns)} else {f"columns of {len(columns)} with a score": n_with_score}
        chosen: Chosen = ranker.chosen_ | said
        return Ordering(trial.parts, columns, scores, ranker.converged_, chosen, n_with_score=n_with_score)

    def learner(self, trial: TrialData, ordering: Ordering) -> Learner:
        """Choose on the features as the ranking scales them."""
        own = trial if self.ranking.scaling is None else replace(trial, parts=ordering.parts)
        return own.learner(self.classifier)

    def identity(self) -> dict[str, Any]:
        """Name the method, its parameters, which end is kept, and rows and scaling if not the experiment's."""
        parameters = self.ranking.model_dump(mode="json", include=set(self.ranking.parameters()))
        own = self.ranking.model_dump(
            mode="json", include={"ranked_on", "mean_rank_of", "scaling"}
        ) | _declared_version(self.ranking)
        return {"method": self.ranking.method, "parameters": parameters, "order": self.ranking.order} | own

    def code(self) -> tuple[type, ...]:
        """List the method, and how a config's ranking becomes its estimator."""
        of_descent = (DescentRanking,) if isinstance(self.ranking, DescentRanking) else ()
        return Ranked, Ranking, *of_descent, ranking_methods()[self.ranking.method]


@dataclass(frozen=True, eq=False)
class LearnedOrdering(Ordering):
    """An ordering, and the kernel with the weights that were learned along with it, for each number of features."""

    kernel_of: Callable[[int], Kernel]


@dataclass(frozen=True)
class LearnedRanked(Ranked):
    """The best features of a descent along their weights in the kernel, with machines that have these weights."""

    def order(self, trial: TrialData) -> LearnedOrdering:
        """Rank the features, and keep the weights of the path."""
        own = trial if self.ranking.scaling is None else trial.scaled(self.ranking.scaling)
        unscaled = replace(self, ranking=self.ranking.model_copy(update={"scaling": None}))
        ordering = Ranked.order(unscaled, own)
        ranker = own.ranker(unscaled.ranking, self.classifier)
        assert isinstance(ranker, KernelParameterDescent), "checked by the config"
        if len(ranker.path_) > 1:
            raise ValueError(
                f"{ranker.method} descends once for each of {len(ranker.path_)} classes, and machines with learned "
                "weights are for two classes; leave 'machine' out"
            )
        (path,), kernel = ranker.path_, descent_kernel(ranker.kernel_object(own.parts.X_train))
        return LearnedOrdering(
            ordering.parts,
            ordering.columns,
            ordering.scores,
            ordering.converged,
            ordering.chosen,
            n_with_score=ordering.n_with_score,
            kernel_of=lambda size: kernel_at(kernel, weights_of_subset(path, kernel, ordering.columns, size)),
        )

    def learner(self, trial: TrialData, ordering: Ordering) -> Learner:
        """Return the machine, with a kernel of its own for each number of features."""
        machine = super().learner(trial, ordering)
        assert isinstance(ordering, LearnedOrdering)
        if not isinstance(machine, Machine):
            # What a config asks for, and no mistake of a caller.
            raise ValueError("an approximate machine has no learned weights; leave 'machine' out, or take an exact one")  # noqa: TRY004
        return LearnedMachine(machine, ordering.kernel_of, machine.chosen, machine.converged)

    def identity(self) -> dict[str, Any]:
        """Say in addition that the machine is learned."""
        return super().identity() | {"machine": "learned"}

    def code(self) -> tuple[type, ...]:
        """List the method, the machines, and how a config's ranking becomes its estimator."""
        return LearnedRanked, LearnedMachine, *super().code()


RANDOM_ORDERS = 3
"""Random orders of the features on each split, where rankings are tested against them."""


@dataclass(frozen=True)
class FurtherRandomOrder(Ranked):
    """Another random order on the same splits: several show how much of a difference is the chance of one order."""

    number: int = 2

    @property
    def label(self) -> str:
        """Name the ranking, and the number of the order."""
        return f"{self.ranking.label}, order {self.number}"

    def order(self, trial: TrialData) -> Ordering:
        """Draw the order from a stream of its own."""
        own = trial if self.ranking.scaling is None else trial.scaled(self.ranking.scaling)
        seed = int(trial.stream("ranking", self.ranking.method, f"order {self.number}").integers(2**31))
        ranker = self.ranking.estimator(random_state=seed).fit(own.parts.X_train, own.parts.y_train)
        scores = by_feature(ranker.scores_, trial)
        return Ordering(own.parts, np.argsort(ranker.ranking_), scores, converged=True, chosen={})

    def identity(self) -> dict[str, Any]:
        """Name the method and the number of the order."""
        return super().identity() | {"number": self.number}

    def code(self) -> tuple[type, ...]:
        """List this class, too."""
        return FurtherRandomOrder, *super().code()


@dataclass(frozen=True)
class Selected(ComparedMethod):
    """The features that make up a share of the relevance, with a classifier that is tuned on them alone."""

    selection: Selection
    classifier: ExperimentClassifier

    @property
    def label(self) -> str:
        """Name ranking, end and share."""
        return self.selection.label

    def order(self, trial: TrialData) -> Ordering:
        """Keep the features of the subset."""
        ranker = trial.ranker(self.selection.ranking, self.classifier)
        priority = tie_priority(ranker.tie_seed, len(ranker.scores_))
        kept = np.sort(self.selection.features(ranker.scores_, priority))
        parts = trial.parts
        kept_parts = replace(parts, X_train=parts.X_train[:, kept], X_test=parts.X_test[:, kept])
        chosen: Chosen = {"features": len(kept)}
        return Ordering(kept_parts, np.arange(len(kept)), scores=(), converged=ranker.converged_, chosen=chosen)

    def learner(self, trial: TrialData, ordering: Ordering) -> Learner:
        """Choose on the features of the subset."""
        return replace(trial, parts=ordering.parts).learner(self.classifier)

    def identity(self) -> dict[str, Any]:
        """Name what the ranking is, end and share."""
        ranked = Ranked(self.selection.ranking, self.classifier).identity()
        return ranked | {"amount": self.selection.amount, "least": self.selection.least}

    def code(self) -> tuple[type, ...]:
        """List the method and the choice."""
        return Selected, type(self.selection), Ranking, ranking_methods()[self.selection.ranking.method]


@dataclass(frozen=True)
class Extracted(ComparedMethod):
    """The first components of a feature extractor."""

    extraction: Extraction
    classifier: ExperimentClassifier

    @property
    def label(self) -> str:
        """Name the extractor."""
        return self.extraction.label

    def order(self, trial: TrialData) -> Ordering:
        """Make components of the features; their order is that of the extractor."""
        parts = trial.parts
        extractor = self.extraction.estimator().fit(parts.X_train, parts.y_train)
        components = replace(
            parts, X_train=extractor.transform(parts.X_train), X_test=extractor.transform(parts.X_test)
        )
        return Ordering(components, np.arange(extractor.n_components_), scores=(), converged=True, chosen={})

    def identity(self) -> dict[str, Any]:
        """Name the method and its parameters."""
        parameters = self.extraction.model_dump(mode="json", include=set(self.extraction.parameters()))
        return {"method": self.extraction.method, "parameters": parameters}

    def code(self) -> tuple[type, ...]:
        """List the extractor, and how a config's extraction becomes its estimator."""
        return Extracted, Extraction, extraction_methods()[self.extraction.method]


def _declared_version(ranking: Ranking) -> dict[str, Any]:
    """Return the version of a method that declares one, because its numbers depend on more than its code."""
    version = getattr(ranking_methods()[ranking.method], "version", None)
    return {} if version is None else {"version": version}


def compared_methods_of(config: Config) -> tuple[ComparedMethod, ...]:
    """List what has a curve: rankings and what they select, then extractors; without any, the classifiers."""
    rankings = [
        (LearnedRanked if learns_machine(ranking) else Ranked)(ranking, config.classifier_of(ranking))
        for ranking in config.rankings
    ]
    chosen = selections(config.subsets, config.rankings)
    selected = [Selected(each, config.classifier_of(each.ranking)) for each in chosen]
    extractions = [Extracted(extraction, config.classifier) for extraction in config.extractors]
    alternatives = [AllFeatures(each.classifier, each.label) for each in config.alternatives]
    return (*rankings, *selected, *extractions) or (AllFeatures(config.classifier), *alternatives)


def further_random_orders(config: Config) -> tuple[FurtherRandomOrder, ...]:
    """List the orders that are drawn beside that of the first random ranking; nothing where there is none."""
    controls = [each for each in config.rankings if is_control(each) and can_be_recommended(each)]
    return tuple(
        FurtherRandomOrder(ranking, config.classifier_of(ranking), number)
        for ranking in controls[:1]
        for number in range(2, RANDOM_ORDERS + 1)
    )


@dataclass(frozen=True)
class WithKept(ComparedMethod):
    """A ranking in which some features come first, whatever their scores."""

    ranked: Ranked
    kept: tuple[int, ...]

    @property
    def label(self) -> str:
        """Name the ranking."""
        return self.ranked.label

    @property
    def classifier(self) -> ExperimentClassifier:  # type: ignore[override]
        """That of the ranking."""
        return self.ranked.classifier

    def order(self, trial: TrialData) -> Ordering:
        """Put the features that are kept before the others."""
        ordering = self.ranked.order(trial)
        scores = with_kept_first(np.array(ordering.scores), self.kept)
        is_kept = np.isin(ordering.columns, self.kept)
        columns = np.concatenate([self.kept, ordering.columns[~is_kept]]).astype(np.intp)
        n_with_score = ordering.n_with_score
        if n_with_score is not None:
            n_with_score += int(np.count_nonzero(is_kept[n_with_score:]))
        return replace(ordering, columns=columns, scores=tuple(scores.tolist()), n_with_score=n_with_score)

    def learner(self, trial: TrialData, ordering: Ordering) -> Learner:
        """Choose as the ranking does."""
        return self.ranked.learner(trial, ordering)

    def identity(self) -> dict[str, Any]:
        """Name the ranking and the features."""
        return (self.ranked.identity() or {}) | {"always_keep": list(self.kept)}

    def code(self) -> tuple[type, ...]:
        """List this class, and those of the ranking."""
        return WithKept, *self.ranked.code()


def with_kept(methods: Iterable[ComparedMethod], kept: tuple[int, ...]) -> tuple[ComparedMethod, ...]:
    """Put some features first in every ranking."""
    return tuple(WithKept(each, kept) if kept and isinstance(each, Ranked) else each for each in methods)


@dataclass(frozen=True)
class Oracle(ComparedMethod):
    """The first of the features that are known to be relevant; sizes above their number keep all of them.

    Attributes
    ----------
    classifier : ExperimentClassifier
    features : tuple of int
        Columns, the one to keep first comes first.
    """

    classifier: ExperimentClassifier
    features: tuple[int, ...]

    @property
    def label(self) -> str:
        """Return the label of the oracle."""
        return ORACLE

    def order(self, trial: TrialData) -> Ordering:
        """Keep the known features, in their order."""
        columns = np.argsort(trial.columns)[[*self.features]]
        parts = replace(trial.parts, X_train=trial.parts.X_train[:, columns], X_test=trial.parts.X_test[:, columns])
        return Ordering(parts, np.arange(len(columns)), scores=(), converged=True, chosen={})

    def identity(self) -> dict[str, Any]:
        """Name the features."""
        return {"method": ORACLE, "features": list(self.features)}

    def code(self) -> tuple[type, ...]:
        """Return this class."""
        return (Oracle,)


def oracle_of(config: Config, source: DataSource) -> tuple[Oracle, ...]:
    """Return the oracle of an experiment whose data have the features that it names; nothing where there is none."""
    if config.oracle is None:
        return ()
    if config.oracle == RELEVANT:
        features = source.relevant_features
        assert features is not None, "checked by the plan"
    else:
        features = tuple(map(source.feature_names.index, dict.fromkeys(config.oracle)))
    return (Oracle(config.classifier, features),)
