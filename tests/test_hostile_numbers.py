"""Every ranking method and extractor against hostile numbers: finite scores, or a line that says why, and an end."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.registry import ranking_methods
from tests.helpers.hostile import POOR_TABLES, REFUSALS, TABLES, attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

METHODS = [*ranking_methods(), *extraction_methods()]
BOUND = 300
"""Seconds for all tables of one method, which take about one: beyond it, the method hangs."""


class Child:
    """A process that fits; one that hangs is killed, and the next method has a fresh one."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        spawned = multiprocessing.get_context("spawn")
        self.executor = concurrent.futures.ProcessPoolExecutor(1, mp_context=spawned)

    def attempts(self, method: str, tables: list[str]) -> dict[str, str | list[float]]:
        found = {table: self.executor.submit(attempt, method, table) for table in tables}
        _, hanging = concurrent.futures.wait(found.values(), timeout=BOUND)
        if hanging:
            for process in self.executor._processes.values():
                process.kill()
            self.start()
        assert not hanging, f"{method} hangs on one of: {[table for table in tables if found[table] in hanging]}"
        return {table: future.result() for table, future in found.items()}


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    running = Child()
    yield running
    running.executor.shutdown()


@pytest.mark.parametrize("method", METHODS)
def test_scores_are_finite_or_a_line_says_why_not(method: str, child: Child) -> None:
    for table, found in child.attempts(method, [*TABLES, *POOR_TABLES]).items():
        if not isinstance(found, str):
            assert np.isfinite(found).all(), table
            assert table in POOR_TABLES or not TABLES[table].refused, table
            continue
        assert "\n" not in found, table
        if refusal := REFUSALS.get((method, table)):
            assert found.startswith(refusal)
            continue
        if table in TABLES:
            assert TABLES[table].refused, f"{table}: {found}"
            assert found.startswith(f"{TABLES[table].refused} has values of up to"), table
            assert "scale the features" in found


def test_a_refused_feature_is_named() -> None:
    frame = pd.DataFrame({"height": [1.0, 2, 3, 4], "mass": [1e300, 0, 1, 2]})
    with pytest.raises(ValueError, match="feature 'mass' has values of up to 1e"):
        Fisher().fit(frame, [0, 1, 0, 1])
