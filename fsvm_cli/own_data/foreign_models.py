"""Machines of trained models, foreign ones too: their coefficients or weights, and the rows that they are of."""

from __future__ import annotations

import io
import warnings
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from fsvm_cli.console import brief
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.svm import SVM, Gaussian, Linear, Polynomial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from fsvm_cli.svm import Kernel
    from fsvm_cli.svm.compiled import Array


class Given(NamedTuple):
    """One machine of a model.

    Attributes
    ----------
    name : str
    rows : (n,) array of int
        That it was trained on.
    y : (n,) array
        Their labels, -1 or +1.
    C : (n,) array
    kernel : Kernel
    c : (n,) array or None
        alpha_i y_i.
    w : (d,) array or None
        Where there is no c; with the bias over `constant` last if that is not 0.
    bias : float
    constant : float
        The value of the column by whose weight the bias is penalised.
    is_squared : bool
        Loss C max(0, 1 - y f)^2.
    """

    name: str
    rows: npt.NDArray[np.intp]
    y: Array
    C: Array
    kernel: Kernel
    c: Array | None
    w: Array | None
    bias: float
    constant: float = 0.0
    is_squared: bool = False


def machines_of(model: Any, X: Array, y: npt.NDArray[Any], C: float | None) -> Iterator[Given]:
    """Yield the machines of a model, by its kind.

    Raises
    ------
    UsageError
        If it is of none that is known.
    """
    if isinstance(model, str | Path):
        yield from _of_file(Path(model), X, y, C)
        return
    if C is not None:
        raise UsageError("C is for model files, which do not hold it; leave it out for an estimator")
    readers: tuple[tuple[Any, Callable[[Any, Array, npt.NDArray[Any]], Iterator[Given]]], ...] = (
        (SVM, _of_own),
        (SVC, _of_svc),
        (LinearSVC, _of_linear_svc),
    )
    for kind, read in readers:
        if type(model) is kind:
            if not hasattr(model, "classes_"):
                raise UsageError(f"{kind.__name__}: is not fitted; fit it first")
            if getattr(model, "n_features_in_", X.shape[1]) != X.shape[1]:
                raise UsageError(
                    f"{kind.__name__}: was trained on {model.n_features_in_} features, and the data have "
                    f"{X.shape[1]}; give it the data that it was trained on"
                )
            try:
                yield from read(model, X, y)
            except AttributeError as error:
                raise UsageError(
                    f"{kind.__name__}: has no {error.name}, as one that another version has written; train it again"
                ) from error
            return
    raise UsageError(
        f"{type(model).__name__}: only SVC and LinearSVC of scikit-learn, SVM of fsvm, Pipelines that end in one, and "
        "model files of libsvm and liblinear can be certified"
    )


def _codes(y: npt.NDArray[Any], classes: Sequence[Any]) -> npt.NDArray[np.intp]:
    """Return the numbers that a model gives the classes of rows; what is equal as text is the same class."""
    number = {str(name): k for k, name in enumerate(classes)}
    names, places = np.unique(y, return_inverse=True)
    unknown = {str(name) for name in names} - number.keys()
    if unknown or len(names) < len(number):
        raise UsageError(
            f"the model tells {', '.join(number)} apart, and the rows are of {', '.join(map(str, names))}; give "
            "the data that it was trained on"
        )
    return np.array([number[str(name)] for name in names])[places]


def _one_against_one(  # noqa: PLR0917 - what the machines of a model share
    pairs: Sequence[tuple[int, int]],
    coefficients: Callable[[int, int, int], Array],
    biases: Array,
    codes: npt.NDArray[np.intp],
    C: Array,
    kernel: Kernel,
    classes: Sequence[Any],
) -> Iterator[Given]:
    """Yield the machines of pairs of classes, the first as +1."""
    for m, (i, j) in enumerate(pairs):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == i, 1.0, -1.0)
        c = coefficients(m, i, j)[rows]
        name = f"{classes[i]} against {classes[j]}"
        yield Given(name, rows, y, C[rows], kernel, _in_box(name, c, y, C[rows]), None, float(biases[m]))


def _in_box(name: str, c: Array, y: Array, C: Array) -> Array:
    alpha = c * y
    if (alpha < 0.0).any() or (alpha > C * (1.0 + 1e-12)).any():
        raise UsageError(
            f"{name}: has coefficients below 0 or beyond C; the classes or C are not those of its training, or it "
            "was trained with weights of samples, which models do not keep"
        )
    return np.minimum(alpha, C) * y


