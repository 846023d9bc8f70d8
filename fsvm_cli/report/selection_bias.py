"""What choosing features on all rows adds to an accuracy: printed, with its erratum, and found; table and figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.report.printing import ResultTable
from fsvm_cli.report.style import COLOURS, COLUMN_WIDTH, GREY, drawn, explain, figure
from fsvm_cli.spec.rankings import LEAK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.report.gains import Estimate, Results

RFE, BASELINE = "RFE by halves", "correlation"
TOO_OPTIMISTIC = "too optimistic: chosen on all patients"
NEGLIGIBLE = "negligible error"


class Case(NamedTuple):
    """A place where features are chosen on all rows and within the training rows, side by side.

    Attributes
    ----------
    experiment : str
    data, method : str
        Words for people.
    ranking : str
        Label of the ranking that is no leak.
    n_features : int
    claim : str
        The published claim about the leak; empty where nothing is printed.
    """

    experiment: str
    data: str
    method: str
    ranking: str
    n_features: int
    claim: str = ""


CASES = (
    Case("guyon-colon", "Colon", "RFE, leave-one-out", RFE, 4, "guyon2002.colon.rfe.accuracy"),
    Case("guyon-colon", "Colon", "correlation, leave-one-out", BASELINE, 4, "guyon2002.colon.baseline.accuracy"),
    Case("guyon-colon-patients", "Colon", "RFE, leave-one-patient-out", RFE, 4),
    Case("ambroise-colon", "Colon", "RFE, ten folds", RFE, 8, "ambroise2002.internal_zero.colon"),
    Case("ambroise-colon-bootstrap", "Colon", "RFE, .632+", RFE, 8, "ambroise2002.internal_zero.colon"),
    Case("guyon-leukaemia", "Leukaemia", "RFE, leave-one-out", RFE, 2, "guyon2002.leukaemia.rfe.n_features.percent"),
    Case(
        "guyon-leukaemia",
        "Leukaemia",
        "correlation, leave-one-out",
        BASELINE,
        64,
        "guyon2002.leukaemia.baseline.errors.percent",
    ),
    Case("ambroise-leukaemia", "Leukaemia", "RFE, ten folds", RFE, 8, "ambroise2002.internal_zero.leukaemia"),
    Case("ambroise-leukaemia-bootstrap", "Leukaemia", "RFE, .632+", RFE, 8, "ambroise2002.internal_zero.leukaemia"),
    Case("guyon-colon-noise", "Colon, permuted labels", "RFE, ten folds", RFE, 8),
    Case("guyon-colon-noise", "Colon, permuted labels", "RFE, ten folds", RFE, 64),
    Case("guyon-colon-noise", "Colon, permuted labels", "correlation, ten folds", BASELINE, 8),
)


@dataclass(frozen=True)
class SelectionBias:
    """An accuracy in per cent by features that were chosen on all rows, and within the training rows.

    Attributes
    ----------
    case : Case
    printed : float or None
        Where a number is printed.
    leaky, honest : Estimate
        Features chosen on all rows, and within the training rows.
    """

    case: Case
    printed: float | None
    leaky: Estimate
    honest: Estimate

    @property
    def name(self) -> str:
        """Name it for people."""
        return f"{self.case.data}: {self.case.method}, {self.case.n_features} genes"

    @property
    def printed_in_words(self) -> str:
        """What is printed."""
        if self.case.claim.startswith("ambroise2002"):
            return NEGLIGIBLE
        return "–" if self.printed is None else f"{self.printed:.0f}"

    @property
    def erratum(self) -> str:
        """What the first author's erratum says of it."""
        return TOO_OPTIMISTIC if self.case.claim.startswith("guyon2002") else "–"


def selection_biases(results: Results) -> list[SelectionBias]:
    """List the cases whose experiments are there."""
    found = []
    for case in CASES:
        if not results.have(case.experiment):
            continue
        leaky = results.at(case.experiment, case.ranking + LEAK, case.n_features)
        honest = results.at(case.experiment, case.ranking, case.n_features)
        if leaky is not None and honest is not None:
            found.append(SelectionBias(case, _printed(results, case), leaky, honest))
    return found


