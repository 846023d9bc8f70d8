"""Why trials must run: what the store lacks of each competitor, and since when."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from fsvm_cli.data.phrases import shown
from fsvm_cli.experiment.plan import CODE
from fsvm_cli.experiment.stored import stored_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.runner.tasks import Task
    from fsvm_cli.store.store import Store

CODE_BEFORE = "sources."
"""Begins what groups of earlier versions say of the code, module by module."""


@dataclass(frozen=True)
class Explanation:
    """Why trials of one competitor must run.

    Attributes
    ----------
    competitor : int
        Its number.
    n_missing : int
        Trials that must run.
    reasons : tuple of str
        In words.
    """

    competitor: int
    n_missing: int
    reasons: tuple[str, ...]


def explain(experiment: Experiment, store: Store | None, tasks: Iterable[Task]) -> list[Explanation]:
    """Explain, for each competitor of which something is missing, why its trials must run.

    Parameters
    ----------
    experiment : Experiment
    store : Store or None
    tasks : iterable of Task
        What is missing; gone through more than once.
    """
    known = [] if store is None else [json.loads(group) for group in store.groups()]
    failures = {} if store is None else store.failures()
    explanations = []
    for number in experiment.numbers():
        counts = _what_is_new(experiment, number, tasks, failures)
        if not counts:
            continue
        ingredients = experiment.ingredients(number)
        if ingredients in known:
            reasons = tuple(f"{count} {reason}" for reason, count in counts.items())
        else:
            parts = {} if store is None else stored_parts(store)
            reasons = (_what_changed(ingredients, known, experiment.code(number).parts, parts),)
        explanations.append(Explanation(number, counts.total(), reasons))
    return explanations


def _what_is_new(
    experiment: Experiment, competitor: int, tasks: Iterable[Task], failures: dict[str, str]
) -> Counter[str]:
    """Count failed trials, trials without some sizes, and trials that never ran."""
    counts: Counter[str] = Counter()
    for task in tasks:
        if competitor not in task.wanted:
            continue
        error = failures.get(experiment.key(competitor, task.trial))
        if error is not None:
            reason, *_ = error.splitlines()
            counts[f"failed before ({reason})"] += 1
        elif task.wanted[competitor] != experiment.sizes:
            counts["new subset sizes"] += 1
        else:
            counts["new, or not finished before"] += 1
    return counts


def _what_changed(
    ingredients: dict[str, Any],
    known: Sequence[dict[str, Any]],
    parts: Mapping[str, str],
    known_parts: Mapping[str, Mapping[str, str]],
) -> str:
    """Compare with the most similar group that was run before."""
    mine = flattened(ingredients)
    others = [flattened(group) for group in known]
    alike = [other for other in others if other.get("ranking.method") == mine.get("ranking.method")]
    if not alike:
        return "never run here"
    differences = [_differences(mine, other, parts, known_parts.get(str(other.get(CODE)))) for other in alike]
    return f"changed since it was run: {', '.join(min(differences, key=lambda each: each.size).words)}"


class _Differences(NamedTuple):
    """What two groups differ in, in words, and in how many things."""

    words: list[str]
    size: tuple[int, int]


def _differences(
    mine: dict[str, Any], other: dict[str, Any], parts: Mapping[str, str], known_parts: Mapping[str, str] | None
) -> _Differences:
    names = [name for name in {**mine, **other} if mine.get(name) != other.get(name)]
    words = [
        name if name == "data" else f"{name} {other.get(name)} -> {mine.get(name)}"
        for name in names
        if name != CODE and not name.startswith(CODE_BEFORE)
    ]
    if CODE not in names:
        return _Differences(words, (len(words), 0))
    if known_parts is None:
        return _Differences(
            [*words, "the code, of which an older fsvm noted no functions"], (len(words) + 1, len(parts))
        )
    changed = changed_parts(parts, known_parts)
    return _Differences([*words, f"the code of {shown(changed)}"], (len(words) + 1, len(changed)))


def changed_parts(parts: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """Name the functions whose code is new, or else those that are gone; what was only moved or renamed is neither."""
    digests, digests_before = frozenset(parts.values()), frozenset(before.values())
    new = [name for name, digest in parts.items() if digest not in digests_before]
    gone = [name for name, digest in before.items() if digest not in digests]
    return new or gone or sorted(parts.keys() ^ before.keys()) or ["what refers to what"]


def flattened(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name every value by its dotted path."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        flat |= flattened(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