def _rows_of(vectors: Array, classes: npt.NDArray[np.intp], X: Array, codes: npt.NDArray[np.intp]) -> list[int]:
    """Find support vectors among the rows, each row once."""
    places: dict[tuple[bytes, int], list[int]] = {}
    for row in range(len(X) - 1, -1, -1):
        places.setdefault(((X[row] + 0.0).tobytes(), int(codes[row])), []).append(row)
    found = []
    for k, (vector, code) in enumerate(zip(vectors, classes, strict=True)):
        left = places.get(((vector + 0.0).tobytes(), int(code)))
        if not left:
            raise UsageError(
                f"support vector {k + 1} is no row of the data, or of another class there; give the data that the "
                "model was trained on, scaled as they were (--scaling)"
            )
        found.append(left.pop())
    return found


def _scikit_kernel(name: Any, gamma: float, offset: float, degree: int) -> Kernel:
    if name == "linear":
        return Linear()
    if name == "rbf":
        return Gaussian(theta=1.0 / gamma)
    if name == "poly" and offset >= 0.0:
        return Polynomial(degree=degree, offset=offset, scale=gamma)
    raise UsageError(
        f"kernel {brief(str(name))}: the kernels linear, rbf and poly (coef0 >= 0) can be certified; others may be "
        "indefinite, and have no optimum to be near"
    )


def _of_svc(model: Any, X: Array, y: npt.NDArray[Any]) -> Iterator[Given]:
    kernel = _scikit_kernel(model.kernel, model._gamma, model.coef0, model.degree)
    codes, classes = _codes(y, model.classes_), model.classes_
    vectors = model.support_vectors_
    vectors = np.asarray(vectors.toarray() if sp.issparse(vectors) else vectors, dtype=np.float64)
    coefficients = model.dual_coef_
    coefficients = np.asarray(coefficients.toarray() if sp.issparse(coefficients) else coefficients)
    owners = np.repeat(np.arange(len(classes)), model.n_support_)
    C = model.C * np.asarray(model.class_weight_)[codes]
    yield from _of_libsvm(kernel, vectors, coefficients, owners, model.intercept_, X, codes, C, classes)


def _of_libsvm(  # noqa: PLR0917 - what a model of libsvm holds
    kernel: Kernel,
    vectors: Array,
    coefficients: Array,
    owners: npt.NDArray[np.intp],
    biases: Array,
    X: Array,
    codes: npt.NDArray[np.intp],
    C: Array,
    classes: Sequence[Any],
) -> Iterator[Given]:
    """Yield the machines of support vectors class by class; of two classes the second is +1, of more the first.

    Parameters
    ----------
    coefficients : (n_classes - 1, n_support) array
        The row of a pair is that of its other class, less the own one.
    """
    places = np.array(_rows_of(vectors, owners, X, codes), dtype=np.intp)
    pairs = [(1, 0)] if len(classes) == 2 else [*combinations(range(len(classes)), 2)]

    def of_pair(_: int, i: int, j: int) -> Array:
        full = np.zeros(len(X))
        for own, other in ((i, j), (j, i)):
            mine = owners == own
            full[places[mine]] = coefficients[other - (other > own), mine]
        return full

    yield from _one_against_one(pairs, of_pair, np.asarray(biases), codes, C, kernel, classes)


def _of_own(model: Any, X: Array, y: npt.NDArray[Any]) -> Iterator[Given]:
    if model.C_unit != "none" or np.isinf(model.C) or model.class_kernels is not None:
        raise UsageError("SVM: with C_unit, a hard margin or class_kernels cannot be certified; see its duality_gap_")
    codes, classes, kernel = _codes(y, model.classes_), model.classes_, model.machine_kernels_[0]
    if not kernel.positive_semidefinite:
        raise UsageError(f"SVM: the {kernel.name} kernel may be indefinite, and has no optimum to be near")
    C = model.C * _class_weights(model.class_weight, classes, codes)
    found = np.zeros((len(model.dual_coef_), len(X)))
    same = len(model.support_) == 0 or model.support_.max() < len(X)
    if not (same and np.array_equal(X[model.support_], model.support_vectors_)):
        raise UsageError("SVM: its support vectors are not the same rows of the data; give those it was trained on")
    found[:, model.support_] = model.dual_coef_
    if model.decision_function_shape == "ovo" and len(classes) > 2:
        pairs = [*combinations(range(len(classes)), 2)]
        yield from _one_against_one(pairs, lambda m, *_: found[m], model.intercept_, codes, C, kernel, classes)
        return
    for m, k in enumerate([1] if len(classes) == 2 else range(len(classes))):
        y_m = np.where(codes == k, 1.0, -1.0)
        name = _against_rest(classes, k)
        c = _in_box(name, found[m], y_m, C)
        yield Given(name, np.arange(len(X)), y_m, C, kernel, c, None, float(model.intercept_[m]))


