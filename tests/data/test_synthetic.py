"""Distributions: their moments, their rates, and the best that any rule can do on them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import integrate, stats

from fsvm_cli.data.cards import GeneratedVersion
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.source import GeneratedSource
from fsvm_cli.data.source_spec import NamedSpec
from fsvm_cli.data.synthetic import GENERATORS, LED_SEGMENTS, WAVEFORM_PAIRS, WAVEFORM_TRIANGLES
from fsvm_cli.resources import resource_names
from tests.helpers.plain_words import REMEDY, unplain
from tests.helpers.shipped import shipped_card

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset

VERSIONS = [
    (name, version_name)
    for name in resource_names("datasets")
    for version_name, version in shipped_card(name).versions.items()
    if isinstance(version, GeneratedVersion)
]
N = 40_000


def drawn(name: str, version: str | None = None, samples: int = N) -> Dataset:
    source = open_source(NamedSpec(name=name, version=version, samples=samples), base_folder=Path(), announce=print)
    return source.draw(np.random.default_rng(2000))


def bayes_error(name: str, version_name: str | None = None) -> float:
    _, version = shipped_card(name).version(name, version_name)
    assert isinstance(version, GeneratedVersion)
    assert version.bayes_error is not None
    return version.bayes_error


def dense(dataset: Dataset) -> NDArray[np.float64]:
    assert isinstance(dataset.X, np.ndarray)
    return dataset.X


# Here the first or second feature tells the classes apart only together with the other; they have tests of their own.
TOGETHER = {"plane", "weston-linear-tasks", "weston-nonlinear"}


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_irrelevant_features_do_not_depend_on_the_class_and_relevant_ones_do(name: str, version: str) -> None:
    dataset = drawn(name, version, samples=10_000)
    X = dense(dataset)
    pvalues = [
        stats.kruskal(*(values[dataset.y == code] for code in range(dataset.n_classes))).pvalue
        for values in (X, np.abs(X))
    ]
    relevant = np.isin(np.arange(dataset.n_features), dataset.relevant_features)
    assert (np.min(pvalues, axis=0)[~relevant] > 1e-6).all()
    assert name in TOGETHER or (np.min(pvalues, axis=0)[relevant] < 1e-4).all()


def test_every_generator_has_a_card() -> None:
    opened = [open_source(NamedSpec(name=n, version=v), base_folder=Path(), announce=print) for n, v in VERSIONS]
    assert {source.generator for source in opened if isinstance(source, GeneratedSource)} == GENERATORS.keys()


@pytest.mark.parametrize(
    "name", ["noise20", "plane", "weston-linear", "weston-linear-tasks", "weston-nonlinear", "led24", "waveform40"]
)
def test_classes_are_equally_likely(name: str) -> None:
    counts = list(drawn(name).class_counts().values())
    assert stats.chisquare(counts).pvalue > 1e-4


def test_noise20_grows_by_a_fifth_from_feature_to_feature() -> None:
    dataset = drawn("noise20")
    centred = dense(dataset) - np.array([-1.0, 1.0])[dataset.y][:, None]
    np.testing.assert_allclose(centred.mean(axis=0), 0, atol=0.15)
    np.testing.assert_allclose(centred.std(axis=0), 0.2 * 1.2 ** np.arange(20), rtol=0.02)
    assert np.abs(np.corrcoef(centred.T) - np.eye(20)).max() < 0.03


def test_classes_of_the_plane_lie_on_either_side_of_a_wave() -> None:
    dataset = drawn("plane")
    above = dense(dataset)[:, 1] - 0.5 * np.sin(np.pi * dense(dataset)[:, 0] / 1.5)
    np.testing.assert_array_equal(above > 0, dataset.y == 1)
    assert np.abs(above).min() >= 0.25
    assert np.abs(above).max() <= 1.0


def test_the_linear_problem_has_the_moments_of_its_text() -> None:
    dataset = drawn("weston-linear")
    X = dense(dataset)
    signed = X * (2.0 * dataset.y - 1.0)[:, None]
    share = np.repeat([0.7, 0.3], 3)
    shift = np.tile([1.0, 2.0, 3.0], 2)
    np.testing.assert_allclose(signed[:, :6].mean(axis=0), share * shift, atol=0.03)
    np.testing.assert_allclose((X[:, :6] ** 2).mean(axis=0), 1 + share * shift**2, rtol=0.03)
    np.testing.assert_allclose(X[:, 6:].std(axis=0), 20, rtol=0.03)
    # Features 3 and 6 never carry the class together: E[x3 x6] has no product of shifts.
    assert abs((signed[:, 2] * signed[:, 5]).mean()) < 0.05


def test_the_linear_problem_has_the_bayes_error_of_its_card() -> None:
    dataset = drawn("weston-linear")
    triples = dense(dataset)[:, :6].reshape(-1, 2, 3) @ np.array([1.0, 2.0, 3.0])
    plus, minus = (np.logaddexp(np.log(0.7) + s * triples[:, 0], np.log(0.3) + s * triples[:, 1]) for s in (1, -1))
    error = np.mean((plus > minus) != (dataset.y == 1))
    # Both triples project on one direction each, so that two dimensions say all.
    grid, length = np.linspace(-10, 10, 1001), np.sqrt(14)

    def density(sign: int) -> NDArray[np.float64]:
        here, there = stats.norm.pdf(grid - sign * length), stats.norm.pdf(grid)
        return 0.7 * np.multiply.outer(here, there) + 0.3 * np.multiply.outer(there, here)

    exact = 0.5 * np.minimum(density(1), density(-1)).sum() * (grid[1] - grid[0]) ** 2
    assert exact == pytest.approx(bayes_error("weston-linear"), abs=5e-5)
    assert stats.binomtest(round(error * N), N, exact).pvalue > 1e-3


def test_the_second_task_is_the_linear_problem_with_exchanged_classes() -> None:
    dataset = drawn("weston-linear-tasks")
    task = 2 * dense(dataset)[:, -1] - 1
    sign = np.where(dataset.y == 1, task, -task)
    carried = dense(dataset)[:, :6] * -sign[:, None]
    np.testing.assert_allclose(carried.mean(axis=0), np.outer([0.7, 0.3], [1, 2, 3]).ravel(), atol=0.05)
    assert stats.binomtest(int((task > 0).sum()), len(task)).pvalue > 1e-4
    by_class = [dense(dataset)[dataset.y == code, :6].mean(axis=0) for code in (0, 1)]
    np.testing.assert_allclose(*by_class, atol=0.15)


def test_the_nonlinear_problem_has_equal_means_and_the_bayes_error_of_its_card() -> None:
    dataset = drawn("weston-nonlinear")
    pair = dense(dataset)[:, :2]
    centres = np.array([[0.75, 3.0], [3.0, -3.0]])
    for code in (0, 1):
        part = pair[dataset.y == code]
        np.testing.assert_allclose(part.mean(axis=0), 0, atol=0.1)
        moments = np.eye(2) + np.outer(centres[code], centres[code])
        np.testing.assert_allclose(part.T @ part / len(part), moments, atol=0.2)
    np.testing.assert_allclose(dense(dataset)[:, 2:].std(axis=0), 20, rtol=0.03)
    grid = np.linspace(-10, 10, 1001)

    def density(centre: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second = (stats.norm.pdf(grid[:, None], [c, -c]) for c in centre)
        return 0.5 * first @ second.T

    exact = 0.5 * np.minimum(*map(density, centres)).sum() * (grid[1] - grid[0]) ** 2
    assert exact == pytest.approx(bayes_error("weston-nonlinear"), abs=5e-5)
    log_density = [np.logaddexp(pair @ c, -(pair @ c)) - c @ c / 2 for c in centres]
    error = np.mean(np.argmax(log_density, axis=0) != dataset.y)
    assert stats.binomtest(round(error * N), N, exact).pvalue > 1e-3


@pytest.mark.parametrize(("version", "means"), [("printed", [1.0, 2.0, 3.0]), ("equal-means", [2.0, 2.0, 2.0])])
def test_three_classes_have_the_moments_of_the_text(version: str, means: list[float]) -> None:
    dataset = drawn("three-class", version)
    X = dense(dataset)
    assert stats.chisquare(list(dataset.class_counts().values()), N * np.array([0.5, 0.3, 0.2])).pvalue > 1e-4
    for code in range(3):
        part = X[dataset.y == code]
        expected = np.where(np.arange(9) == code, means[code], 0.0)
        np.testing.assert_allclose(part.mean(axis=0) - expected, 0, atol=0.25)
        np.testing.assert_allclose(part[:, :3].mean(axis=0), expected[:3], atol=0.02)
        np.testing.assert_allclose(part.var(axis=0), [0.1] * 3 + [20.0] * 6, rtol=0.06)
    scores = np.log([0.5, 0.3, 0.2]) + (X[:, :3] * means - np.square(means) / 2) / 0.1
    errors = int((scores.argmax(axis=1) != dataset.y).sum())
    assert stats.binomtest(errors, N, bayes_error("three-class", version)).pvalue > 1e-3


def test_led24_allows_74_percent_exactly() -> None:
    patterns = np.array(list(itertools.product([0, 1], repeat=7)))
    wrong = (patterns[:, None] != LED_SEGMENTS).sum(axis=2)
    best = (0.1**wrong * 0.9 ** (7 - wrong)).max(axis=1).sum() / 10
    assert best == pytest.approx(0.74, abs=5e-5)
    assert 1 - best == pytest.approx(bayes_error("led24"), abs=5e-5)


def test_led24_inverts_one_segment_in_ten() -> None:
    dataset = drawn("led24")
    wrong = dense(dataset)[:, :7] != LED_SEGMENTS[dataset.y]
    np.testing.assert_allclose(wrong.mean(axis=0), 0.1, atol=0.008)
    np.testing.assert_allclose(dense(dataset)[:, 7:].mean(axis=0), 0.5, atol=0.015)
    distances = (dense(dataset)[:, None, :7] != LED_SEGMENTS).sum(axis=2)
    nearest = distances == distances.min(axis=1, keepdims=True)
    accuracy = (nearest[np.arange(N), dataset.y] / nearest.sum(axis=1)).mean()
    assert accuracy == pytest.approx(0.74, abs=0.012)


def test_waveforms_have_the_means_of_their_triangles_and_unit_noise() -> None:
    dataset = drawn("waveform40")
    for code in range(3):
        part = dense(dataset)[dataset.y == code]
        first, second = WAVEFORM_TRIANGLES[WAVEFORM_PAIRS[code]]
        np.testing.assert_allclose(part[:, :21].mean(axis=0), (first + second) / 2, atol=0.06)
        # u has variance 1/12.
        np.testing.assert_allclose(part[:, :21].var(axis=0), 1 + (first - second) ** 2 / 12, rtol=0.05)
        np.testing.assert_allclose(part[:, 21:].var(axis=0), 1, rtol=0.05)


def test_waveforms_allow_86_percent() -> None:
    dataset = drawn("waveform40", samples=20_000)
    X = dense(dataset)[:, :21]
    u = np.linspace(0, 1, 101)
    likelihoods = []
    for pair in WAVEFORM_PAIRS:
        first, second = WAVEFORM_TRIANGLES[pair]
        means = u[:, None] * first + (1 - u[:, None]) * second
        log_density = X @ means.T - (means**2).sum(axis=1) / 2
        peak = log_density.max(axis=1, keepdims=True)
        likelihoods.append(np.log(integrate.trapezoid(np.exp(log_density - peak), u, axis=1)) + peak[:, 0])
    error = np.mean(np.argmax(likelihoods, axis=0) != dataset.y)
    assert error == pytest.approx(bayes_error("waveform40"), abs=0.01)


def test_drawn_waveforms_are_distributed_like_the_file(
    mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSVM_MIRROR", str(mirror_folder))
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path))
    spec = NamedSpec(name="waveform40", version="uci")
    file = open_source(spec, base_folder=Path(), announce=print).draw(np.random.default_rng(0))
    ours = drawn("waveform40", samples=5000)
    pvalues = [
        stats.ks_2samp(dense(file)[file.y == theirs, column], dense(ours)[ours.y == code, column]).pvalue
        for theirs, code in zip(_classes_of_the_file(file), range(3), strict=True)
        for column in range(40)
    ]
    assert min(pvalues) > 1e-5


def _classes_of_the_file(file: Dataset) -> list[int]:
    """The file's codes in the order of ours, told by the features at which the first triangle peaks."""
    means = np.array([dense(file)[file.y == code, :21].mean(axis=0) for code in range(3)])
    ours = np.array([WAVEFORM_TRIANGLES[pair].mean(axis=0) for pair in WAVEFORM_PAIRS])
    return [int(np.abs(means - one).sum(axis=1).argmin()) for one in ours]


@pytest.mark.parametrize("strange", [{"half_width": (1.0, 2.0)}, {"half_width": 1e308, "amplitude": 1e308}])
def test_parameters_that_cannot_be_drawn_with_are_refused_in_plain_words(strange: dict[str, Any]) -> None:
    _, plane = shipped_card("plane").version("plane", None)
    content = plane.model_dump()
    with pytest.raises(ValidationError) as caught:
        GeneratedVersion.model_validate(content | {"parameters": content["parameters"] | strange})
    (error,) = caught.value.errors()
    message = str(error["ctx"]["error"])
    assert not unplain(message), message
    assert REMEDY.search(message)
