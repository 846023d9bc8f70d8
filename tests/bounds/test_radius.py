"""The enclosing ball: closed forms, brute force in the plane, and an independent QP solver."""

from __future__ import annotations

import itertools

import clarabel
import numpy as np
import pytest
from scipy import sparse

from fsvm_cli.bounds.radius_margin import enclosing_ball
from fsvm_cli.svm import Gaussian, Polynomial


def squared_radius_by_clarabel(gram: np.ndarray) -> float:
    n = len(gram)
    A = sparse.csc_matrix(np.vstack([np.ones(n), -np.eye(n)]))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = sparse.triu(2.0 * gram, format="csc")
    solution = clarabel.DefaultSolver(P, -gram.diagonal(), A, np.append(1.0, np.zeros(n)), cones, settings).solve()
    assert solution.status == clarabel.SolverStatus.Solved
    return -solution.obj_val


def squared_radius_in_the_plane(points: np.ndarray) -> float:
    """Try every circle through two points, or three."""
    best = np.inf
    for chosen in [*itertools.combinations(points, 2), *itertools.combinations(points, 3)]:
        first, rest = chosen[0], np.array(chosen[1:]) - chosen[0]
        centre = first + np.linalg.lstsq(rest, 0.5 * (rest**2).sum(axis=1), rcond=None)[0]
        squared = ((chosen - centre) ** 2).sum(axis=1).max()
        if ((points - centre) ** 2).sum(axis=1).max() <= squared * (1 + 1e-9):
            best = min(best, squared)
    return best


@pytest.mark.parametrize("n", [2, 3, 7])
def test_of_a_regular_simplex(n: int) -> None:
    ball = enclosing_ball(np.eye(n))
    assert ball.squared_radius == pytest.approx(1 - 1 / n)
    np.testing.assert_allclose(ball.beta, 1 / n)


@pytest.mark.parametrize("n", [3, 6, 9])
def test_in_the_plane_it_is_the_smallest_circle(rng: np.random.Generator, n: int) -> None:
    points = rng.normal(size=(n, 2))
    ball = enclosing_ball(points @ points.T)
    assert ball.converged
    assert ball.squared_radius == pytest.approx(squared_radius_in_the_plane(points), rel=1e-6)


@pytest.mark.parametrize("kernel", [Gaussian(8.0), Gaussian(0.5), Polynomial(3)], ids=repr)
@pytest.mark.parametrize("shape", [(40, 6), (30, 60)])
def test_as_an_independent_solver(
    rng: np.random.Generator, kernel: Gaussian | Polynomial, shape: tuple[int, int]
) -> None:
    X = rng.normal(size=shape)
    gram = kernel.gram(X, X)
    ball = enclosing_ball(gram)
    assert ball.converged
    assert ball.squared_radius == pytest.approx(squared_radius_by_clarabel(gram), rel=1e-6)
    assert (ball.beta >= 0).all()
    assert ball.beta.sum() == pytest.approx(1, rel=1e-12)


def test_where_it_begins_does_not_move_it(rng: np.random.Generator) -> None:
    X = rng.normal(size=(40, 6))
    cold = enclosing_ball(X @ X.T, tolerance=1e-10)
    warm = enclosing_ball(X @ X.T, tolerance=1e-10, beta0=np.full(40, 1 / 40))
    assert warm.converged
    assert warm.squared_radius == pytest.approx(cold.squared_radius, rel=1e-12)
    np.testing.assert_allclose(warm.beta, cold.beta, atol=1e-9)


def test_the_gap_is_how_far_a_sample_lies_outside(rng: np.random.Generator) -> None:
    X = rng.normal(size=(50, 4))
    ball = enclosing_ball(X @ X.T, tolerance=0.3)
    squared = ((X - ball.beta @ X) ** 2).sum(axis=1)
    assert ball.squared_radius <= squared_radius_by_clarabel(X @ X.T) * (1 + 1e-9)
    assert squared.max() == pytest.approx((1 + ball.gap) * ball.squared_radius)


def test_neither_copies_of_samples_nor_a_far_origin_matter(rng: np.random.Generator) -> None:
    X = rng.normal(size=(20, 3))
    expected = enclosing_ball(X @ X.T)
    copies = np.repeat(X, 3, axis=0)
    found = enclosing_ball(copies @ copies.T)
    assert found.converged
    assert found.squared_radius == pytest.approx(expected.squared_radius, rel=1e-9)
    far = X + 1e5
    assert enclosing_ball(far @ far.T).squared_radius == pytest.approx(expected.squared_radius, rel=1e-4)


@pytest.mark.parametrize("gram", [np.zeros((4, 4)), np.full((3, 3), 7.0), np.ones((1, 1))])
def test_of_one_place_it_has_no_radius(gram: np.ndarray) -> None:
    ball = enclosing_ball(gram)
    assert ball.converged
    assert (ball.squared_radius, ball.beta.sum()) == (0.0, 1.0)