def _against_rest(classes: Sequence[Any], k: int) -> str:
    return f"{classes[k]} against {classes[1 - k] if len(classes) == 2 else 'the rest'}"


def _class_weights(class_weight: Any, classes: Sequence[Any], codes: npt.NDArray[np.intp]) -> Array:
    names = np.asarray(classes)
    weights = compute_class_weight(class_weight, classes=names, y=names[codes])
    return np.asarray(weights, dtype=np.float64)[codes]


def _of_linear_svc(model: Any, _: Array, y: npt.NDArray[Any]) -> Iterator[Given]:
    if model.penalty != "l2" or model.multi_class != "ovr":
        raise UsageError(
            f"LinearSVC: penalty={model.penalty!r}, multi_class={model.multi_class!r}; only penalty='l2' one against "
            "the rest can be certified"
        )
    codes, classes = _codes(y, model.classes_), model.classes_
    C = model.C * _class_weights(model.class_weight, classes, codes)
    constant = float(model.intercept_scaling) if model.fit_intercept else 0.0
    intercepts = np.broadcast_to(model.intercept_, len(model.coef_))
    yield from _against_rests(
        classes, codes, C, model.coef_, intercepts, constant, is_squared=model.loss == "squared_hinge"
    )


def _against_rests(  # noqa: PLR0917 - as above
    classes: Sequence[Any],
    codes: npt.NDArray[np.intp],
    C: Array,
    coef: Array,
    intercepts: Array,
    constant: float,
    *,
    is_squared: bool,
) -> Iterator[Given]:
    for m, k in enumerate([1] if len(classes) == 2 else range(len(classes))):
        w = coef[m] if not constant else np.append(coef[m], intercepts[m] / constant)
        y = np.where(codes == k, 1.0, -1.0)
        name = _against_rest(classes, k)
        rows = np.arange(len(codes))
        yield Given(name, rows, y, C, Linear(), None, w, float(intercepts[m]), constant, is_squared)


LIBSVM_KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf"}
LIBLINEAR_LOSSES = {
    "L2R_L2LOSS_SVC_DUAL": "squared",
    "L2R_L2LOSS_SVC": "squared",
    "L2R_L1LOSS_SVC_DUAL": "plain",
}


