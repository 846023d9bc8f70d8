"""Rules that choose a method: what is proposed, how it is tested, and how often what held is wrong."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import wilcoxon

from fsvm_cli.evaluation.choice_rules import Rule, first_half, proposed_rules, try_rules

N_SETS = 18


def made_table(rng: np.random.Generator, shifts: np.ndarray) -> np.ndarray:
    """Accuracies in points: what a data set allows, what methods add there, and chance."""
    level = rng.normal(85, 8, size=(N_SETS, 1))
    return level + shifts + 1.5 * rng.normal(size=(N_SETS, shifts.shape[-1]))


def halves(rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(np.arange(N_SETS) < N_SETS // 2)


def test_a_half_is_known_by_the_names_alone() -> None:
    names = [f"data {number}" for number in range(9)]
    is_first = first_half(names)
    assert is_first.sum() == 4
    turned = first_half(names[::-1])
    np.testing.assert_array_equal(turned[::-1], is_first)
    assert first_half(["a", "b"]).tolist() in ([True, False], [False, True])


def test_rules_are_the_least_mean_losses_of_what_is_seen() -> None:
    values = np.array([[9.0, 8, 0], [9, 8, 0], [9, 7, 0], [0, 8, 9], [0, 8, 9], [0, 7, 9], [100, 0, 0]])
    rows = np.array([10.0, 20, 30, 100, 200, 300, 5])
    seen = np.arange(6)
    same = np.ones(7)
    plain, by_rows = proposed_rules(values, {"rows": rows, "same": same}, seen)
    assert plain == Rule(1, 1)
    assert by_rows == Rule(0, 2, "rows", 65.0)
    assert [by_rows.chosen({"rows": rows}, each) for each in (0, 4, 6)] == [0, 2, 0]
    assert proposed_rules(values, {"rows": rows}, seen[:5]) == proposed_rules(values, {}, seen[:5])


def test_losses_and_tests_are_those_of_a_loop_written_out() -> None:
    rng = np.random.default_rng(1)
    size = rng.permutation(N_SETS).astype(float)
    values = made_table(rng, np.where(size[:, None] < 9, [3.0, 0.0, 0.0], [0.0, 0.0, 3.0]))
    is_first = halves(rng)
    found = try_rules(values, {"size": size}, is_first)
    for tested, name in zip(found, ("", "size"), strict=True):
        assert tested.rule.name == name
        losses, at_random = [], []
        for number in range(N_SETS):
            best = values[number].max()
            if not is_first[number]:
                losses.append(best - values[number, tested.rule.chosen({"size": size}, number)])
                at_random.append(np.mean(best - values[number]))
            others = [each for each in range(N_SETS) if each != number]
            by_name = {each.name: each for each in proposed_rules(values, {"size": size}, np.array(others))}
            expected = best - values[number, by_name.get(name, by_name[""]).chosen({"size": size}, number)]
            assert tested.left_out_losses[number] == expected
        assert_allclose(tested.losses, losses)
        assert_allclose(tested.random_losses, at_random)
    plain = [wilcoxon(each.random_losses - each.losses, alternative="greater").pvalue for each in found]
    assert [each.p for each in found] == pytest.approx([max(min(2 * min(plain), 1), p) for p in plain])
    assert np.isnan(found[0].p_over_plain)
    against = wilcoxon(found[0].left_out_losses - found[1].left_out_losses, alternative="greater").pvalue
    assert found[1].p_over_plain == pytest.approx(against)


def test_methods_that_never_differ_propose_nothing_that_holds() -> None:
    (tested,) = try_rules(np.ones((8, 3)), {"size": np.arange(8.0)}, np.arange(8) < 4)
    assert np.isnan(tested.p)
    assert not tested.held


PROPERTIES = ("rows", "features")


def campaign(n: int, shifts_by_size: tuple[list[float], list[float]]) -> list[list[object]]:
    """Test rules on made tables whose methods are as good as stated on small data sets, and on large ones."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(n):
        properties = {name: rng.permutation(N_SETS).astype(float) for name in PROPERTIES}
        is_small = properties["rows"] < N_SETS // 2
        values = made_table(rng, np.where(is_small[:, None], *map(np.array, shifts_by_size)))
        found.append(try_rules(values, properties, halves(rng)))
    return found


@pytest.mark.slow
def test_a_rule_among_equal_methods_holds_in_one_table_of_twenty_at_most() -> None:
    equal = [0.0] * 6
    wrong = sum(any(each.held for each in rules) for rules in campaign(100, (equal, equal)))
    assert wrong <= 0.05 * 100 + 2 * np.sqrt(0.05 * 0.95 * 100)


@pytest.mark.slow
def test_a_method_that_is_better_by_a_known_amount_is_named_and_no_property_beside_it() -> None:
    better = [0.0, 0.0, 4.0, 0.0, 0.0, 0.0]
    found = campaign(40, (better, better))
    named = sum(rules[0].held and rules[0].rule.below == 2 for rules in found)
    others = sum(rules[0].held and rules[0].rule.below != 2 for rules in found)
    by_property = sum(any(each.held for each in rules[1:]) for rules in found)
    assert named >= 36
    assert others == 0
    assert by_property <= 4


@pytest.mark.slow
def test_a_property_that_decides_is_found_and_others_are_seldom_named() -> None:
    found = campaign(40, ([6.0, 0.0, 0.0], [0.0, 6.0, 0.0]))
    held = [[each.rule for each in rules if each.held and each.rule.name] for rules in found]
    right = sum(any(rule.name == "rows" and (rule.below, rule.above) == (0, 1) for rule in rules) for rules in held)
    wrong = sum(any(rule.name != "rows" for rule in rules) for rules in held)
    assert right >= 20
    assert wrong <= 4
    assert all(rule.below != rule.above for rule in itertools.chain.from_iterable(held))
