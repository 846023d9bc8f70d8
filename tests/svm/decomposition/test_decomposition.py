"""Machines within a bounded memory against the dense engine, and in rational arithmetic."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import (
    SVM,
    Anova,
    ConvergenceError,
    DualProblem,
    Gaussian,
    InfeasibleError,
    Laplace,
    Linear,
    Polynomial,
    Tanh,
    UnitDiagonal,
    WeightedSum,
    duality_gap,
    grid_search,
    solve,
)
from fsvm_cli.svm.large.decomposition import begin, grown, solve_by_decomposition
from fsvm_cli.svm.large.decomposition_problem import KernelProblem, RowCache, memory_for_rows
from fsvm_cli.svm.large.decomposition_steps import Ascent
from fsvm_cli.svm.training_set import CachedTrainingSet, GramTrainingSet, training_set

EXAMPLES = int(os.environ.get("FSVM_AGREEMENT_EXAMPLES", "100"))
AGREEMENT = settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
KERNELS = [
    Gaussian(3.0),
    Gaussian(0.3),
    Laplace(2.0),
    Polynomial(degree=2),
    Anova(),
    Linear(),
    WeightedSum((Gaussian(2.0), Linear()), (1.0, 0.1), 0.5),
    UnitDiagonal(Polynomial(degree=3)),
]
ROOMY, TIGHT = 1.0, 1e-3
"""Megabytes: for all of a small problem, and for some rows of it."""


def two_classes(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 1] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


@st.composite
def samples(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw small problems with what real data have: duplicates, constants, imbalance, features of unlike units."""
    n, d = draw(st.integers(2, 60)), draw(st.integers(2, 6))
    X, y = two_classes(n, d, draw(st.integers(0, 2**32 - 1)))
    rng = np.random.default_rng(n)
    X *= 10.0 ** rng.uniform(-1, 0.3, d)
    if draw(st.booleans()):
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    if draw(st.booleans()):
        X[:, 0] = 3.0
    if draw(st.booleans()):
        y[2:] = -1.0
    return X, y


bounds = st.floats(-3, 4).map(lambda exponent: 10.0**exponent)
ridges = st.sampled_from([0.0, 0.0, 0.01, 1.0])


@given(samples(), st.sampled_from(KERNELS), bounds, ridges, st.booleans())
@AGREEMENT
def test_scores_are_those_of_the_dense_engine(drawn, kernel, C, ridge, equality):
    X, y = drawn
    gram = kernel.gram(X, X)
    expected = solve(DualProblem(gram, y, C, equality, ridge), on_failure="flag")
    assume(expected.converged)
    found = solve_by_decomposition(KernelProblem(kernel, X, y, C, equality, ridge), cache_mb=ROOMY)
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)
    assert ((found.alpha >= 0) & (found.alpha <= C)).all()
    if equality:
        assert abs(found.alpha @ y) <= 1e-9 * found.alpha.sum()
    scores = [gram @ (each.alpha * y) + each.bias for each in (found, expected)]
    np.testing.assert_allclose(*scores, atol=1e-6)


@given(samples(), st.sampled_from(KERNELS), st.floats(-3, 1), ridges, st.booleans())
@AGREEMENT
def test_a_memory_of_a_few_rows_is_enough(drawn, kernel, log_C, ridge, equality):
    X, y = drawn
    C = 10.0**log_C
    expected = solve(DualProblem(kernel.gram(X, X), y, C, equality, ridge), on_failure="flag")
    assume(expected.converged)
    found = solve_by_decomposition(
        KernelProblem(kernel, X, y, C, equality, ridge), cache_mb=TIGHT, tolerance=1e-4, on_failure="flag"
    )
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=2e-4)


@given(st.integers(0, 10_000), st.floats(-2, 2), st.sampled_from([TIGHT, 0.02, ROOMY]))
@AGREEMENT
def test_alpha_bias_and_margin_vectors_are_those_of_the_dense_engine(seed, log_C, cache_mb):
    X, y = two_classes(40, 4, seed)
    C, kernel = 10.0**log_C, Gaussian(3.0)
    expected = solve(DualProblem(kernel.gram(X, X), y, C))
    found = solve_by_decomposition(KernelProblem(kernel, X, y, C), cache_mb=cache_mb)
    # Without room for Newton steps it is decision values that are right to 1e-7, whatever C is.
    least = 1e-6 if cache_mb == TIGHT else 0.0
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=max(1e-5 * C, least))
    assert found.bias == pytest.approx(expected.bias, abs=1e-5)
    assert np.array_equal((found.alpha > 0) & (found.alpha < C), (expected.alpha > 0) & (expected.alpha < C))