def _of_file(path: Path, X: Array, y: npt.NDArray[Any], C: float | None) -> Iterator[Given]:
    """Yield the machines of a model file of libsvm or liblinear."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{brief(str(path))}: cannot be read as a model of libsvm or liblinear ({error})") from error
    header: dict[str, list[str]] = {}
    body: list[str] = []
    for number, line in enumerate(lines):
        name, *values = line.split() or [""]
        if name in {"SV", "w"}:
            body = [each for each in lines[number + 1 :] if each.strip()]
            break
        header[name] = values
    kinds = {"svm_type": _of_libsvm_text, "solver_type": _of_liblinear_text}
    for key, read in kinds.items():
        if key in header:
            if C is None or not 0.0 < C < np.inf:
                raise UsageError(f"{brief(str(path))}: a model file does not hold C; add the C of its training (--C)")
            try:
                yield from read(header, body, X, y, C)
            except (KeyError, ValueError, IndexError) as error:
                raise DataError(
                    f"{brief(str(path))}: is damaged, or of a version that is not known ({brief(repr(error))}); train "
                    "it again"
                ) from error
            return
    raise DataError(f"{brief(str(path))}: is no model of libsvm or liblinear; estimators end in .joblib or .skops")


def _first(header: dict[str, list[str]], name: str) -> str:
    return header[name][0]


def _of_libsvm_text(
    header: dict[str, list[str]], body: list[str], X: Array, y: npt.NDArray[Any], C: float
) -> Iterator[Given]:
    kind, name = _first(header, "svm_type"), _first(header, "kernel_type")
    if kind != "c_svc":
        raise UsageError(f"svm_type {brief(kind)}: only c_svc can be certified")
    gamma, offset = float(header.get("gamma", ["0"])[0]), float(header.get("coef0", ["0"])[0])
    kernel = _scikit_kernel(LIBSVM_KERNELS.get(name, name), gamma, offset, int(header.get("degree", ["3"])[0]))
    classes, n_support = header["label"], [int(value) for value in header["nr_sv"]]
    codes = _codes(y, classes)
    if len(body) != sum(n_support) or len(n_support) != len(classes):
        raise ValueError("support vectors are missing")
    coefficients, vectors = np.empty((len(classes) - 1, len(body))), np.zeros((len(body), X.shape[1]))
    for k, line in enumerate(body):
        words = line.split()
        coefficients[:, k] = [float(word) for word in words[: len(classes) - 1]]
        for word in words[len(classes) - 1 :]:
            index, value = word.split(":")
            vectors[k, int(index) - 1] = float(value)
    # libsvm writes eight digits of a value, and its machine of more has been trained on the whole ones.
    rounded = np.array([[float(f"{value:.8g}") for value in row] for row in X.tolist()])
    owners, biases = np.repeat(np.arange(len(classes)), n_support), -np.array(header["rho"], dtype=np.float64)
    if len(classes) == 2:  # here the first class is +1, whereas in scikit-learn it is the second
        coefficients, biases = -coefficients, -biases
    places = _rows_of(vectors, owners, rounded, codes)
    bounds = np.full(len(X), C)
    yield from _of_libsvm(kernel, X[places], coefficients, owners, biases, X, codes, bounds, classes)


def _of_liblinear_text(
    header: dict[str, list[str]], body: list[str], X: Array, y: npt.NDArray[Any], C: float
) -> Iterator[Given]:
    kind = _first(header, "solver_type")
    if kind not in LIBLINEAR_LOSSES:
        raise UsageError(f"solver_type {brief(kind)}: only {', '.join(LIBLINEAR_LOSSES)} can be certified")
    classes, constant = header["label"], max(float(_first(header, "bias")), 0.0)
    codes, n_features = _codes(y, classes), int(_first(header, "nr_feature"))
    if n_features > X.shape[1]:
        raise UsageError(f"the model was trained on {n_features} features, and the data have {X.shape[1]}")
    w = np.array([[float(word) for word in line.split()] for line in body]).T
    if w.shape[1] != n_features + (constant > 0.0):
        raise ValueError("weights are missing")
    coef = np.zeros((len(w), X.shape[1]))
    coef[:, :n_features] = w[:, :n_features]
    intercepts = w[:, -1] * constant if constant else np.zeros(len(w))
    if len(classes) == 2:
        coef, intercepts = -coef, -intercepts
    squared = LIBLINEAR_LOSSES[kind] == "squared"
    yield from _against_rests(classes, codes, np.full(len(X), C), coef, intercepts, constant, is_squared=squared)


def read_model(path: Path) -> tuple[Any, tuple[str, ...]]:
    """Read an estimator from a .joblib or .skops file; any other file is left to `certify`.

    Returns
    -------
    model : estimator, or the path
    remarks : tuple of str
        Warnings of the library that reads it, such as that another version wrote it.

    Raises
    ------
    DataError
        If the file is missing or damaged.
    UsageError
        If skops is not installed, or the file holds types that it does not trust.
    """
    if not path.is_file():
        raise DataError(f"{brief(str(path))}: there is no such file")
    if path.suffix not in {".joblib", ".skops"}:
        return path, ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = _loaded(path)
        except (UsageError, MemoryError):
            raise
        except Exception as error:  # what unpickling raises is anything
            raise DataError(f"{brief(str(path))}: cannot be loaded ({brief(repr(error))}); train it again") from error
    return model, tuple(dict.fromkeys(brief(str(each.message)) for each in caught))


def _loaded(path: Path) -> Any:
    if path.suffix == ".joblib":
        import joblib  # noqa: PLC0415 - seldom needed

        return joblib.load(io.BytesIO(path.read_bytes()))
    try:
        from skops.io import get_untrusted_types, load  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("a .skops file needs the package skops (pip install skops)") from error
    foreign = [name for name in get_untrusted_types(file=path) if not name.startswith(("fsvm_cli.", "sklearn."))]
    if foreign:
        raise UsageError(f"{brief(str(path))}: holds types that are not trusted: {brief(', '.join(foreign))}")
    return load(path, trusted=get_untrusted_types(file=path))
