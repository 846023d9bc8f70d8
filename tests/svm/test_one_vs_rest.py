"""Classes from binary machines, and ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsvm_cli.svm import SVM, DualProblem, Gaussian, Linear, Polynomial, fit_one_vs_rest, predict_codes, solve

X = np.random.default_rng(0).standard_normal((40, 3))
GRAM = Gaussian(3.0).gram(X, X)
CODES = np.arange(40) % 3


def test_each_machine_is_its_own_binary_problem():
    machines = fit_one_vs_rest(GRAM, CODES, 1.0, 3)
    for m in range(3):
        y = np.where(m == CODES, 1.0, -1.0)
        alone = solve(DualProblem(GRAM, y, 1.0))
        np.testing.assert_array_equal(machines.coefficients[m], alone.alpha * y)
        assert machines.bias[m] == alone.bias
    np.testing.assert_allclose(
        machines.decision_values(GRAM), machines.coefficients @ GRAM + machines.bias[:, None], atol=1e-12
    )


def test_two_classes_are_one_machine_for_code_1():
    codes = (X[:, 0] > 0).astype(int)
    machines = fit_one_vs_rest(GRAM, codes, 10.0, 2)
    assert machines.coefficients.shape == (1, 40)
    values = machines.decision_values(GRAM)
    assert (predict_codes(values, machines.class_counts, 1e-5) == codes).mean() > 0.95


def test_an_absent_class_has_no_machine_and_is_never_predicted():
    codes = np.where(CODES == 1, 3, CODES)
    machines = fit_one_vs_rest(GRAM, codes, 1.0, 5)
    assert [found is None for found in machines.solutions] == [False, True, False, False, True]
    values = machines.decision_values(GRAM)
    assert np.isneginf(values[[1, 4]]).all()
    assert set(predict_codes(values, machines.class_counts, 1e300)) == {0}  # the largest class wins a tie of all
    assert set(predict_codes(values, machines.class_counts, 1e-5)) <= {0, 2, 3}


@pytest.mark.parametrize(("codes", "message"), [([0, 0], "1 class"), ([0, 3], "must lie in 0 .. 2"), ([], "0 class")])
def test_mistakes_are_named(codes, message):
    with pytest.raises(ValueError, match=message):
        fit_one_vs_rest(np.eye(len(codes)), np.array(codes, dtype=int), 1.0, 3)


def test_ties_go_to_the_larger_class_then_to_the_smaller_code():
    values = np.array([[1.0, 1.0, 1.0], [1.0 + 9e-6, 1.0, 2.0], [1.0, 1.0, 2.0 - 9e-6]])
    np.testing.assert_array_equal(predict_codes(values, np.array([5, 9, 9]), 1e-5), [1, 1, 1])
    np.testing.assert_array_equal(predict_codes(values, np.array([9, 5, 7]), 1e-5), [0, 0, 2])
    np.testing.assert_array_equal(predict_codes(values, np.array([9, 5, 7]), 1e-6), [1, 0, 1])


def test_of_machines_in_several_units_each_has_its_own_width():
    values = np.array([[3e-6, 2e-6, 3.0], [4e-6, 5.0, 3.0 - 9e-6], [-1.0, 5.0 - 9e-6, -1.0]])
    counts = np.array([9, 5, 7])
    # All that the first machine says lies within the rounding of the other two.
    np.testing.assert_array_equal(predict_codes(values, counts, np.array([1e-10, 1e-10, 1e-5])), [1, 2, 0])
    np.testing.assert_array_equal(predict_codes(values, counts, np.array([1e-10, 1e-5, 1e-10])), [0, 2, 0])
    np.testing.assert_array_equal(predict_codes(values, counts, np.full(3, 1e-5)), predict_codes(values, counts, 1e-5))
    np.testing.assert_array_equal(predict_codes(values, counts, np.full(3, 1e-10)), [1, 1, 0])


def test_a_machine_of_large_outputs_leaves_the_others_their_say():
    # Classes 0 to 2 have a kernel of large values, so that their outputs, divided by the margin, are a millionth.
    samples, codes = X + 3.0 * np.eye(4)[np.arange(40) % 4, :3], np.arange(40) % 4
    large = Polynomial(1, offset=0.0, scale=1e12)
    machine = SVM(Linear(), C=1.0, output_scaling="divided-by-margin", class_kernels=dict.fromkeys(range(3), large))
    machine.set_params(C_unit="mean-diagonal").fit(samples, codes)
    scores = machine.decision_function(samples)
    assert machine.output_factors_[3] > 1e5 * machine.output_factors_[:3].max()
    np.testing.assert_array_equal(machine.predict(samples), scores.argmax(axis=1))


def test_ties_of_two_classes_are_scores_near_zero():
    values = np.array([[-1e-3, -9e-6, 0.0, 9e-6, 1e-3]])
    np.testing.assert_array_equal(predict_codes(values, np.array([3, 4]), 1e-5), [0, 1, 1, 1, 1])
    np.testing.assert_array_equal(predict_codes(values, np.array([4, 4]), 1e-5), [0, 0, 0, 0, 1])


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_noise_within_the_width_cannot_move_a_prediction_between_exact_ties(seed, n_classes):
    rng = np.random.default_rng(seed)
    n_machines = 1 if n_classes == 2 else n_classes
    exact = rng.integers(-1, 2, (n_machines, 30)).astype(float)
    noisy = exact + rng.uniform(-4e-6, 4e-6, exact.shape)
    counts = rng.integers(1, 50, n_classes)
    np.testing.assert_array_equal(predict_codes(exact, counts, 1e-5), predict_codes(noisy, counts, 1e-5))