def exact_gap(problem: KernelProblem, alpha: np.ndarray, bias: float, *, stretched: bool = False) -> float:
    """Return (primal - dual) over the larger in rational arithmetic, of the linear kernel with weights and ridge 0.

    With `stretched`, w is scaled until no sample below its upper bound is within its margin.
    """
    rows = [[Fraction(value) for value in row] for row in problem.X.tolist()]
    labels, a, b = [int(label) for label in problem.y], [Fraction(value) for value in alpha.tolist()], Fraction(bias)
    w = [sum((a[i] * labels[i] * rows[i][j] for i in range(len(a))), Fraction(0)) for j in range(len(rows[0]))]
    norm = sum((value**2 for value in w), Fraction(0))
    margins = [
        label * (sum((x * v for x, v in zip(row, w, strict=True)), Fraction(0)) + b)
        for label, row in zip(labels, rows, strict=True)
    ]
    smallest = min((margins[i] for i in np.flatnonzero(alpha < problem.C)), default=Fraction(1))
    scale = 1 / smallest if stretched and 0 < smallest < 1 else Fraction(1)
    losses = sum(
        (Fraction(problem.C[i]) * max(Fraction(0), 1 - scale * margins[i]) for i in range(len(a))), Fraction(0)
    )
    primal, dual = scale**2 * norm / 2 + losses, sum(a, Fraction(0)) - norm / 2
    size = max(abs(primal), abs(dual))
    return float((primal - dual) / size) if size else 0.0


@given(st.integers(0, 2**32 - 1))
@AGREEMENT
def test_a_gap_is_never_above_what_is_stated(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 5))
    X = rng.integers(-3000, 3000, (n, d)) * 2.0 ** rng.integers(-12, 12)  # so that kernel values are exact
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    problem = KernelProblem(Linear(), X, y, 10.0 ** rng.uniform(-6, 8))
    alpha = rng.choice([0.0, 1e-9, 0.5, 1.0], n) * problem.C
    balance = np.sum(alpha * y)
    alpha[0 if balance < 0 else 1] += abs(balance)
    inside = KernelProblem(Linear(), X, y, max(problem.C[0], alpha.max()))
    bias = float(rng.standard_normal())
    assert exact_gap(inside, alpha, bias) <= duality_gap(inside, alpha, bias) * (1 + 1e-12)
    found = solve_by_decomposition(problem, cache_mb=ROOMY, on_failure="flag")
    assert exact_gap(problem, found.alpha, found.bias) <= found.duality_gap * (1 + 1e-12)


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_many_blocks_give_the_residuals_of_the_gram_matrix(monkeypatch, equality, ridge):
    monkeypatch.setattr("fsvm_cli.svm.large.decomposition_problem.BLOCK_ROWS", 7)
    X, y = two_classes(50, 3)
    kernel, alpha = Gaussian(2.0), np.random.default_rng(0).random(50)
    alpha[::3] = 0.0
    dense, blocks = (
        DualProblem(kernel.gram(X, X), y, 1.0, equality, ridge),
        KernelProblem(kernel, X, y, 1.0, equality, ridge),
    )
    np.testing.assert_allclose(blocks.residuals(alpha * y), dense.residuals(alpha), atol=1e-13)
    assert blocks.objective(alpha) == pytest.approx(dense.objective(alpha), rel=1e-12)
    np.testing.assert_allclose(blocks.diagonal(), dense.diagonal(), rtol=1e-14)
    after = alpha.copy()
    after[5:9] = 0.25
    rows = np.arange(5, 9)
    moved = blocks.residuals_after(blocks.residuals(alpha * y), after * y, rows, ((after - alpha) * y)[rows])
    np.testing.assert_allclose(moved, dense.residuals(after), atol=1e-13)


