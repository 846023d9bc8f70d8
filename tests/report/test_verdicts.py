"""Worked examples of every kind of claim and every verdict, and the statistics behind them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given as given_values
from hypothesis import strategies as st

from fsvm_cli.evaluation.statistics import difference_interval, holm, independent_difference, mean_interval, p_value
from fsvm_cli.experiment.plan import plan
from fsvm_cli.report.complete_trials import CompleteTrials
from fsvm_cli.report.verdicts import Trials, judge, judged_together, table_of_verdicts
from fsvm_cli.spec.claims.base import Claim, Place
from fsvm_cli.spec.claims.kinds.counts import (
    CountClaim,
    RelevanceCountClaim,
    SelectedCountClaim,
    SelectedFeaturesClaim,
    SmallestSubsetClaim,
)
from fsvm_cli.spec.claims.kinds.numbers import BestOfClaim, ProblemClaim, SingleRunClaim, ValueClaim
from fsvm_cli.spec.claims.kinds.orders import (
    DifferenceClaim,
    MeanDifferenceClaim,
    MonotoneClaim,
    NonInferiorityClaim,
    PeakDifferenceClaim,
    ScoreOrderClaim,
    StatementClaim,
    TopFeaturesClaim,
)
from fsvm_cli.spec.claims.rules import ordinary_sizes, sizes_of_best_subsets
from fsvm_cli.spec.config import load_config

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment

N_TRIALS = 40
TEXTS = {"id": "paper.1", "claim": "So it is.", "where": "Table 1"}


@pytest.fixture(scope="module")
def wine() -> Experiment:
    return plan(load_config("wine", [f"protocol.splits={N_TRIALS}"]), lambda _: None)


@pytest.fixture(scope="module")
def fresh() -> Experiment:
    return plan(load_config("noise20", [f"protocol.splits={N_TRIALS}"]), lambda _: None)


def samples_of(test: NDArray[np.float64], scores: NDArray[np.float64] | None = None, **changes: Any) -> CompleteTrials:
    n_trials, n_sizes = test.shape
    samples = CompleteTrials(
        splits=np.arange(n_trials),
        sizes=tuple(range(1, n_sizes + 1)),
        values={("accuracy", "test"): test, ("accuracy", "train"): test},
        scores=np.zeros((n_trials, n_sizes)) if scores is None else scores,
        priorities=np.tile(np.arange(n_sizes if scores is None else scores.shape[1]), (n_trials, 1)),
        converged=np.ones(test.shape, dtype=bool),
    )
    return dataclasses.replace(samples, **changes)


def noisy(means: list[float], sd: float = 0.01, n_trials: int = N_TRIALS) -> NDArray[np.float64]:
    """Draw values with exactly these means and, in each column, exactly this standard deviation."""
    noise = np.random.default_rng(1).normal(size=(n_trials, len(means)))
    noise = (noise - noise.mean(axis=0)) / noise.std(axis=0, ddof=1)
    return np.array(means) + sd * noise


def trials_of(experiment: Experiment, **samples: CompleteTrials) -> Trials:
    n_train = max(experiment.n_test)
    return Trials(experiment, {(label, n_train): each for label, each in samples.items()})


def verdict(claim: Claim, trials: Trials) -> str:
    return judge(claim, trials, overridden=False).verdict


def value_claim(published: float, tolerance: float, **more: Any) -> ValueClaim:
    at = Place(ranking="a", features=2)
    return ValueClaim(kind="value", at=at, published=published, tolerance=tolerance, **TEXTS, **more)


@pytest.mark.parametrize(
    ("published", "tolerance", "expected"),
    [(90.0, 1.0, "reproduced"), (90.4, 1.0, "reproduced"), (93.0, 1.0, "differs"), (91.0, 1.0, "inconclusive")],
)
def test_a_value(wine: Experiment, published: float, tolerance: float, expected: str) -> None:
    trials = trials_of(wine, a=samples_of(noisy([0.5, 0.9, 0.95])))
    assert verdict(value_claim(published, tolerance, published_n=40), trials) == expected


def test_a_printed_number_of_one_run_is_an_ordinary_one_within_its_tolerance(wine: Experiment) -> None:
    # 40 runs with a standard deviation of one point; with a tolerance of one more, some 2.5 to 3.5 on either side.
    trials = trials_of(wine, a=samples_of(noisy([0.5, 0.9, 0.95])))
    for published, expected in [(90.0, "reproduced"), (92.0, "reproduced"), (94.0, "differs"), (86.0, "differs")]:
        judged = judge(value_claim(published, 1.0, published_n=1), trials, overridden=False)
        assert judged.verdict == expected
        assert judged.rule.endswith("with a tolerance of 1; ordinary is more than 2.5 %")
    few = trials_of(
        plan(load_config("wine", ["protocol.splits=30"]), lambda _: None), a=samples_of(noisy([0.5, 0.9], n_trials=30))
    )
    judged = judge(value_claim(90.0, 1.0, published_n=1), few, overridden=False)
    assert judged.verdict == "inconclusive"
    assert judged.rule.endswith("30 runs are too few, 39 are needed")
    # A spread that is stated decides as that of any mean.
    assert verdict(value_claim(90.0, 1.0, published_n=1, published_sd=0.1), trials) == "reproduced"


@pytest.mark.parametrize(
    ("published", "published_n", "expected"),
    [(90.0, 10, "reproduced"), (91.0, 10, "reproduced"), (92.0, 10, "differs"), (91.0, 1000, "inconclusive")],
)
def test_a_print_too_noisy_for_its_tolerance_is_to_be_an_ordinary_mean(
    wine: Experiment, published: float, published_n: int, expected: str
) -> None:
    # Of 10 runs the mean is uncertain by 1.96 / sqrt(10) = .62, ours by .31: .8 + .62 + .005 are allowed, less .31.
    trials = trials_of(wine, a=samples_of(noisy([0.5, 0.9, 0.95])))
    judged = judge(value_claim(published, 0.8, published_n=published_n), trials, overridden=False)
    assert judged.verdict == expected
    if published_n == 10:
        assert "ordinary means of 10 runs lie within 1.42 points, of which 0.8 are tolerance" in judged.rule
        assert judged.accepts_high - judged.accepts_low == pytest.approx(2 * (1.4248 - 0.3099), abs=1e-3)


def test_a_truncated_print_stands_for_a_larger_number(wine: Experiment) -> None:
    # 1123 of 1186 are 94.6880 %; a document that truncates prints 94.68, and to no decimals 94.
    trials = trials_of(wine, a=samples_of(np.full((N_TRIALS, 2), 1123 / 1186)))
    assert verdict(value_claim(94.68, 0.011, print="truncated", published_sd=0.0), trials) == "reproduced"
    judged = judge(value_claim(94.0, 0.7, print="truncated", decimals=0, published_sd=0.0), trials, overridden=False)
    assert judged.rule == "difference +0.19 ± 0.50 against a tolerance of 0.7 points"


def single_run_claim(published: float, **more: Any) -> SingleRunClaim:
    at = Place(ranking="a", features=2)
    return SingleRunClaim(kind="single-run", at=at, published=published, **TEXTS, **more)


@pytest.mark.parametrize(
    ("published", "share", "expected"),
    [(50.0, 50.2, "reproduced"), (3.0, 3.5, "reproduced"), (97.0, 3.5, "reproduced"), (1.0, 1.5, "differs")],
)
def test_a_single_run_is_an_ordinary_one_among_ours(
    wine: Experiment, published: float, share: float, expected: str
) -> None:
    # 200 runs at 0.25 %, 0.75 %, ... 99.75 %: with itself, the printed run at 3 % has 3.5 % of all on its lower side.
    # The share that is shown is the one that decides.
    values = (np.arange(200) + 0.5) / 200
    trials = trials_of(wine, a=samples_of(np.column_stack([np.zeros(200), values])))
    judged = judge(single_run_claim(published), trials, overridden=False)
    assert judged.verdict == expected
    assert judged.rule.startswith(f"{share} % of the runs, the printed one among them, lie as far out")


def test_a_single_run_is_compared_as_it_is_printed(wine: Experiment) -> None:
    trials = trials_of(wine, a=samples_of(np.full((200, 2), 0.6789)))
    for published, decimals, how, expected in [
        (67.0, 0, "truncated", "reproduced"),
        (67.0, 0, "rounded", "differs"),
        (68.0, 0, "rounded", "reproduced"),
        (67.8, 1, "truncated", "reproduced"),
        (67.8, 1, "rounded", "differs"),
    ]:
        assert verdict(single_run_claim(published, decimals=decimals, print=how), trials) == expected


def test_a_handful_of_runs_cannot_make_a_single_run_ordinary() -> None:
    few = plan(load_config("wine", ["protocol.splits=30"]), lambda _: None)
    trials = trials_of(few, a=samples_of(np.full((30, 2), 0.9)))
    assert verdict(single_run_claim(90.0), trials) == "inconclusive"
    assert verdict(single_run_claim(10.0), trials) == "inconclusive"


def difference_claim(higher: Any = 1, lower: Any = "all") -> DifferenceClaim:
    places = {"higher": Place(ranking="a", features=higher), "lower": Place(ranking="b", features=lower)}
    return DifferenceClaim(kind="difference", **places, **TEXTS)


@pytest.mark.parametrize(
    ("mean", "expected"), [(0.95, "reproduced"), (0.85, "differs"), (0.9001, "inconclusive"), (0.9, "inconclusive")]
)
def test_a_difference(wine: Experiment, mean: float, expected: str) -> None:
    trials = trials_of(wine, a=samples_of(noisy([mean, 0.2])), b=samples_of(noisy([0.5, 0.9])[::-1]))
    assert verdict(difference_claim(), trials) == expected


def test_a_difference_without_any_spread_has_that_of_one_row(wine: Experiment) -> None:
    row = 1 / 60
    for lower, expected in [
        (0.8, "reproduced"),
        (0.95, "differs"),
        (0.9, "inconclusive"),
        (0.9 - row / 3, "inconclusive"),
    ]:
        constant = {"a": np.full((N_TRIALS, 1), 0.9), "b": np.full((N_TRIALS, 1), lower)}
        trials = trials_of(wine, **{label: samples_of(values) for label, values in constant.items()})
        assert verdict(difference_claim(), trials) == expected


def test_the_mean_over_the_splits_and_new_data_are_two_questions(wine: Experiment, fresh: Experiment) -> None:
    # Splits of one data set share rows, fresh draws do not.
    a, b = samples_of(noisy([0.905])), samples_of(noisy([0.9])[::-1])
    for experiment, new_data in [(fresh, "reproduced"), (wine, "inconclusive")]:
        judged = judge(difference_claim(), trials_of(experiment, a=a, b=b), overridden=False)
        assert (judged.verdict, judged.new_data) == ("reproduced", new_data)
    differences = 100 * (a.values["accuracy", "test"] - b.values["accuracy", "test"])[:, 0]
    test = scipy.stats.ttest_1samp(differences, 0)
    plain = test.confidence_interval()
    np.testing.assert_allclose([judged.ci_low, judged.ci_high, judged.p], [plain.low, plain.high, test.pvalue])
    assert judged.new_data_low < judged.ci_low < judged.ci_high < judged.new_data_high


@pytest.mark.parametrize(
    ("mean", "expected", "difference"),
    [
        (0.9, "reproduced", "inconclusive"),
        (0.89, "reproduced", "differs"),
        (0.878, "inconclusive", "differs"),
        (0.85, "differs", "differs"),
    ],
)
def test_what_is_not_to_be_lower_may_be_lower_by_less_than_the_margin(
    wine: Experiment, mean: float, expected: str, difference: str
) -> None:
    trials = trials_of(wine, a=samples_of(noisy([mean])), b=samples_of(noisy([0.9])[::-1]))
    places = {"higher": Place(ranking="a"), "lower": Place(ranking="b")}
    claim = NonInferiorityClaim(kind="non-inferiority", **places, margin=2, **TEXTS)
    judged = judge(claim, trials, overridden=False)
    assert (judged.verdict, verdict(difference_claim(1, 1), trials)) == (expected, difference)
    differences = trials.at(places["higher"]) - trials.at(places["lower"])
    assert judged.p == pytest.approx(scipy.stats.ttest_1samp(differences, -2).pvalue)
    errors = {name: place.model_copy(update={"metric": "error"}) for name, place in places.items()}
    swapped = NonInferiorityClaim(
        kind="non-inferiority", higher=errors["lower"], lower=errors["higher"], margin=2, **TEXTS
    )
    assert verdict(swapped, trials) == expected


def test_peaks_are_those_of_the_mean_curves_of_experiments(wine: Experiment) -> None:
    # The one swings between two sizes from trial to trial: its peaks over ten trials are lower than over one.
    swings, level = at_sizes(2, 4), np.tile([0.4, 0.4, 0.6, 0.4, 0.4], (N_TRIALS, 1))
    trials = trials_of(wine, a=samples_of(swings), b=samples_of(level))

    def judged(higher: str, lower: str, splits: int) -> tuple[str, float, int]:
        claim = PeakDifferenceClaim(kind="peak-difference", higher=higher, lower=lower, splits=splits, **TEXTS)
        found = judge(claim, trials, overridden=False)
        return found.verdict, round(found.reproduced, 9), found.n

    assert judged("a", "b", 1) == ("reproduced", 40.0, N_TRIALS)
    assert judged("a", "b", 10) == ("differs", -10.0, N_TRIALS // 10)
    assert judged("b", "a", 12) == ("reproduced", 10.0, N_TRIALS // 12)
    claim = PeakDifferenceClaim(kind="peak-difference", higher="a", lower="b", splits=N_TRIALS + 1, **TEXTS)
    assert verdict(claim, trials) == "inconclusive"


def test_a_difference_of_nothing_is_not_lower(wine: Experiment) -> None:
    trials = trials_of(wine, a=samples_of(np.full((N_TRIALS, 1), 0.9)))
    claim = NonInferiorityClaim(
        kind="non-inferiority", higher=Place(ranking="a"), lower=Place(ranking="a"), margin=1, **TEXTS
    )
    assert verdict(claim, trials) == "reproduced"


def test_many_differences_are_judged_together(wine: Experiment) -> None:
    n = 20
    labels = [f"r{i}" for i in range(n)]
    trials = trials_of(
        wine,
        b=samples_of(np.full((N_TRIALS, 1), 0.9)),
        **{label: samples_of(noisy([0.9 + (0.1 if i == 0 else 0.0035)])) for i, label in enumerate(labels)},
    )
    at = {"kind": "difference", "lower": Place(ranking="b"), **TEXTS}
    alone = [judge(DifferenceClaim(higher=Place(ranking=label), **at), trials, overridden=False) for label in labels]
    assert {judged.verdict for judged in alone} == {"reproduced"}
    together = judged_together(alone)
    assert [judged.verdict for judged in together] == ["reproduced", *["inconclusive"] * (n - 1)]
    assert together[1].p_holm == pytest.approx((n - 1) * alone[1].p)


@pytest.mark.parametrize(("mean", "expected"), [(0.93, "reproduced"), (0.9, "inconclusive"), (0.87, "differs")])
def test_a_mean_over_methods_is_compared_on_the_same_trials(wine: Experiment, mean: float, expected: str) -> None:
    rng = np.random.default_rng(3)
    values = {label: mean + 0.02 * rng.standard_normal((N_TRIALS, 1)) for label in ("a", "b")}
    values |= {"c": 0.9 + 0.02 * rng.standard_normal((N_TRIALS, 1))}
    trials = trials_of(wine, **{label: samples_of(each) for label, each in values.items()})
    claim = MeanDifferenceClaim(kind="mean-difference", higher=("a", "b"), lower=("c",), **TEXTS)
    judged = judge(claim, trials, overridden=False)
    assert judged.verdict == expected
    ours, theirs = 100 * (values["a"] + values["b"])[:, 0] / 2, 100 * values["c"][:, 0]
    paired = scipy.stats.ttest_rel(ours, theirs)
    assert judged.p == pytest.approx(paired.pvalue)
    assert (judged.ci_low, judged.ci_high) == pytest.approx(tuple(paired.confidence_interval()))
    assert judge(claim, trials_of(wine, a=samples_of(values["a"])), overridden=False).rule == "no complete trial"


@pytest.fixture(scope="module")
def given() -> Experiment:
    """A wine whose source fixes the split."""
    experiment = plan(load_config("wine", ["protocol.splits=1"]), lambda _: None)
    protocol = experiment.config.protocol.model_copy(update={"train": ("given",)})
    return dataclasses.replace(experiment, config=experiment.config.model_copy(update={"protocol": protocol}))


def test_on_a_single_split_the_test_rows_are_drawn_again(given: Experiment) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=60)
    better, worse = np.where(rng.random(60) < 0.05, 0, y), np.where(rng.random(60) < 0.5, 0, y)
    samples = {
        label: samples_of(np.array([[(said == y).mean()]]), predictions=np.vstack([y, said]))
        for label, said in {"a": better, "b": worse, "c": better}.items()
    }
    trials = trials_of(given, **samples)
    judged = judge(difference_claim(1, 1), trials, overridden=False)
    # McNemar's standard error of a paired difference.
    gains = (better == y).astype(float) - (worse == y)
    error = 1.96 * 100 * gains.std() / np.sqrt(60)
    np.testing.assert_allclose([judged.ci_low, judged.ci_high], 100 * gains.mean() + np.array([-error, error]), atol=2)
    assert (judged.verdict, judged.new_data, judged.n) == ("reproduced", None, 1)
    equal = DifferenceClaim(kind="difference", higher=Place(ranking="a"), lower=Place(ranking="c"), **TEXTS)
    assert verdict(equal, trials) == "differs"


def test_a_number_of_a_single_split_has_the_interval_of_its_test_rows(given: Experiment) -> None:
    samples = samples_of(np.array([[0.5, 0.9]]), intervals={("accuracy", "test"): [(0.4, 0.6), (0.8, 0.95)]})
    judged = judge(value_claim(90.0, 1.0), trials_of(given, a=samples), overridden=False)
    assert (judged.ci_low, judged.ci_high) == (pytest.approx(80.0), pytest.approx(95.0))


def test_the_corrected_interval_is_that_of_nadeau_and_bengio() -> None:
    differences = np.random.default_rng(0).normal(0.3, 1.0, size=25)
    found = difference_interval(differences, test_to_train=0.5)
    error = np.sqrt((1 / 25 + 0.5) * differences.var(ddof=1))
    expected = scipy.stats.t.interval(0.95, 24, loc=differences.mean(), scale=error)
    np.testing.assert_allclose([found.low, found.high], expected)
    plain = scipy.stats.ttest_1samp(differences, 0).confidence_interval()
    uncorrected = difference_interval(differences, test_to_train=0.0)
    np.testing.assert_allclose([uncorrected.low, uncorrected.high], plain)


def test_a_stretch_of_a_curve_is_its_mean(wine: Experiment) -> None:
    trials = trials_of(wine, a=samples_of(noisy([0.1, 0.2, 0.6, 0.9])))
    np.testing.assert_allclose(trials.at(Place(ranking="a", features=(2, 3))).mean(), 40.0)
    np.testing.assert_allclose(trials.at(Place(ranking="a")).mean(), 90.0)
    np.testing.assert_allclose(trials.at(Place()).mean(), 90.0)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.7, 0.8, 0.9], "reproduced"),
        ([0.7, 0.95, 0.9], "differs"),
        ([0.9, 0.9, 0.9], "inconclusive"),
    ],
)
def test_a_monotone_curve(wine: Experiment, means: list[float], expected: str) -> None:
    claim = MonotoneClaim(kind="monotone", ranking="a", **TEXTS)
    assert verdict(claim, trials_of(wine, a=samples_of(noisy(means)))) == expected


@pytest.mark.parametrize(
    ("slope", "noise", "expected"), [(-1.0, 0.1, "reproduced"), (1.0, 0.1, "differs"), (-1.0, 3.65, "inconclusive")]
)
def test_an_order_of_scores(wine: Experiment, slope: float, noise: float, expected: str) -> None:
    scores = slope * np.arange(13) + noise * np.random.default_rng(0).normal(size=(N_TRIALS, 13))
    trials = trials_of(wine, a=samples_of(np.zeros((N_TRIALS, 13)), scores))
    claim = ScoreOrderClaim(kind="score-order", ranking="a", at_least=0.7, **TEXTS)
    assert verdict(claim, trials) == expected


PEAKED = np.eye(5)[np.repeat([1, 2, 3, 4], [10, 10, 10, 10])]
"""Curves of trials that have their best subset at 2 to 5 features, each in a quarter."""


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ((3, 3), "reproduced"),
        ((2, 4), "reproduced"),
        ((5, 5), "reproduced"),
        ((1, 2), "reproduced"),
        ((1, 1), "differs"),
    ],
)
def test_a_count(wine: Experiment, published: tuple[int, int], expected: str) -> None:
    claim = CountClaim(kind="count", ranking="a", published=published, **TEXTS)
    judged = judge(claim, trials_of(wine, a=samples_of(PEAKED)), overridden=False)
    assert (judged.verdict, judged.reproduced, judged.ci_low, judged.ci_high) == (expected, 3, 2, 5)
    assert (judged.accepts_low, judged.accepts_high) == (2, 5)
    assert "of the 5 sizes that could be printed, 1 would differ" in judged.rule


def test_a_handful_of_trials_makes_no_size_ordinary(wine: Experiment) -> None:
    claim = CountClaim(kind="count", ranking="a", published=(3, 3), **TEXTS)
    few = dataclasses.replace(samples_of(PEAKED[:38]))
    judged = claim.judge(trials_of(wine, a=few))
    assert judged.verdict == "inconclusive"
    assert judged.rule.endswith("38 trials are too few, 39 are needed")


@pytest.mark.parametrize(("n_splits", "within"), [(1, False), (10, False), (10, True)])
def test_the_number_of_trials_turns_few_verdicts_on_a_size(n_splits: int, within: bool) -> None:
    # Flat curves, as of 30 features of which the last ten hardly matter: the size that is best swings with the trials.
    sizes = tuple(range(1, 31))
    means = 0.97 - 0.1 * np.exp(-np.arange(30) / 4)
    turned = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = means + 0.02 * rng.standard_normal((300, 1)) + 0.008 * rng.standard_normal((300, 30))
        shown = {}
        for n_trials in (5, 20, 100, 300):
            counts = sizes_of_best_subsets(
                values[:n_trials], sizes, rng, n_splits=n_splits, within_standard_error=within
            )
            shown[n_trials] = ordinary_sizes(counts, sizes, n_trials).all(axis=0)
        # With few trials every size that there may be is ordinary, as far as they can tell.
        assert shown[5].all()
        assert shown[20].all()
        turned.append(np.mean(shown[100] != shown[300]))
    # In one campaign of 20 the range may end six sizes earlier with 300 trials than with 100, so the mean is judged.
    assert np.mean(turned) <= 0.1


def test_the_best_subset_is_the_smallest_of_the_best_or_within_one_standard_error() -> None:
    rng = np.random.default_rng(0)
    values = np.array([[0.50, 0.90, 0.90], [0.50, 0.80, 0.90], [0.90, 0.81, 0.87]])

    def found(values: NDArray[np.float64], *, n_splits: int, within: bool) -> list[int]:
        counts = sizes_of_best_subsets(values, (1, 5, 9), rng, n_splits=n_splits, within_standard_error=within)
        return counts.tolist()

    assert found(values, n_splits=1, within=False) == [5, 9, 1]
    alike = np.tile([[0.5, 0.9, 0.95], [0.5, 0.9, 0.8]], (20, 1))
    # Of two splits the means of 5 and 9 are .9 and .95, .875 or .8; the standard error of .875 is .075.
    assert set(found(alike, n_splits=2, within=False)) == {5, 9}
    assert set(found(np.tile([[0.5, 0.87, 0.95], [0.5, 0.87, 0.81]], (20, 1)), n_splits=2, within=True)) == {5, 9}


@pytest.mark.parametrize(
    ("rules", "message"),
    [(({"within_standard_error": True},), "a single split has no standard error"),
     (({}, {"splits": 10}), "say so under 'unstated'")],
)  # fmt: skip
def test_rules_of_sizes_that_say_nothing_are_refused(rules: tuple[dict[str, Any], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CountClaim.model_validate({"kind": "count", "ranking": "a", "published": (3, 3), "rules": rules} | TEXTS)


def test_each_rule_of_a_size_is_a_reading() -> None:
    rules = ({}, {"splits": 10}, {"splits": 10, "within_standard_error": True})
    content = {"kind": "count", "ranking": "a", "published": (3, 3), "rules": rules, "unstated": "the rule"} | TEXTS
    claim = CountClaim.model_validate(content)
    assert [(words, read.rules) for words, read in claim.other_readings()] == [
        ("the best of the mean over 10 splits", claim.rules[1:2]),
        ("the smallest within one standard error of the best of the mean over 10 splits", claim.rules[2:]),
    ]


def at_sizes(*sizes: int) -> NDArray[np.float64]:
    """Make curves with their best subsets at these sizes, trial after trial, again and again."""
    return np.eye(5)[np.resize(np.array(sizes) - 1, N_TRIALS)]


@pytest.mark.parametrize(
    ("own", "others", "excess", "expected"),
    [
        (at_sizes(2), [at_sizes(4), at_sizes(5)], -2, "reproduced"),
        (at_sizes(2), [at_sizes(4), at_sizes(2)], 0, "reproduced"),
        (at_sizes(4), [at_sizes(5), at_sizes(2)], 2, "differs"),
        # The smallest of several that swing is smaller than each: every rival is compared by its own mean.
        (at_sizes(2, 3), [at_sizes(5, 2), at_sizes(2, 5)], -1, "reproduced"),
        (at_sizes(2, 4), [at_sizes(4, 2)], 0, "inconclusive"),
    ],
)
def test_the_smallest_of_several_best_subsets(
    wine: Experiment,
    own: NDArray[np.float64],
    others: list[NDArray[np.float64]],
    excess: float,
    expected: str,
) -> None:
    rivals = {f"b{number}": samples_of(values) for number, values in enumerate(others)}
    claim = SmallestSubsetClaim(kind="smallest-subset", ranking="a", others=tuple(rivals), **TEXTS)
    judged = judge(claim, trials_of(wine, a=samples_of(own), **rivals), overridden=False)
    assert (judged.verdict, judged.reproduced, judged.n) == (expected, excess, N_TRIALS)


def test_sizes_that_a_descent_did_not_reach_do_not_count(wine: Experiment) -> None:
    n_left = np.resize([2, 4], N_TRIALS)
    # The descents beat the rival where they went, and the order below their ends is worse than its.
    descent = np.where(np.arange(1, 6) >= n_left[:, None], 0.9, 0.1)
    chosen = tuple({"n_active": int(left)} for left in n_left)
    trials = trials_of(wine, a=samples_of(descent, chosen=chosen), b=samples_of(np.full((N_TRIALS, 5), 0.8)))

    def claim(**more: Any) -> DifferenceClaim:
        higher, lower = (Place(ranking=label, features=(1, 4), **more) for label in "ab")
        return DifferenceClaim(kind="difference", higher=higher, lower=lower, **TEXTS)

    assert verdict(claim(), trials) == "differs"
    judged = judge(claim(reached_by="a"), trials, overridden=False)
    assert (judged.verdict, round(judged.reproduced, 9), judged.n) == ("reproduced", 10.0, N_TRIALS)
    assert "1 to 4 features reached by 'a'" in judged.what
    # A trial whose descent ended above the range says nothing about it.
    above = trials_of(
        wine,
        a=samples_of(descent, chosen=({"n_active": 5}, *chosen[1:])),
        b=samples_of(np.full((N_TRIALS, 5), 0.8)),
    )
    assert judge(claim(reached_by="a"), above, overridden=False).n == N_TRIALS - 1
    with pytest.raises(ValueError, match="about a range of 'features'"):
        Place(ranking="a", features=3, reached_by="a")


def test_a_smallest_subset_needs_every_ranking(wine: Experiment) -> None:
    claim = SmallestSubsetClaim(kind="smallest-subset", ranking="a", others=("b",), **TEXTS)
    assert verdict(claim, trials_of(wine, a=samples_of(PEAKED))) == "not comparable"


@pytest.mark.parametrize(
    ("hits", "expected"), [(N_TRIALS, "reproduced"), (N_TRIALS // 10, "differs"), (N_TRIALS // 2, "inconclusive")]
)
def test_a_set_of_features(wine: Experiment, hits: int, expected: str) -> None:
    names = wine.source.feature_names
    scores = np.tile(-np.arange(13.0), (N_TRIALS, 1))
    scores[hits:] = np.arange(13.0)
    claim = TopFeaturesClaim(kind="top-features", ranking="a", features=names[:2], at_least=0.5, **TEXTS)
    assert verdict(claim, trials_of(wine, a=samples_of(np.zeros((N_TRIALS, 13)), scores))) == expected


@pytest.mark.parametrize(("end", "expected"), [("best", "differs"), ("worst", "reproduced")])
def test_the_worst_features(wine: Experiment, end: str, expected: str) -> None:
    scores = np.tile(-np.arange(13.0), (N_TRIALS, 1))
    names = wine.source.feature_names[-2:]
    claim = TopFeaturesClaim(kind="top-features", ranking="a", features=names, end=end, at_least=0.5, **TEXTS)
    judged = judge(claim, trials_of(wine, a=samples_of(np.zeros((N_TRIALS, 13)), scores)), overridden=False)
    assert judged.verdict == expected
    assert f"2 {end} of a trial" in judged.rule


@pytest.mark.parametrize(
    ("relevance", "end", "unit", "published", "reproduced", "expected"),
    [
        (0.6, "most", "features", 3, 3.0, "reproduced"),
        (0.6, "most", "features", 6, 3.0, "differs"),
        (0.4, "least", "features", 10, 10.0, "reproduced"),
        (0.6, "most", "percent", 23.1, 300 / 13, "reproduced"),
    ],
)
def test_how_many_features_make_up_the_relevance(
    wine: Experiment, relevance: float, end: str, unit: str, published: float, reproduced: float, expected: str
) -> None:
    scores = np.tile([0.25, 0.2, 0.2, *np.full(10, 0.035)], (N_TRIALS, 1))
    texts = TEXTS | {"ranking": "a", "relevance": relevance, "end": end, "unit": unit, "decimals": 1, "tolerance": 0.5}
    claim = RelevanceCountClaim(kind="relevance-count", published=published, **texts)
    judged = judge(claim, trials_of(wine, a=samples_of(np.zeros((N_TRIALS, 13)), scores)), overridden=False)
    assert (judged.verdict, judged.reproduced) == (expected, pytest.approx(reproduced))


@pytest.mark.parametrize(("hits", "expected"), [(N_TRIALS, "reproduced"), (2, "reproduced"), (1, "differs")])
@pytest.mark.parametrize("threshold", [None, -1.0], ids=["best ones", "by a score"])
def test_the_features_that_one_run_selects(wine: Experiment, hits: int, expected: str, threshold: float | None) -> None:
    names = wine.source.feature_names
    scores = np.tile(-np.arange(13.0), (N_TRIALS, 1))
    scores[hits:] = np.arange(13.0)
    claim = SelectedFeaturesClaim(
        kind="selected-features", ranking="a", features=names[:2], threshold=threshold, **TEXTS
    )
    judged = judge(claim, trials_of(wine, a=samples_of(np.zeros((N_TRIALS, 13)), scores)), overridden=False)
    assert (judged.verdict, judged.reproduced) == (expected, hits / N_TRIALS)


def test_more_features_above_the_threshold_are_another_selection(wine: Experiment) -> None:
    scores = np.tile(-np.arange(13.0), (N_TRIALS, 1))
    claim = SelectedFeaturesClaim(
        kind="selected-features", ranking="a", features=wine.source.feature_names[:2], threshold=-2.0, **TEXTS
    )
    assert verdict(claim, trials_of(wine, a=samples_of(np.zeros((N_TRIALS, 13)), scores))) == "differs"


@pytest.mark.parametrize(("published", "expected"), [(4, "reproduced"), (11, "differs")])
def test_the_number_of_features_that_a_method_selects(wine: Experiment, published: int, expected: str) -> None:
    scores = np.tile(-np.arange(13.0), (N_TRIALS, 1))
    claim = SelectedCountClaim(
        kind="selected-count", ranking="a", threshold=-3.0, published=published, decimals=0, tolerance=1, **TEXTS
    )
    assert verdict(claim, trials_of(wine, a=samples_of(np.zeros((N_TRIALS, 13)), scores))) == expected


def test_the_best_of_several_methods_in_one_run_is_the_best_of_that_run(wine: Experiment) -> None:
    a = np.where(np.arange(N_TRIALS) % 2, 0.9, 0.5)
    trials = trials_of(wine, a=samples_of(a[:, None]), b=samples_of((1.4 - a)[:, None]))
    for published, expected in [(90.0, "reproduced"), (70.0, "differs")]:
        claim = BestOfClaim(kind="best-of", labels=("a", "b"), published=published, decimals=0, tolerance=1.5, **TEXTS)
        assert verdict(claim, trials) == expected


@pytest.mark.parametrize(("published", "expected"), [(92.0, "reproduced"), (89.0, "differs")])
def test_the_best_of_several_methods(wine: Experiment, published: float, expected: str) -> None:
    claim = BestOfClaim(
        kind="best-of", labels=("a", "b"), features=1, published=published, decimals=0, tolerance=1.5, **TEXTS
    )
    trials = trials_of(wine, a=samples_of(noisy([0.85, 0.9], sd=0)), b=samples_of(noisy([0.92, 0.9], sd=0)))
    judged = judge(claim, trials, overridden=False)
    assert (judged.verdict, judged.reproduced) == (expected, pytest.approx(92.0))
    assert "'b' at 1 features" in judged.what


def test_p_values_agree_with_student_and_holm_with_its_definition() -> None:
    values = np.random.default_rng(0).normal(0.3, 1.0, size=25)
    assert p_value(mean_interval(values)) == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue)
    assert np.isnan(p_value(mean_interval(np.zeros(5))))
    assert p_value(mean_interval(np.ones(5))) == 0
    # Rejected at a level are the tests that Holm's steps reach: the k-th smallest against level / (m - k + 1).
    p_values = np.array([0.03, np.nan, 0.001, 0.012, 0.4])
    adjusted = holm(p_values)
    tested = np.sort(p_values[~np.isnan(p_values)])
    for level in (0.001, 0.0039, 0.0041, 0.02, 0.0359, 0.0361, 0.0599, 0.0601, 0.39, 0.41):
        steps = tested <= level / (4 - np.arange(4))
        assert np.count_nonzero(adjusted <= level) == (4 if steps.all() else np.argmin(steps))
    np.testing.assert_array_equal(np.isnan(adjusted), np.isnan(p_values))


def test_means_of_different_experiments_are_compared_as_welch_does() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(1.0, 1.0, size=12), rng.normal(0.0, 3.0, size=30)
    found = independent_difference(*((x.mean(), x.std(ddof=1) / np.sqrt(len(x)), len(x)) for x in (a, b)))
    expected = scipy.stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    np.testing.assert_allclose([found.low, found.high], expected)


def problem_claim(fact: str, published: float, **more: Any) -> ProblemClaim:
    return ProblemClaim(
        kind="problem", fact=fact, published=published, **{"tolerance": 1, "decimals": 0} | more | TEXTS
    )


def test_the_size_of_a_problem(wine: Experiment) -> None:
    trials = trials_of(wine, a=samples_of(noisy([0.9, 0.9])))
    for fact, value in {"n_features": 13, "n_classes": 3, "n_train": 118, "n_test": 60}.items():
        assert verdict(problem_claim(fact, value), trials) == "reproduced"
        assert verdict(problem_claim(fact, value + 3), trials) == "differs"


def test_what_the_experiment_sets_is_a_fact(fresh: Experiment) -> None:
    trials = trials_of(fresh, a=samples_of(noisy([0.9, 0.9])))
    assert verdict(problem_claim("n_features", 20), trials) == "fact"
    assert verdict(problem_claim("n_features", 30), trials) == "differs"
    by_count = plan(load_config("wine", ["protocol.train=100", "protocol.test=50"]), lambda _: None)
    counted = trials_of(by_count, a=samples_of(noisy([0.9, 0.9], n_trials=500)))
    assert [verdict(problem_claim(*size), counted) for size in (("n_train", 100), ("n_test", 50))] == ["fact", "fact"]


def test_a_fact_of_the_whole_set_is_that_of_all_rows(wine: Experiment) -> None:
    trials = trials_of(wine, a=samples_of(noisy([0.9, 0.9]), facts={"major-class": np.full(N_TRIALS, 55.0)}))
    # 71 of the 178 wines.
    of_all = problem_claim("major-class", 39.88, decimals=2, print="truncated", tolerance=0.02, of="whole set")
    judged = judge(of_all, trials, overridden=False)
    assert judged.verdict == "reproduced"
    assert judged.rule.endswith(", for the whole set")
    assert verdict(problem_claim("major-class", 55), trials) == "reproduced"


def test_what_a_source_leaves_open_says_nothing_of_it(wine: Experiment) -> None:
    trials = trials_of(wine, a=samples_of(noisy([0.5, 0.9, 0.95])))
    for published, found in [(90.0, "+0.00"), (50.0, "+40.00")]:
        claim = value_claim(published, 1.0, published_n=40, unstated="C is not told")
        judged = judge(claim, trials, overridden=False)
        assert judged.verdict == "not comparable"
        assert judged.rule.startswith(f"C is not told; with what is assumed here: difference {found}")


@pytest.mark.parametrize(
    ("published", "tolerance", "expected"),
    [(1.5, 0.005, "reproduced"), (1.99, 0.1, "differs"), (1.65, 0.01, "differs"), (1.65, 0.1, "reproduced")],
)
def test_a_fact_that_varies_is_that_of_an_ordinary_run_within_its_tolerance(
    wine: Experiment, published: float, tolerance: float, expected: str
) -> None:
    facts = {"class-uncertainty": np.linspace(1.4, 1.6, N_TRIALS)}
    trials = trials_of(wine, a=samples_of(noisy([0.9, 0.9]), facts=facts))
    claim = problem_claim("class-uncertainty", published, decimals=2, tolerance=tolerance)
    judged = judge(claim, trials, overridden=False)
    assert (judged.verdict, judged.what) == (expected, "class-uncertainty (bits)")


@pytest.mark.parametrize(("published", "expected"), [(1.5, "reproduced"), (1.6, "differs")])
def test_a_fact_that_does_not_vary_is_compared_as_a_number(wine: Experiment, published: float, expected: str) -> None:
    trials = trials_of(wine, a=samples_of(noisy([0.9, 0.9]), facts={"major-class": np.full(N_TRIALS, 1.503)}))
    claim = problem_claim("major-class", published, decimals=2, tolerance=0.02)
    assert verdict(claim, trials) == expected


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"n_trials": 39}, "only 39 of 40 trials are complete"),
        ({"overridden": True}, "the config was overridden"),
        ({"absent": True}, "no complete trial"),
    ],
)
def test_what_makes_no_statement_about_the_document(wine: Experiment, changes: dict[str, Any], reason: str) -> None:
    values = noisy([0.9, 0.9], n_trials=changes.get("n_trials", N_TRIALS))
    label = "b" if changes.get("absent") else "a"
    trials = trials_of(wine, **{label: samples_of(values)})
    judged = judge(value_claim(90.0, 50.0), trials, overridden=changes.get("overridden", False))
    assert (judged.verdict, judged.rule) == ("not comparable", reason)
    assert np.isnan(judged.reproduced) == ("absent" in changes)


def flagged_at(shape: tuple[int, ...], n_flagged: int, columns: Any = slice(None)) -> NDArray[np.bool_]:
    converged = np.ones(shape, dtype=bool)
    converged[:n_flagged, columns] = False
    return converged


SHORT = "in {} of 40 trials a machine missed its duality gap"


def test_a_flagged_trial_at_another_number_of_features_changes_nothing(wine: Experiment) -> None:
    values = noisy([0.5, 0.9])
    clean = judge(value_claim(90.0, 1.0), trials_of(wine, a=samples_of(values)), overridden=False)
    there = samples_of(values, converged=flagged_at(values.shape, 10, 0))
    assert judge(value_claim(90.0, 1.0), trials_of(wine, a=there), overridden=False) == clean


@pytest.mark.parametrize(
    ("published", "published_n", "n_flagged", "verdict", "answer"),
    [
        (90.0, 1, 1, "reproduced", None),
        # Of 40 runs a single one at its lowest is ordinary company for 60, and 95 has no company but the highest.
        (60.0, 1, 1, "not comparable", "differs"),
        (95.0, 1, 1, "not comparable", "reproduced"),
        (60.0, 40, 2, "differs", None),
        (60.0, 40, 20, "not comparable", "differs"),
        (90.0, 40, 1, "not comparable", "reproduced"),
    ],
)
def test_flagged_trials_leave_open_what_they_might_change(
    wine: Experiment, published: float, published_n: int, n_flagged: int, verdict: str, answer: str | None
) -> None:
    values = noisy([0.5, 0.9])
    values[0] = 0.945
    claim = value_claim(published, 1.0, published_n=published_n)
    samples = samples_of(values, converged=flagged_at(values.shape, n_flagged))
    judged = judge(claim, trials_of(wine, a=samples), overridden=False)
    clean = judge(claim, trials_of(wine, a=samples_of(values)), overridden=False)
    assert (judged.verdict, judged.answer) == (verdict, answer)
    assert SHORT.format(n_flagged) in judged.rule
    assert clean.rule in judged.rule
    assert clean.verdict == (answer or verdict)


@given_values(
    seed=st.integers(0, 2**32 - 1),
    published=st.floats(70.0, 100.0),
    n_flagged=st.integers(1, 8),
    of_one_run=st.booleans(),
)
def test_a_verdict_that_stands_would_stand_wherever_flagged_trials_had_ended(
    wine: Experiment, seed: int, published: float, n_flagged: int, of_one_run: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = np.clip(0.88 + rng.choice([0.001, 0.02]) * rng.standard_normal((N_TRIALS, 1)), 0, 1)
    printed = {} if of_one_run else {"published_sd": 0.5, "published_n": 20}
    at = Place(ranking="a")
    claim = ValueClaim(kind="value", at=at, published=published, tolerance=2.0, **printed, **TEXTS)
    converged = flagged_at(values.shape, n_flagged)
    found = verdict(claim, trials_of(wine, a=samples_of(values, converged=converged)))
    if found in {"reproduced", "differs"}:
        for level in (0.0, 0.3, 0.7, published / 100, 1.0, *rng.random(10)):
            values[:n_flagged] = level
            assert verdict(claim, trials_of(wine, a=samples_of(values))) == found


def test_flagged_trials_that_lie_on_either_side_of_the_print_decide_nothing(wine: Experiment) -> None:
    values = np.full((N_TRIALS, 1), 0.9)
    values[20:] = 0.0
    at = Place(ranking="a")
    claim = ValueClaim(kind="value", at=at, published=70.0, published_n=40, published_sd=0.0, tolerance=0.01, **TEXTS)
    samples = samples_of(np.full((N_TRIALS, 1), 0.9), converged=flagged_at(values.shape, N_TRIALS))
    # At 0 as at 100 % it differs, and somewhere between it would not.
    assert verdict(claim, trials_of(wine, a=samples)) == "not comparable"


def test_a_difference_stands_where_no_flagged_trial_could_undo_it(wine: Experiment) -> None:
    full, half = np.full((N_TRIALS, 1), 1.0), noisy([0.4], sd=0.05)
    for n_flagged, expected in [(5, "reproduced"), (20, "not comparable")]:
        flags = {"converged": flagged_at(full.shape, n_flagged)}
        trials = trials_of(wine, a=samples_of(full, **flags), b=samples_of(half, **flags))
        judged = judge(difference_claim("all", "all"), trials, overridden=False)
        assert judged.verdict == expected
        assert judged.answer == (None if expected == "reproduced" else "reproduced")
    # Two places of one ranking are each at their own extreme.
    one = samples_of(np.column_stack([half[:, 0], full[:, 0]]), converged=flagged_at((N_TRIALS, 2), 20))
    places = {"higher": Place(ranking="a"), "lower": Place(ranking="a", features=1)}
    claim = DifferenceClaim(kind="difference", **places, **TEXTS)
    assert verdict(claim, trials_of(wine, a=one)) == "not comparable"


@pytest.mark.parametrize(
    ("n_flagged", "published", "expected"), [(0, 5, "reproduced"), (3, 5, "reproduced"), (3, 12, "not comparable")]
)
def test_counts_of_flagged_rankings_may_be_any(wine: Experiment, n_flagged: int, published: int, expected: str) -> None:
    scores = np.tile([0.25, 0.2, 0.2, *np.full(10, 0.035)], (N_TRIALS, 1))
    scores[::2, 0] = 0.05  # five features instead of three
    claim = RelevanceCountClaim(
        kind="relevance-count", ranking="a", relevance=0.6, published=published, decimals=0, tolerance=0.5, **TEXTS
    )
    samples = samples_of(np.zeros((N_TRIALS, 13)), scores, converged=flagged_at((N_TRIALS, 13), n_flagged))
    assert verdict(claim, trials_of(wine, a=samples)) == expected


def test_a_flagged_curve_has_no_bounds(wine: Experiment) -> None:
    values = noisy([0.7, 0.8, 0.9])
    samples = samples_of(values, converged=flagged_at(values.shape, 1, 0))
    judged = judge(MonotoneClaim(kind="monotone", ranking="a", **TEXTS), trials_of(wine, a=samples), overridden=False)
    assert (judged.verdict, judged.answer) == ("not comparable", "reproduced")


def test_what_the_rule_says_by_itself_is_kept_where_nothing_is_said(wine: Experiment) -> None:
    trials = trials_of(wine, a=samples_of(noisy([0.5, 0.9])))
    for more, overridden in [({"unstated": "C is not told"}, False), ({}, True)]:
        judged = judge(value_claim(90.0, 1.0, published_n=40, **more), trials, overridden=overridden)
        assert (judged.verdict, judged.answer) == ("not comparable", "reproduced")
    differences = [dataclasses.replace(judged, p=p) for p in (0.03, 0.04)]
    assert [each.answer for each in judged_together(differences)] == ["inconclusive", "inconclusive"]


def test_a_statement_is_not_judged_and_says_why(wine: Experiment) -> None:
    claim = StatementClaim(kind="statement", note="It speaks of two experiments.", **TEXTS)
    assert verdict(claim, trials_of(wine)) == "not comparable"
    with pytest.raises(ValueError, match="write why the statement is not judged"):
        StatementClaim(kind="statement", **TEXTS)


def test_the_table_has_a_row_for_each_claim(wine: Experiment) -> None:
    trials = trials_of(wine, **{ranking.label: samples_of(noisy([0.9] * 13)) for ranking in wine.config.rankings})
    table = table_of_verdicts(trials, overridden=False)
    assert list(table["id"]) == [claim.id for claim in wine.config.expected]
    assert ",".join(table.columns) == (
        "id,where,what,published,published_sd,published_n,reproduced,sd,n,ci_low,ci_high,p,p_holm,rule,answer,verdict,"
        "new_data_low,new_data_high,new_data,accepts_low,accepts_high,readings,fixed,nature,note"
    )
