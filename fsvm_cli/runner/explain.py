"""Why trials must run: what the store lacks of each competitor, and since when."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsvm_cli.data.phrases import shown
from fsvm_cli.experiment.plan import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.runner.tasks import Task
    from fsvm_cli.store.store import Store

CODE = f"{SOURCES}."


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
            reasons = (_what_changed(ingredients, known),)
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


def _what_changed(ingredients: dict[str, Any], known: Sequence[dict[str, Any]]) -> str:
    """Compare with the most similar group that was run before."""
    mine = flattened(ingredients)
    others = [flattened(group) for group in known]
    alike = [other for other in others if other.get("ranking.method") == mine.get("ranking.method")]
    if not alike:
        return "never run here"
    with_code = [other for other in alike if any(name.startswith(CODE) for name in other)]
    if not with_code:
        return "run by an older fsvm, which did not note the code that it ran"
    changes = min(
        (_differences(mine, other) for other in with_code), key=lambda each: (len(each.words()), len(each.code))
    )
    return f"changed since it was run: {', '.join(changes.words())}"


@dataclass(frozen=True)
class _Differences:
    """What two groups differ in: in words, and modules whose code differs."""

    values: list[str]
    code: list[str]

    def words(self) -> list[str]:
        return [*self.values, *([f"the code of {shown(self.code)}"] if self.code else [])]


def _differences(mine: dict[str, Any], other: dict[str, Any]) -> _Differences:
    names = [name for name in {**mine, **other} if mine.get(name) != other.get(name)]
    values = [
        name if name == "data" else f"{name} {other.get(name)} -> {mine.get(name)}"
        for name in names
        if not name.startswith(CODE)
    ]
    return _Differences(values, [name.removeprefix(CODE) for name in names if name.startswith(CODE)])


def flattened(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name every value by its dotted path."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        flat |= flattened(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