@pytest.mark.parametrize("sharp", [False, True])
def test_residuals_lie_within_their_bounds(monkeypatch, sharp):
    monkeypatch.setattr("fsvm_cli.svm.large.decomposition_problem.BLOCK_ROWS", 7)
    rng = np.random.default_rng(0)
    X, y = (
        rng.integers(-3000, 3000, (40, 3)) * np.array([2.0**-9, 1.0, 2.0**9]),
        np.where(rng.random(40) < 0.5, 1.0, -1.0),
    )
    problem, alpha = KernelProblem(Linear(), X, y, 1.0), rng.random(40)
    found = problem.bounded_residuals(alpha, sharp=sharp)
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    w = [
        sum((Fraction(a) * int(label) * row[j] for a, label, row in zip(alpha, y, rows, strict=True)), Fraction(0))
        for j in range(3)
    ]
    for i, row in enumerate(rows):
        exact = int(y[i]) - sum((x * v for x, v in zip(row, w, strict=True)), Fraction(0))
        assert abs(Fraction(found.values[i]) - exact) <= Fraction(found.error[i])
    assert (found.error <= (3e-14 if sharp else 1e-12) * np.abs(X @ X.T).max() * alpha.sum()).all()


def test_samples_rest_and_come_back(monkeypatch):
    monkeypatch.setattr("fsvm_cli.svm.large.decomposition_steps.MAX_WORKING_SET", 16)
    X, y = two_classes(400, 3)
    problem = KernelProblem(Gaussian(3.0), X, y, 1.0)
    ascent, seen = Ascent(problem, np.zeros(400), np.empty(400 * 20)), []
    compute = ascent._compute
    monkeypatch.setattr(ascent, "_compute", lambda *given: (seen.append(given[1].shape[1]), compute(*given)))
    violation = ascent.rise(1e-8, 20_000)
    assert violation <= 1e-8
    assert min(seen) < 400
    np.testing.assert_allclose(ascent.residuals, problem.residuals(ascent.alpha * y), atol=1e-12)
    assert ascent.alpha @ y == pytest.approx(0.0, abs=1e-9)
    expected = solve(DualProblem(problem.block(np.arange(400)), y, 1.0))
    np.testing.assert_allclose(ascent.alpha, expected.alpha, atol=1e-6)


@pytest.mark.parametrize("of_all", [True, False])
@pytest.mark.parametrize(("goal", "precision"), [(1e-3, np.float32), (1e-7, np.float64)])
def test_a_rough_way_ends_in_residuals_of_doubles(monkeypatch, goal, precision, of_all):
    monkeypatch.setattr("fsvm_cli.svm.large.decomposition_steps.MAX_WORKING_SET", 16)
    X, y = two_classes(300, 3)
    problem = KernelProblem(Gaussian(3.0), X, y, 1.0)
    rough, exact = (Ascent(problem, np.zeros(300), np.empty(300 * 20), rough=each) for each in (True, False))
    assert (len(rough._cache), len(exact._cache)) == (40, 20)
    for ascent in (rough, exact):
        assert ascent.rise(goal, 20_000, of_all=of_all) <= goal
    assert rough._cache.values.dtype == (np.float64 if of_all else precision)
    if of_all:  # else samples that rest may violate their conditions, each way by others
        np.testing.assert_allclose(rough.alpha, exact.alpha, atol=1e2 * goal)
        known = problem.residuals_known(rough.residuals, rough.terms, rough.moved)
        sharp = problem.bounded_residuals(rough.alpha, sharp=True)
        assert (np.abs(known.values - sharp.values) <= known.error + sharp.error).all()


@pytest.mark.parametrize(
    ("kernel", "scale"),
    [
        (Linear(), 1e25),
        (Linear(), 1e-25),
        (Tanh(), 1.0),
        (WeightedSum((Gaussian(1.0), Linear()), (1.0, -1.0), free_sign=True), 1.0),
    ],
)
def test_kernel_values_without_a_bound_or_beyond_single_precision_are_kept_in_doubles(kernel, scale):
    X, y = two_classes(60, 3)
    problem = KernelProblem(kernel, scale * X, y, 1.0)
    ascent = Ascent(problem, np.zeros(60), np.empty(60 * 20), rough=True)
    assert ascent._cache.values.dtype == np.float64


def test_residuals_follow_what_has_changed_where_that_is_less(monkeypatch):
    X, y = two_classes(300, 3)
    problem = KernelProblem(Laplace(3.0), X, y, 1.0)  # of which no rows are computed in single precision
    near = solve_by_decomposition(problem, cache_mb=ROOMY).alpha
    near[np.flatnonzero((near > 0) & (near < 1.0))[:2]] *= 0.5
    near[y > 0] *= min(near[y < 0].sum() / near[y > 0].sum(), 1.0)
    near[y < 0] *= near[y > 0].sum() / near[y < 0].sum()
    ascent, asked = Ascent(problem, near, np.empty(300 * 300), rough=True), []
    monkeypatch.setattr(KernelProblem, "residuals", lambda *given: asked.append(given))
    ascent.rise(0.1, 100)
    assert not asked
    monkeypatch.undo()
    np.testing.assert_allclose(ascent.residuals, problem.residuals(ascent.alpha * y), atol=1e-12)


