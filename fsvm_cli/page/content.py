"""The content of the page: the results of experiments as texts and tables, in the order in which they are shown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fsvm_cli.references import references
from fsvm_cli.report.printing import ResultTable
from fsvm_cli.report.scorecard import GRAVEST_FIRST, counts_of, others_in_words

if TYPE_CHECKING:
    from fsvm_cli.page.pictures import Picture
    from fsvm_cli.page.sentences import Mark
    from fsvm_cli.references import Reference

VERDICTS = tuple(reversed(GRAVEST_FIRST))
OWN_DATA = "own data"
"""Instead of a document, where an experiment reproduces none."""


@dataclass(frozen=True)
class ClaimRow:
    """One claim of a document, beside what was found.

    Attributes
    ----------
    id : str
    statement : str
        The claim in words, where the config has any.
    where : str
        Place in the document.
    printed, found, rule, note : str
    verdict : str
        One of `VERDICTS`; that of the declared readings together where they decide.
    fixed : str
        Whether the rule was fixed before or after the figure was known; empty if no config states it.
    is_about_data : bool
        Whether it is about the data and how they were divided, whatever is done with them.
    new_data : str
        Of a difference, the verdict for new data, beside that on these data; else empty.
    mark : Mark, optional
        What was found and what is printed, on one axis.
    claim : str
        The published claim that it is about, of which it may be a part; empty where it is the claim itself.
    is_own : bool
        Whether no document prints it: an experiment that asks why another one differs makes it itself.
    open : str
        What the document leaves open, where that keeps the claim from being judged by one experiment.
    """

    id: str
    statement: str
    where: str
    printed: str
    found: str
    rule: str
    note: str
    verdict: str
    fixed: str = ""
    is_about_data: bool = False
    new_data: str = ""
    mark: Mark | None = None
    claim: str = ""
    is_own: bool = False
    open: str = ""


@dataclass(frozen=True)
class Section:
    """The section of the page on an experiment, or on a collection of experiments.

    Attributes
    ----------
    name, title : str
    document, where : str
        Which document, and where in it.
    dataset : str
        Empty for a collection.
    methods : tuple of str
    recommendation : tuple of str
        Sentences; none for an experiment of a paper.
    claims : tuple of ClaimRow
    pictures : tuple of Picture
    tables : tuple of ResultTable
    remarks : tuple of str
        What was chosen, what was measured.
    caveats : tuple of str
        What every report on these data must say, and that no trial is complete.
    why : str
        The question about another experiment that this one answers.
    explains : tuple of str
        Ids of the claims that `why` asks about.
    deviations : tuple of str
    command : str
        Runs it again.
    facts : tuple of (str, str)
        Seeds, splits, versions: what it takes to get the same numbers.
    files : tuple of (str, str)
        Name and text of those that can be saved from the page.
    elsewhere : tuple of str
        Names of the tables that are too large for it.
    """

    name: str
    title: str
    document: str
    where: str
    dataset: str = ""
    methods: tuple[str, ...] = ()
    recommendation: tuple[str, ...] = ()
    claims: tuple[ClaimRow, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    remarks: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    why: str = ""
    explains: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    command: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims have which verdict, without those that none has."""
        counts = Counter(claim.verdict for claim in self.claims)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


@dataclass(frozen=True)
class ScorecardRow:
    """One published claim, decided by its main experiment or by the declared readings of what is left open."""

    document: str
    id: str
    printed: str
    obtained: str
    interval: str
    verdict: str
    fixed: str
    experiment: str
    elsewhere: str
    nature: str = ""
    new_data: str = ""
    readings: str = ""


@dataclass(frozen=True)
class Ranks:
    """Rankings compared over several data sets, with one kind of machine.

    Attributes
    ----------
    machine : str
    names : tuple of str
        The rankings, the best first.
    words : str
        What was compared, and what the test of all found.
    svg : str
        The critical-difference diagram.
    heat_map : str
        What each ranking loses on each data set, as SVG.
    guide : str
        Which method to use, by the rules that held on data they had not seen, or that these data do not tell.
    tables : tuple of ResultTable
        What each method costs, what was best where, and the tests of pairs.
    """

    machine: str
    names: tuple[str, ...]
    words: str
    svg: str
    heat_map: str
    guide: str
    tables: tuple[ResultTable, ...]


@dataclass(frozen=True)
class Method:
    """A method that some experiment on the page uses.

    Attributes
    ----------
    name, summary, source : str
    standing : str
        What it reaches and costs beside the others, where they are compared over several data sets; else empty.
    experiments : tuple of str
        Names of those that use it.
    """

    name: str
    summary: str
    source: str
    standing: str
    experiments: tuple[str, ...]


@dataclass(frozen=True)
class Content:
    """All that the page shows.

    Attributes
    ----------
    scorecard : tuple of ScorecardRow
    experiments : tuple of Section
        Those on own data first, then by document.
    ranks : tuple of Ranks
        One for each kind of machine with which enough experiments have rankings in common.
    findings : tuple of (tuple of (str, str))
        What the papers' experiments come to: sentences, each cut into texts with the experiment that they link to.
    gains : str
        The figure of what fewer features gain, as SVG; empty where nothing is printed of it.
    selection_bias : ResultTable, optional
        What choosing features on all rows adds; None where no experiment tells.
    selection_bias_picture : str
        Its figure, as SVG.
    methods : tuple of Method
    """

    scorecard: tuple[ScorecardRow, ...]
    experiments: tuple[Section, ...]
    ranks: tuple[Ranks, ...] = ()
    findings: tuple[tuple[tuple[str, str], ...], ...] = ()
    gains: str = ""
    selection_bias: ResultTable | None = None
    selection_bias_picture: str = ""
    methods: tuple[Method, ...] = ()

    @property
    def references(self) -> dict[str, Reference]:
        """The documents that stand in the bibliography, by their keys."""
        return {key: references()[key] for key in self.documents if key in references()}

    @property
    def documents(self) -> list[str]:
        """What the experiments are about, in their order."""
        return list(dict.fromkeys(experiment.document for experiment in self.experiments))

    @property
    def counts(self) -> ResultTable:
        """How many findings and orders of each document have which verdict; see `counts_of`."""
        scorecard = pd.DataFrame(self.scorecard)
        counts = counts_of(scorecard)
        rows = tuple(tuple(map(str, row)) for row in counts.itertuples(index=False))
        return ResultTable("Verdicts by document", tuple(map(str, counts.columns)), rows, others_in_words(scorecard))
