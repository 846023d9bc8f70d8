"""Tables for a paper."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.report.printing import PAGE_WIDTH_POINTS, ROWS_PER_PAGE, Estimate, ResultTable, printed_table, rounded
from tests.helpers.calling import fsvm_here

RESULTS = Path(__file__).parents[2] / "results"
HARSH = r"a_b & 100 % of $x^2$ \ {#} ~ | *"


@pytest.mark.parametrize(
    ("mean", "half_width", "expected"),
    [
        (66.9533, 0.6268, ("66.95", "0.63")),
        (66.9533, 0.0996, ("66.95", "0.10")),
        (66.9533, 12.4, ("67", "12")),
        (66.9533, 123.0, ("70", "120")),
        (66.9533, 0.0012, ("66.9533", "0.0012")),
        (50.0, 0.0, ("50.00", "0.00")),
        (50.0, nan, ("50.00", "")),
        (nan, nan, ("–", "")),
    ],
)
def test_numbers_are_rounded_to_two_digits_of_their_uncertainty(
    mean: float, half_width: float, expected: tuple[str, str]
) -> None:
    assert rounded(Estimate(mean, half_width)) == expected


@given(st.floats(0.0, 100.0), st.floats(1e-9, 50.0))
def test_rounding_moves_nothing_by_more_than_a_tenth_of_the_uncertainty(mean: float, half_width: float) -> None:
    written_mean, written_half_width = map(float, rounded(Estimate(mean, half_width)))
    assert abs(written_mean - mean) <= 0.0501 * half_width + 1e-12
    assert abs(written_half_width - half_width) <= 0.0501 * half_width


def test_signs_that_latex_and_markdown_read_are_escaped() -> None:
    table = ResultTable("accuracy in %", ("features", HARSH), (("1", Estimate(66.9533, 0.6268)),), "Mean ± 95 %.")
    latex = printed_table(table, HARSH, "latex")
    assert r"a\_b \& 100 \% of \$x\textasciicircum{}2\$ \textbackslash{} \{\#\} \textasciitilde{} | *" in latex
    assert r"1 & $66.95 \pm 0.63$ \\" in latex
    assert latex.count("&") == 2 + latex.count(r"\&")
    markdown = printed_table(table, HARSH, "markdown")
    assert r"| features | a\_b & 100 % of $x^2$ \\ {\#} ~ \| \* |" in markdown
    assert "| 1 | 66.95 ± 0.63 |" in markdown


@pytest.mark.parametrize("style", ["markdown", "latex"])
def test_the_table_of_an_experiment_has_a_row_for_each_size(style: str) -> None:
    answer = fsvm_here("table", RESULTS / "wine", "--format", style)
    assert answer.code == 0, answer.err
    assert "66.95" in answer.out
    rows = [line for line in answer.out.splitlines() if " 0." in line]
    assert len(rows) == 13
    assert not isnan(float(rows[0].replace("&", "|").strip("| ").split("|")[0]))
    assert fsvm_here("table", RESULTS / "nowhere").code == 3


TITLES = st.lists(st.text("abc de", min_size=1, max_size=60).filter(str.strip), min_size=1, max_size=14)


@given(TITLES, st.integers(1, 80))
def test_parts_of_a_large_latex_table_hold_every_number_once_on_pages_with_room(
    titles: list[str], n_sizes: int
) -> None:
    estimates = tuple(
        tuple(Estimate(10.0 + size / 100, 1.0 + method / 10) for method in range(len(titles)))
        for size in range(n_sizes)
    )
    cells = tuple((str(size), *of_size) for size, of_size in enumerate(estimates, start=1))
    table = ResultTable("accuracy in %", ("features", *titles), cells, "A note.")
    parts = printed_table(table, "Caption", "latex").split(r"\begin{table}")[1:]
    found: list[str] = []
    for part in parts:
        rows = [line.split(" & ")[1:] for line in part.split(r"\midrule")[1].splitlines() if "&" in line]
        assert 0 < len(rows) <= ROWS_PER_PAGE
        assert len(rows[0]) * (12 + 5 * len("10.0±1.0")) < PAGE_WIDTH_POINTS
        found += [cell.removesuffix(r" \\") for row in rows for cell in row]
    assert sorted(found) == sorted(
        rf"${each.mean:.1f} \pm {each.half_width:.1f}$" for of_size in estimates for each in of_size
    )
    assert sum("A note." in part for part in parts) == 1


def test_methods_lead_down_a_table_of_fewer_sizes() -> None:
    estimates = (Estimate(66.9533, 0.6268), Estimate(50.0, nan))
    single = ResultTable("accuracy in %", ("features", "first", "second"), (("1", *estimates),), "A note.")
    assert "|  | 1 feature |\n" in printed_table(single, "C", "markdown")
    table = replace(single, rows=(("7", *estimates),))
    assert "| :--- | ---: |\n| first | 66.95 ± 0.63 |\n| second | 50.00 |" in printed_table(table, "C", "markdown")
    latex = printed_table(table, "C", "latex")
    assert r" & 7 features \\" in latex
    assert r"first & $66.95 \pm 0.63$ \\" in latex