def test_the_cache_keeps_what_was_used_last_and_moves_what_stays():
    matrix = np.arange(100.0).reshape(10, 10)
    computed: list[int] = []

    def compute(rows, out, slots):
        computed.extend(rows.tolist())
        out[slots] = matrix[rows][:, kept]

    kept = np.arange(10)
    cache = RowCache(10, np.empty(10 * 3))
    assert len(cache) == 3
    for wanted in ([0, 1], [2], [0], [3, 0]):
        rows = np.array(wanted)
        np.testing.assert_array_equal(cache.values[cache.fetch(rows, compute)], matrix[rows])
    assert computed == [0, 1, 2, 3]
    cache.fetch(np.array([2]), compute)
    assert computed == [0, 1, 2, 3]
    kept = np.array([0, 3, 7, 8])
    cache.restrict(kept)
    assert len(cache) == 4
    slots = cache.fetch(np.array([0, 1, 3]), compute)
    assert computed == [0, 1, 2, 3, 3]
    np.testing.assert_array_equal(cache.values[slots], matrix[np.array([0, 3, 3])][:, kept])


def test_memory_is_for_two_rows_at_least_and_for_all_at_most():
    assert [len(memory_for_rows(10, n_bytes)) for n_bytes in (1, 800 - 8, 10**9)] == [20, 99, 100]


def test_a_machine_grows_from_a_part_of_the_samples(monkeypatch):
    X, y = two_classes(400, 3)
    y[5:395] = -1.0  # the rare class is in every part
    kernel, sizes = Gaussian(3.0), []
    expected = solve(DualProblem(kernel.gram(X, X), y, 1.0))
    monkeypatch.setattr("fsvm_cli.svm.large.decomposition.MIN_FIRST_PART_ROWS", 50)
    begin = Ascent.__init__
    monkeypatch.setattr(
        Ascent,
        "__init__",
        lambda self, *given, rough: (sizes.append(len(given[0].y)), begin(self, *given, rough=rough))[1],
    )
    found = solve_by_decomposition(KernelProblem(kernel, X, y, 1.0), cache_mb=ROOMY)
    assert sizes == [100, 400]
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=1e-6)


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplace(3.0)])
@pytest.mark.parametrize(("C", "guesses"), [(0.3, 2), (1e4, 1), (np.inf, 1)])
def test_what_grows_is_feasible_and_no_overshoot(monkeypatch, kernel, C, guesses, equality):
    monkeypatch.setattr("fsvm_cli.svm.large.decomposition.MIN_FIRST_PART_ROWS", 50)
    X, y = two_classes(600, 3)
    if np.isinf(C):
        y = np.where(X[:, 0] > 0.2, 1.0, -1.0)
    problem = KernelProblem(kernel, X, y, np.random.default_rng(0).uniform(0.5, 1.0, 600) * C, equality)
    memory = np.empty(600 * 600)
    points = list(grown(problem, memory))
    assert len(points) == guesses
    for alpha in points:
        assert ((alpha >= 0.0) & (alpha <= problem.C)).all()
        assert alpha.any()
        if equality:
            assert abs(alpha @ y) <= 1e-9 * alpha.sum()
    ascent = begin(problem, memory)
    assert ascent.objective == pytest.approx(problem.objective(ascent.alpha), rel=1e-4)
    assert ascent.objective >= -ascent.alpha.sum()
    if C < 1.0:
        best = solve_by_decomposition(problem, cache_mb=ROOMY).objective
        assert ascent.objective >= 0.7 * best


def test_bounds_of_each_sample_are_kept():
    X, y = two_classes(200, 4)
    C = np.random.default_rng(1).uniform(0.1, 5.0, 200)
    kernel = Gaussian(3.0)
    expected = solve(DualProblem(kernel.gram(X, X), y, C))
    found = solve_by_decomposition(KernelProblem(kernel, X, y, C), cache_mb=ROOMY)
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=1e-6)


@pytest.mark.parametrize("cache_mb", [TIGHT, ROOMY])
def test_hard_margins_are_found_or_said_not_to_exist(cache_mb):
    X, y = two_classes(80, 3)
    kernel = Gaussian(0.3)
    expected = solve(DualProblem(kernel.gram(X, X), y, np.inf))
    found = solve_by_decomposition(KernelProblem(kernel, X, y, np.inf), cache_mb=cache_mb)
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)


