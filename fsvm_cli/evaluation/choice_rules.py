"""Rules that choose a method for new data: proposed on one half of the data sets, and tested on the other.

A loss is the figure of merit of the best method on a data set less that of the method that is chosen for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.many_data_sets import SIGNIFICANCE_LEVEL
from fsvm_cli.evaluation.statistics import holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Properties = Mapping[str, NDArray[np.float64]]

MIN_SETS_OF_A_SIDE = 3
"""Data sets on each side of a threshold, so that one odd data set does not choose a method alone."""


@dataclass(frozen=True)
class Rule:
    """A method for all data sets, or one for those below a threshold of a property and another for those above.

    Attributes
    ----------
    below, above : int
        Numbers of the methods; the same where the rule looks at no property.
    name : str
        The property; empty where the rule looks at none.
    threshold : float
        A data set with exactly this value counts as below.
    """

    below: int
    above: int
    name: str = ""
    threshold: float = np.inf

    def chosen(self, properties: Properties, data_set: int) -> int:
        """Return the number of the method for a data set."""
        if not self.name:
            return self.below
        return self.below if properties[self.name][data_set] <= self.threshold else self.above


@dataclass(frozen=True)
class TriedRule:
    """A rule, and what it came to where it was not proposed.

    Attributes
    ----------
    rule : Rule
        As proposed on the first half of the data sets.
    losses, random_losses : ndarray, shape (n_second_half,)
        On the data sets of the second half: of the rule, and of a method at random, which is the mean over all.
    p : float
        One-sided signed-rank test that the rule loses less than a method at random, by Holm over the proposed rules;
        NaN where there is no difference at all.
    p_over_plain : float
        The same against the rule that looks at no property, with each data set left out, by Holm over those that look
        at one; NaN for itself. (On half of the data sets most such rules could not win: on one side of their threshold
        they choose what the plain rule does.)
    left_out_losses, left_out_random_losses : ndarray, shape (n_data_sets,)
        On each data set, of the rule of this kind that all others propose, and of a method at random.
    held : bool
        Whether both tests are significant (the second where the rule looks at a property), and the rule loses less than
        a method at random with each data set left out, too.
    """

    rule: Rule
    losses: NDArray[np.float64]
    random_losses: NDArray[np.float64]
    p: float
    p_over_plain: float
    left_out_losses: NDArray[np.float64]
    left_out_random_losses: NDArray[np.float64]
    held: bool


def first_half(names: Sequence[str]) -> NDArray[np.bool_]:
    """Mark the half of the data sets on which rules are proposed: those whose names have the smaller SHA-256.

    Nobody chooses the halves, and they are known before any result.
    """
    order = sorted(range(len(names)), key=lambda index: hashlib.sha256(names[index].encode()).hexdigest())
    is_first = np.zeros(len(names), dtype=bool)
    is_first[order[: len(names) // 2]] = True
    return is_first


def proposed_rules(values: NDArray[np.float64], properties: Properties, seen: NDArray[np.intp]) -> list[Rule]:
    """Propose rules by the mean losses on some data sets: a single method, and for each property one of two methods.

    Parameters
    ----------
    values : ndarray, shape (n_data_sets, n_methods)
        Figure of merit, larger is better.
    properties : mapping of str to ndarray, shape (n_data_sets,)
        What is known of data before any method is tried.
    seen : ndarray of int
        The data sets that are looked at.

    Returns
    -------
    list of Rule
        The single method first. The threshold of a property is halfway between the two values in the middle; without a
        rule for properties that do not divide the data sets, or whose sides have the same best method.
    """
    losses = values.max(axis=1, keepdims=True) - values
    rules = [Rule(_best(losses[seen]), _best(losses[seen]))]
    for name, of_all in properties.items():
        distinct = np.unique(of_all[seen])
        thresholds = (distinct[:-1] + distinct[1:]) / 2
        sizes = np.array([np.count_nonzero(of_all[seen] <= each) for each in thresholds])
        if not len(sizes):
            continue
        middle = int(np.argmin(np.abs(2 * sizes - len(seen))))
        if min(sizes[middle], len(seen) - sizes[middle]) < MIN_SETS_OF_A_SIDE:
            continue
        is_below = of_all[seen] <= thresholds[middle]
        below, above = _best(losses[seen[is_below]]), _best(losses[seen[~is_below]])
        if below != above:
            rules.append(Rule(below, above, name, float(thresholds[middle])))
    return rules


def _best(losses: NDArray[np.float64]) -> int:
    return int(np.argmin(losses.mean(axis=0)))


def try_rules(values: NDArray[np.float64], properties: Properties, is_first: NDArray[np.bool_]) -> list[TriedRule]:
    """Propose rules on the first half of the data sets, and test them on the other and with each data set left out.

    Parameters
    ----------
    values : ndarray, shape (n_data_sets, n_methods)
        Figure of merit, larger is better.
    properties : mapping of str to ndarray, shape (n_data_sets,)
    is_first : ndarray of bool, shape (n_data_sets,)
        At least one data set in each half.

    Returns
    -------
    list of TriedRule
        The rule that looks at no property first.
    """
    losses = values.max(axis=1, keepdims=True) - values
    at_random = losses.mean(axis=1)
    second = np.flatnonzero(~is_first)
    rules = proposed_rules(values, properties, np.flatnonzero(is_first))
    of_each = [np.array([losses[each, rule.chosen(properties, each)] for each in second.tolist()]) for rule in rules]
    p = holm(np.array([_p_of_less(found, at_random[second]) for found in of_each]))
    left_out = _losses_left_out(losses, values, properties, [rule.name for rule in rules])
    over_plain = np.concatenate([[np.nan], holm(np.array([_p_of_less(each, left_out[0]) for each in left_out[1:]]))])
    return [
        TriedRule(
            rule,
            found,
            at_random[second],
            float(p_random),
            float(p_plain),
            without,
            at_random,
            bool(
                p_random < SIGNIFICANCE_LEVEL
                and (not rule.name or p_plain < SIGNIFICANCE_LEVEL)
                and without.mean() < at_random.mean()
            ),
        )
        for rule, found, p_random, p_plain, without in zip(rules, of_each, p, over_plain, left_out, strict=True)
    ]


def _losses_left_out(
    losses: NDArray[np.float64], values: NDArray[np.float64], properties: Properties, names: Sequence[str]
) -> NDArray[np.float64]:
    """Return the losses on each data set of the rules that the others propose, shape (n_rules, n_data_sets).

    Where the others propose no rule of a property, it is the one that looks at none.
    """
    found = np.empty((len(names), len(values)))
    for left_out in range(len(values)):
        rules = {
            rule.name: rule for rule in proposed_rules(values, properties, np.delete(np.arange(len(values)), left_out))
        }
        for number, name in enumerate(names):
            found[number, left_out] = losses[left_out, rules.get(name, rules[""]).chosen(properties, left_out)]
    return found


def _p_of_less(losses: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the p-value of the one-sided signed-rank test that losses are less than others on the same data sets."""
    from scipy.stats import wilcoxon  # noqa: PLC0415 - slow to import

    if not np.any(others - losses):
        return float("nan")
    return float(wilcoxon(others - losses, alternative="greater").pvalue)