def _printed(results: Results, case: Case) -> float | None:
    """Return the printed accuracy, in %."""
    claims = {claim["id"]: claim for claim in results.config(case.experiment).get("expected") or ()}
    claim = claims.get(case.claim)
    if claim is None or case.claim.startswith("ambroise2002"):
        return None
    published = float(claim["published"])
    return 100.0 - published if claim["at"]["metric"] == "error" else published


HEADING = "Genes chosen on all rows, and within the training rows"
COLUMNS = ("data", "genes", "printed", "erratum", "chosen on all rows", "chosen within the training rows", "experiment")
ABOUT = (
    "Test accuracy in %, with its 95 % interval over the folds or samples. guyon2002 measured leave-one-out on genes "
    "that had been chosen on all patients, as its first author's erratum says; ambroise2002 corrected it."
)


def table_of_selection_biases(biases: Sequence[SelectionBias]) -> ResultTable:
    """Set what is printed, what its erratum says, and the two accuracies side by side; last the experiment."""
    rows = tuple(
        (
            f"{bias.case.data}, {bias.case.method}",
            str(bias.case.n_features),
            bias.printed_in_words,
            bias.erratum,
            _in_words(bias.leaky),
            _in_words(bias.honest),
            bias.case.experiment,
        )
        for bias in biases
    )
    return ResultTable(HEADING, COLUMNS, rows, ABOUT)


def _in_words(estimate: Estimate) -> str:
    if not np.isfinite(estimate.low):
        return f"{estimate.mean:.1f}"
    return f"{estimate.mean:.1f} [{max(estimate.low, 0.0):.1f}, {min(estimate.high, 100.0):.1f}]"


def drawn_selection_biases(biases: Sequence[SelectionBias], extension: str = "svg") -> bytes:
    """Draw a line for each case from the accuracy within the training rows to that on all rows, and what is printed.

    Parameters
    ----------
    biases : sequence of SelectionBias
        At least one.
    extension : {"svg", "png", "pdf"}

    Returns
    -------
    bytes
        The same each time.
    """
    from matplotlib.lines import Line2D  # noqa: PLC0415 - slow to import

    with figure(1.8 * COLUMN_WIDTH, 1.5 + 0.3 * len(biases)) as drawing:
        axes = drawing.add_subplot()
        for height, bias in enumerate(biases):
            axes.plot([bias.honest.mean, bias.leaky.mean], [height, height], color=GREY, linewidth=0.8, zorder=1)
            for estimate, colour, marker, offset in (
                (bias.leaky, COLOURS[1], "s", -0.12),
                (bias.honest, COLOURS[0], "o", 0.12),
            ):
                low, high = np.clip(np.nan_to_num([estimate.low, estimate.high], nan=estimate.mean), 0, 100)
                reach = [[estimate.mean - low], [high - estimate.mean]]
                axes.errorbar(
                    estimate.mean, height + offset, xerr=reach, fmt=marker, color=colour, elinewidth=0.9, markersize=5
                )
            if bias.printed is not None:
                axes.plot(bias.printed, height, marker="|", color="black", markersize=13, markeredgewidth=1.6)
        axes.set_yticks(np.arange(len(biases)), [bias.name for bias in biases])
        axes.set_ylim(len(biases) - 0.5, -0.5)
        axes.set_xlim(right=101.5)
        axes.set_xlabel("Test accuracy (%)")
        axes.set_title(f"{HEADING}\nbar: 95 % interval over the folds or samples", loc="left", wrap=True)
        handles = [
            Line2D([], [], color="black", marker="|", linestyle="none", markersize=10, label="printed"),
            Line2D([], [], color=COLOURS[1], marker="s", linestyle="none", label="chosen on all rows (leak)"),
            Line2D([], [], color=COLOURS[0], marker="o", linestyle="none", label="chosen within the training rows"),
        ]
        explain(drawing, handles, 3)
        return drawn(drawing, extension)