def test_a_hard_margin_that_does_not_exist_is_named():
    X, y = two_classes(80, 3)
    with pytest.raises(InfeasibleError, match="not separable"):
        solve_by_decomposition(KernelProblem(Linear(), X, y, np.inf), cache_mb=ROOMY)


@pytest.mark.parametrize("C", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("cache_mb", [TIGHT, ROOMY])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((40, 2)), [1, -1, 1, -1] * 10),
        (np.ones((40, 2)), [1] + [-1] * 39),
        (np.column_stack([np.arange(40.0)] * 3), [1, -1] * 20),
        (np.repeat(np.arange(10.0), 4)[:, None] * [1.0, 0.0], [1, -1, 1, 1] * 10),
    ],
)
def test_degenerate_points_are_certified_or_flagged(X, y, cache_mb, C):
    labels, kernel = np.array(y, dtype=float), Gaussian(2.0)
    found = solve_by_decomposition(KernelProblem(kernel, X, labels, C), cache_mb=cache_mb, on_failure="flag")
    rounding = kernel.rounding(X).of_machine()
    expected = solve(DualProblem(kernel.gram(X, X), labels, C, rounding=rounding), on_failure="flag")
    assert found.converged == (found.duality_gap <= 1e-6)
    if cache_mb == ROOMY:
        assert found.converged or not expected.converged
    if found.converged and expected.converged:
        assert found.objective == pytest.approx(expected.objective, rel=2e-6)


@pytest.mark.parametrize(("cache_mb", "solver"), [(TIGHT, "decomposition"), (ROOMY, "smo")])
def test_where_all_samples_find_room_the_dense_solvers_take_over_from_steps_that_fail(monkeypatch, cache_mb, solver):
    monkeypatch.setattr("fsvm_cli.svm.large.decomposition._Search._newton_steps", lambda *_: None)
    for limit in ("MIN_ROUND_BUDGET", "STEPS_PER_SAMPLE"):
        monkeypatch.setattr(f"fsvm_cli.svm.large.decomposition.{limit}", 0)
    X, y = two_classes(60, 3)
    found = solve_by_decomposition(KernelProblem(Gaussian(3.0), X, y, 1.0), cache_mb=cache_mb, on_failure="flag")
    assert (found.solver, found.converged) == (solver, cache_mb == ROOMY)


def test_a_sigmoid_ends_where_the_conditions_hold():
    X, y = two_classes(80, 3)
    found = solve_by_decomposition(KernelProblem(Tanh(), X, y, 1.0), cache_mb=ROOMY)
    assert found.converged


def test_a_gap_that_doubles_do_not_allow_is_flagged_and_named():
    X, y = two_classes(60, 3)
    with pytest.raises(ConvergenceError, match=r"decomposition stopped .* too large for double precision"):
        solve_by_decomposition(KernelProblem(Linear(), 1e8 * X, y, 1e6), cache_mb=ROOMY, tolerance=1e-14)


@pytest.mark.parametrize(
    ("X", "C", "message"),
    [
        (np.zeros(4), 1.0, r"shape \(4,\); there are 4 labels"),
        (np.zeros((3, 2)), 1.0, "there are 4 labels"),
        (np.full((4, 2), np.nan), 1.0, "not finite"),
        (np.zeros((4, 2)), 0.0, "C must be > 0"),
    ],
)
def test_problems_that_are_none_are_refused(X, C, message):
    with pytest.raises(ValueError, match=message):
        KernelProblem(Gaussian(1.0), X, [1, -1, 1, -1], C)


def test_a_memory_that_is_none_is_refused():
    X, y = two_classes(10, 2)
    with pytest.raises(ValueError, match="cache_mb must be > 0, not 0"):
        solve_by_decomposition(KernelProblem(Linear(), X, y, 1.0), cache_mb=0)
    with pytest.raises(ValueError, match="takes samples, not their Gram matrix: see `KernelProblem`"):
        solve(DualProblem(X @ X.T, y, 1.0), solver="decomposition")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_an_estimator_decides_the_same_within_a_bounded_memory(n_classes, shape):
    X, _ = two_classes(150, 4)
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [-0.5, 0.5][: n_classes - 1])
    settings = {"kernel": Gaussian(3.0), "decision_function_shape": shape, "output_scaling": "none"}
    dense = SVM(**settings, solver="smo").fit(X, y)
    cached = SVM(**settings, solver="decomposition", cache_mb=0.5).fit(X, y)
    np.testing.assert_allclose(cached.decision_function(X), dense.decision_function(X), atol=1e-6)
    assert set(cached.solver_) == {"decomposition"}
    assert all(np.array_equal(*pair) for pair in zip(cached.margin_vectors_, dense.margin_vectors_, strict=True))


