"""A fitted model in scikit-learn's own classes, which loads without fsvm and needs only the columns that it keeps."""

from __future__ import annotations

import functools
import itertools
import operator
import re
import unicodedata
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import threadpoolctl
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC, LinearSVC

from fsvm_cli.console import brief
from fsvm_cli.data.preparation import IMPUTER_STRATEGIES
from fsvm_cli.data.readers.csv import MISSING_MARKS
from fsvm_cli.data.readers.numbers import MARKS_AMONG_NUMBERS, MARKS_AMONG_WORDS
from fsvm_cli.data.readers.words import BLANKS
from fsvm_cli.errors import UsageError
from fsvm_cli.svm.base import KernelMachine
from fsvm_cli.svm.estimator import CALIBRATION_FOLDS, SVM
from fsvm_cli.svm.kernels.gaussian import Gaussian
from fsvm_cli.svm.kernels.linear import Linear
from fsvm_cli.svm.kernels.polynomial import Polynomial
from fsvm_cli.svm.kernels.tanh import Tanh

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.preparation import Feature, Preparation
    from fsvm_cli.own_data.export import Export
    from fsvm_cli.svm.kernels.base import Kernel

MAX_DIFFERENCE = 1e-9
"""Of the decision values of the two models on a row, in units of the largest of all rows or of 1."""
PANDAS_MISSING = ("nan", "<na>", "nat", "none")
"""What `str` makes of the missing values of data frames, in small letters."""


@dataclass(frozen=True, eq=False)
class Standalone:
    """A model that has been fitted, and what it needs.

    Attributes
    ----------
    model : Pipeline
        Takes a data frame that holds `columns`, in any order and among others, or an array of these in this order; of
        sparse data the whole matrix.
    columns : tuple of str
        Empty for sparse data.
    features : tuple of str
        That the machine sees: the columns, or their words and gaps.
    missing_codes : dict of str to tuple of str
        What a column may hold in place of a missing value, by column.
    scores : dict of str to dict of str to value
        `rank` and `score` of each column by the ranking: those of the best of its features.
    reason : str
        Why it needs fsvm where it is loaded; empty where scikit-learn is enough.
    largest_difference : float
        Of the decision values to those of the model in fsvm's classes, on the rows that it was fitted on.
    n_ties : int
        Rows of which the class differs. There, the machine is undecided to within its tolerance; fsvm answers with
        the larger class, scikit-learn by the sign.
    """

    model: Pipeline
    columns: tuple[str, ...]
    features: tuple[str, ...]
    missing_codes: dict[str, tuple[str, ...]]
    scores: dict[str, dict[str, float | int]]
    reason: str
    largest_difference: float
    n_ties: int


class _NotSaidError(Exception):
    """Scikit-learn has no class for a machine; the message says why."""


def stand_alone(exported: Export, *, probability: bool = False) -> Standalone:
    """Fit a model on its rows, keep the columns that it needs, and put its machine into scikit-learn's classes.

    Parameters
    ----------
    exported : Export
    probability : bool, default=False
        Whether the model has calibrated probabilities: Platt's sigmoid, one for each class, on the scores of rows that
        were left out of ranking and training, in five folds (fewer for small classes). It answers with the likeliest
        class then.

    Raises
    ------
    UsageError
        If probabilities are asked for and a class has a single row, the rows are of one group, or pairs of classes
        vote.
    """
    fitted = exported.fitted()
    dataset, kept = exported.dataset, np.flatnonzero(fitted["selector"].get_support())
    classifier, scaling = fitted["classifier"], clone(exported.pipeline["scaling"])
    sees_rows = type(scaling).__name__ == "Normalizer"  # which divides a row by the norm of all features
    needed = np.arange(dataset.n_features) if sees_rows or sp.issparse(dataset.X) else kept
    steps: list[tuple[str, Any]] = []
    samples: Any = exported.samples()
    columns: tuple[str, ...] = ()
    codes: dict[str, tuple[str, ...]] = {}
    if not sp.issparse(dataset.X):
        transformer, columns, codes = _columns(dataset, needed, exported.na)
        samples = samples[[*columns]]
        steps.append(("columns", transformer))
    steps.append(("scaling", scaling))
    if len(needed) > len(kept):
        steps.append(("kept", ColumnTransformer([("kept", "passthrough", kept.tolist())])))
    with threadpoolctl.threadpool_limits(limits=1):
        prepared = Pipeline(steps).fit(samples)
        values = fitted.decision_function(exported.samples()) if hasattr(fitted, "decision_function") else None
        expected = fitted.predict(exported.samples())
        calibrators = _calibrators(exported) if probability else None
        reason, machine = "", classifier
        try:
            machine = _in_sklearn(classifier)
        except _NotSaidError as error:
            reason = str(error)
        model = Pipeline([*prepared.steps, ("machine", machine)])
        difference = _difference(model, samples, values)
        if difference > MAX_DIFFERENCE and not reason:
            reason, machine = f"in scikit-learn's classes its decision values differ by {difference:.0e}", classifier
            model = Pipeline([*prepared.steps, ("machine", machine)])
            difference = _difference(model, samples, values)
        n_ties = int(np.count_nonzero(model.predict(samples) != expected))
    if calibrators is not None:
        model = Pipeline([*prepared.steps, ("machine", _with_calibrators(*calibrators, machine))])
    return Standalone(
        model=model,
        columns=columns,
        features=tuple(dataset.feature_names[feature] for feature in kept.tolist()),
        missing_codes=codes,
        scores=_scores(dataset, fitted["selector"], kept),
        reason=reason,
        largest_difference=difference,
        n_ties=n_ties,
    )