def test_sparse_samples_are_taken():
    X, y = two_classes(120, 5)
    X[X < 0.5] = 0.0
    kernel = Polynomial(degree=2)
    dense = SVM(kernel, solver="smo").fit(X, y)
    cached = SVM(kernel, solver="decomposition", cache_mb=0.02).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(cached.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-6)


def test_auto_makes_no_matrix_where_samples_are_many(monkeypatch):
    kernel, X = Gaussian(1.0), np.zeros((10_001, 2))
    chosen = training_set(kernel, X, "auto")
    assert isinstance(chosen, CachedTrainingSet)
    assert chosen.solver.cache_mb is None, "a part of the free memory"
    assert training_set(kernel, X, "auto", 7.0).solver.cache_mb == 7.0
    assert isinstance(training_set(kernel, X[:50], "auto"), GramTrainingSet)
    monkeypatch.setattr("fsvm_cli.svm.routing.free_memory", lambda: 10**9)
    assert isinstance(training_set(kernel, X[:6000], "auto"), CachedTrainingSet)


def test_outputs_in_blocks_are_those_in_one_piece(monkeypatch):
    X, y = two_classes(90, 3)
    machine = SVM(Gaussian(2.0), C=3.0).fit(X, y)
    whole, gradients = machine.decision_function(X), machine.input_gradient(X)
    for module in ("base", "additive"):
        monkeypatch.setattr(f"fsvm_cli.svm.kernels.{module}.MAX_PAIRS_IN_MEMORY", 200)
    np.testing.assert_allclose(machine.decision_function(X), whole, atol=1e-13)
    np.testing.assert_allclose(machine.input_gradient(X), gradients, atol=1e-13)


def test_residuals_that_were_summed_on_the_way_lie_within_their_bound():
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3000, 3000, (60, 3)) * 2.0**-8, np.where(rng.random(60) < 0.5, 1.0, -1.0)
    problem = KernelProblem(Linear(), X, y, 1e3)
    ascent = Ascent(problem, np.zeros(60), np.empty(60 * 8))
    ascent.rise(1e-3, 300)
    found = problem.residuals_known(ascent.residuals, ascent.terms, ascent.moved)
    exact = problem.bounded_residuals(ascent.alpha, sharp=True)
    assert ascent.terms >= np.count_nonzero(ascent.alpha)
    assert (np.abs(found.values - exact.values) <= found.error + exact.error).all()
    assert np.abs(found.values - exact.values).max() > 0.0


@pytest.mark.parametrize(
    ("who", "work"),
    [
        ("solver 'smo'", lambda X, y: SVM(Gaussian(1.0), solver="smo").fit(X, y)),
        ("rfe with the gaussian kernel", lambda X, y: RecursiveFeatureElimination(Gaussian(1.0)).fit(X, y)),
        (
            "tuning",
            lambda X, y: grid_search([Linear()], [1.0], X, y, [(np.arange(40), np.arange(40, 60))], n_classes=2),
        ),
    ],
)
def test_work_that_holds_matrices_says_for_how_many_rows_there_is_memory(monkeypatch, who, work):
    monkeypatch.setattr("fsvm_cli.memory_check.free_memory", lambda: 20_000)
    X, y = two_classes(60, 3)
    with pytest.raises(ValueError, match=rf"{who} holds \d matrices .* enough for \d+ rows; draw fewer rows, "):
        work(X, (y > 0).astype(int))


@pytest.mark.parametrize("method", [GradientAngle, Infoprop])
def test_rankings_are_the_same_within_a_bounded_memory(method):
    X, y = two_classes(120, 4)
    dense = method(Gaussian(4.0), solver="smo")
    if method is Infoprop:
        dense.set_params(random_state=0)
    dense.fit(X, y)
    cached = clone(dense).set_params(solver="decomposition", cache_mb=0.02).fit(X, y)
    assert cached.converged_
    np.testing.assert_allclose(cached.scores_, dense.scores_, atol=1e-6)