def _scores(dataset: Dataset, selector: Any, kept: NDArray[np.intp]) -> dict[str, dict[str, float | int]]:
    """Return rank and score of the best feature that was kept of each column."""
    sources = dataset.source_columns or dataset.feature_names
    by_rank = sorted(kept.tolist(), key=lambda feature: int(selector.ranking_[feature]))
    return {
        sources[feature]: {"rank": int(selector.ranking_[feature]), "score": float(selector.scores_[feature])}
        for feature in reversed(by_rank)
    }


def _difference(model: Pipeline, samples: Any, values: NDArray[np.float64] | None) -> float:
    """Return the largest difference of decision values, in units of the largest or of 1; 0 where there are none."""
    if values is None:
        return 0.0
    machine, X = model[-1], model[:-1].transform(samples)
    if isinstance(machine, OneVsOneClassifier):  # whose own decision values are votes
        found = np.stack([-pair.decision_function(X) for pair in machine.estimators_], axis=1)
    else:
        found = machine.decision_function(X)
    return float(np.max(np.abs(found - values)) / max(1.0, float(np.max(np.abs(values)))))


def _columns(
    dataset: Dataset, needed: NDArray[np.intp], na: Sequence[str]
) -> tuple[ColumnTransformer, tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Make the transformer, not fitted, of columns into the needed features; name the columns and their codes.

    Columns are numbers in it: so it takes them by name from a data frame, and by place from an array.
    """
    prepared = dataset.preparation
    if prepared is None:
        names = tuple(dataset.feature_names[feature] for feature in needed.tolist())
        return ColumnTransformer([("numbers", "passthrough", [*range(len(names))])]), names, {}
    features = [prepared.layout[feature] for feature in needed.tolist()]
    used = sorted({feature.column for feature in features})
    place = {column: number for number, column in enumerate(used)}
    codes = {column: found for column in used if (found := _codes(prepared, column, na))}
    steps = [
        (f"features from {number}", _prepared_features(prepared, run, codes.get(run[0].column, ())), columns)
        for number, run in enumerate(_runs(prepared, features, codes))
        for columns in [list(dict.fromkeys(place[feature.column] for feature in run))]
    ]
    named_codes = {prepared.names[column]: found for column, found in codes.items()}
    return ColumnTransformer(steps), tuple(prepared.names[column] for column in used), named_codes


def _runs(prepared: Preparation, features: Sequence[Feature], codes: Collection[int]) -> Iterator[tuple[Feature, ...]]:
    """Group neighbours that one transformer makes: numbers without gaps, those with gaps, the words of a column."""

    def kind(feature: Feature) -> tuple[object, ...]:
        if prepared.words[feature.column] is None and not feature.is_indicator:
            return (feature.column in codes,)
        return (feature.column, feature.is_indicator)

    for _, run in itertools.groupby(features, key=kind):
        yield tuple(run)


def _codes(prepared: Preparation, column: int, na: Sequence[str]) -> tuple[str, ...]:
    """List what stands for a missing value in a column, in small letters; nothing where gaps are not filled."""
    if prepared.missing not in IMPUTER_STRATEGIES:
        return ()
    words = prepared.words[column]
    among_words = () if na else MARKS_AMONG_WORDS  # as on reading: a dash is a word where it is said what is missing
    usual = MARKS_AMONG_NUMBERS if words is None else among_words
    marks = {mark.lower() for mark in (*usual, *MISSING_MARKS, *na, *PANDAS_MISSING)}
    return tuple(sorted(marks - {word.strip().lower() for word in words or ()}))


def _prepared_features(prepared: Preparation, run: Sequence[Feature], codes: Sequence[str]) -> Any:
    """Make the transformer, not fitted, of the columns of a run into its features."""
    first, words = run[0], prepared.words[run[0].column]
    fills = prepared.missing in IMPUTER_STRATEGIES
    missing: Any = np.nan if words is None else ""
    steps = [*_without_codes(codes, is_number=words is None)] if codes or words is not None else []
    if first.is_indicator:
        steps.append(MissingIndicator(missing_values=missing, features="all"))
    elif words is None:
        steps += [SimpleImputer(strategy=IMPUTER_STRATEGIES[prepared.missing])] if fills else []
    else:
        most_frequent = SimpleImputer(missing_values="", strategy="most_frequent")
        if prepared.categorical == "ordinal":
            # An unknown word counts as missing.
            steps += [most_frequent, prepared.encoder(first.column), SimpleImputer(strategy="most_frequent")]
        else:
            kept = [words[feature.word] for feature in run if feature.word is not None]
            encoder = OneHotEncoder(
                categories=[np.array(kept, dtype=object)], handle_unknown="ignore", sparse_output=False
            )
            steps += [most_frequent, encoder] if fills else [encoder]
    return make_pipeline(*steps) if steps else "passthrough"


def _without_codes(codes: Sequence[str], *, is_number: bool) -> Iterator[FunctionTransformer]:
    """Yield what turns codes of missing values into NaN among numbers, and into "" among words, put into plain form.

    All is of Python's library and NumPy, so that it loads without fsvm. A word that is no code is refused among
    numbers.
    """
    # With names that are left out, `np.vectorize` keeps no compiled function, which could not be written to a file.
    each = functools.partial(np.vectorize, excluded={"nothing"})
    yield FunctionTransformer(each(functools.partial(operator.mod, "%s"), otypes=[object]))
    blanks = f"[{re.escape(BLANKS)}]"
    pattern = rf"(?i:\A{blanks}*(?:{'|'.join(map(re.escape, codes))}){blanks}*\Z)" if codes else r"\A\Z"
    if not is_number:
        yield FunctionTransformer(each(functools.partial(unicodedata.normalize, "NFC"), otypes=[object]))
        pattern += rf"|\A{blanks}+|{blanks}+\Z"
    replaced = functools.partial(re.sub, pattern, "nan" if is_number else "")
    yield FunctionTransformer(each(replaced, otypes=[float if is_number else object]))


def _in_sklearn(classifier: Any) -> Any:
    """Put a fitted classifier into a class of scikit-learn.

    Raises
    ------
    _NotSaidError
        If there is none for it.
    """
    if type(classifier).__module__.split(".")[0] == "sklearn":
        return classifier
    if not isinstance(classifier, KernelMachine):
        raise _NotSaidError(f"scikit-learn has no class for what {type(classifier).__name__} learns")
    n_classes, n_machines = len(classifier.classes_), len(classifier.machine_kernels_)
    factors = classifier.output_factors_
    is_linear = all(isinstance(kernel, Linear) for kernel in classifier.machine_kernels_)
    has_pairs = isinstance(classifier, SVM) and n_classes > 2 and classifier.decision_function_shape == "ovo"
    if is_linear and not has_pairs:
        coef = classifier.coef_ * factors[:, None]
        return _linear(coef, classifier.intercept_ * factors, classifier.classes_)
    if n_classes == 2:
        return _binary(classifier, 0, factors[0], classifier.classes_)
    sign = -1.0 if has_pairs else 1.0  # the first class of a pair is +1 in fsvm, the second in scikit-learn
    machines = [_binary(classifier, m, sign * factors[m], np.arange(2)) for m in range(n_machines)]
    return _of_several(OneVsOneClassifier if has_pairs else OneVsRestClassifier, machines, classifier.classes_)


def _linear(coef: NDArray[np.float64], intercept: NDArray[np.float64], classes: NDArray[Any]) -> LinearSVC:
    model = LinearSVC()
    model.coef_, model.intercept_, model.classes_ = coef, intercept, classes
    model.n_features_in_, model.n_iter_ = coef.shape[1], 0
    return model


def _binary(classifier: KernelMachine, m: int, factor: float, classes: NDArray[Any]) -> LinearSVC | SVC:
    """Put one machine of a classifier, its scores times a factor, into a class of scikit-learn."""
    kernel = classifier.machine_kernels_[m]
    if isinstance(kernel, Linear):
        return _linear(factor * classifier.coef_[[m]], factor * classifier.intercept_[[m]], classes)
    if sp.issparse(classifier.support_vectors_):
        raise _NotSaidError("scikit-learn's machines on sparse samples are not written yet")
    # A fit of one step makes an object that is whole; then its solution is replaced.
    model = SVC(**_kernel_parameters(kernel), max_iter=1)
    vectors = np.ascontiguousarray(classifier.support_vectors_, dtype=np.float64)
    n_first = (len(vectors) + 1) // 2
    vectors = vectors if len(vectors) > 1 else np.vstack([vectors, vectors])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(vectors, np.where(np.arange(len(vectors)) < n_first, classes[0], classes[1]))
    coefficients = np.zeros((1, len(vectors)))
    coefficients[0, : classifier.dual_coef_.shape[1]] = factor * classifier.dual_coef_[m]
    bias = factor * classifier.intercept_[[m]]
    model.set_params(max_iter=-1)
    model.support_ = np.arange(len(vectors), dtype=np.int32)
    model.support_vectors_ = vectors
    model._n_support = np.array([n_first, len(vectors) - n_first], dtype=np.int32)
    model.dual_coef_, model.intercept_ = coefficients, bias
    # In LIBSVM the first class is +1.
    model._dual_coef_, model._intercept_ = -coefficients, -bias
    model.fit_status_ = 0
    return model


def _kernel_parameters(kernel: Kernel) -> dict[str, Any]:
    """Say a kernel with the parameters of scikit-learn's `SVC`.

    Raises
    ------
    _NotSaidError
        If it has none such.
    """
    if isinstance(kernel, Gaussian) and kernel.weights is None:
        return {"kernel": "rbf", "gamma": 1 / kernel.theta}
    if isinstance(kernel, Polynomial) and kernel.weights is None:
        return {"kernel": "poly", "degree": kernel.degree, "gamma": kernel.scale, "coef0": kernel.offset}
    if isinstance(kernel, Tanh):
        return {"kernel": "sigmoid", "gamma": kernel.scale, "coef0": -kernel.offset}
    weighted = " with weights" if getattr(kernel, "weights", None) is not None else ""
    raise _NotSaidError(f"scikit-learn has no {kernel.name} kernel{weighted}")


def _of_several(kind: type, machines: Sequence[Any], classes: NDArray[Any]) -> Any:
    """Put binary machines into scikit-learn's classifier of several classes."""
    n_features = machines[0].n_features_in_
    # A fit on a row of each class makes an object that is whole; then its machines are replaced.
    rows = np.arange(len(classes), dtype=float)[:, None] * np.ones(n_features)
    model = kind(clone(machines[0])).fit(rows, classes)
    model.estimators_ = type(model.estimators_)(machines)
    return model


def _calibrators(exported: Export) -> tuple[Any, NDArray[Any]]:
    """Fit sigmoids on the scores of rows that ranking and machine have not seen; return them with the classes.

    Raises
    ------
    UsageError
        As `stand_alone`.
    """
    y, groups = exported.labels(), exported.groups
    if getattr(exported.pipeline["classifier"], "decision_function_shape", "ovr") == "ovo":
        raise UsageError(
            "probabilities are calibrated for each class against the rest; leave out --probability, or pairs of "
            "classes (decision_function_shape)"
        )
    n_smallest = int(np.unique(y, return_counts=True)[1].min())
    n_folds = min(CALIBRATION_FOLDS, n_smallest, n_smallest if groups is None else len(np.unique(groups)))
    if n_folds < 2:
        raise UsageError(
            "calibrated probabilities need two rows of each class, or two groups, to leave some out; leave out "
            "--probability"
        )
    folds: Any = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = folds(n_folds, shuffle=True, random_state=0)
    splits = [*splitter.split(np.zeros(len(y)), y, groups)]
    # scikit-learn's cross-validation trains on codes, also where kernels and weights go by the names of classes.
    classes, codes = np.unique(y, return_inverse=True)
    pipeline = clone(exported.pipeline)
    by_name = {
        name: {code: value[label] for code, label in enumerate(classes.tolist()) if label in value}
        for name, value in pipeline.get_params().items()
        if name.endswith(("class_weight", "class_kernels")) and isinstance(value, dict)
    }
    whole = CalibratedClassifierCV(pipeline.set_params(**by_name), cv=splits, ensemble=False)
    try:
        whole.fit(exported.samples(), codes, **exported.fit_parameters)
    except ValueError as error:
        raise UsageError(f"--probability: {brief(str(error).splitlines()[0])}") from error
    return whole.calibrated_classifiers_[0], classes


def _with_calibrators(found: Any, classes: NDArray[Any], machine: Any) -> CalibratedClassifierCV:
    """Put sigmoids behind another machine with the same scores."""
    found.estimator, found.classes = machine, classes
    model = CalibratedClassifierCV(machine, cv=CALIBRATION_FOLDS, ensemble=False)
    model.calibrated_classifiers_, model.classes_ = [found], classes
    return model
