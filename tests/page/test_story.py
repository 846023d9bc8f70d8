"""What the page concludes from verdicts, where the truth is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fsvm_cli.page.content import ClaimRow, Content, Section
from fsvm_cli.page.story import conclusion_of, conclusions, documents
from tests.page.conftest import content_of, experiment


def own(verdict: str, number: int = 1) -> ClaimRow:
    """Make a statement of an experiment of its own."""
    found = "Test accuracy of a minus that of b is +2.10 points (95 % interval 1 to 3; 9 trials)."
    statement = f"Statement {number}."
    return ClaimRow(f"why.{number}", statement, "", statement, found, "", "", verdict, is_own=True)


def again(verdict: str) -> ClaimRow:
    """Make a published claim that is judged again."""
    return ClaimRow("doc.1", "It is 9.", "Table 1", "9", "", "", "", verdict)


@pytest.mark.parametrize(
    ("claims", "conclusion"),
    [
        ([own("reproduced")], "“Statement 1” holds (+2.10 points)."),
        ([own("differs")], "“Statement 1” does not hold (+2.10 points)."),
        ([own("inconclusive")], "“Statement 1” is inconclusive (+2.10 points)."),
        ([own("differs", 1), own("differs", 2)], "None of its 2 statements holds, such as “Statement 1”."),
        ([own("reproduced", 1), own("reproduced", 2)], "All of its 2 statements hold, such as “Statement 1”."),
        (
            [own("reproduced", 1), own("differs", 2), own("differs", 3)],
            "Of its 3 statements, 2 do not hold (such as “Statement 2”) and 1 holds (“Statement 1”).",
        ),
        ([again("differs")], "None of one published claim that it judges again is reproduced."),
        (
            [again("reproduced"), again("differs"), again("reproduced")],
            "2 of the 3 published claims that it judges again are reproduced.",
        ),
        ([], "It judges no claim: its figures and tables are the answer."),
    ],
)
def test_a_conclusion_says_what_the_verdicts_are(claims: list[ClaimRow], conclusion: str) -> None:
    assert conclusion_of(claims) == conclusion


def lines(content: Content) -> dict[str, str]:
    """Give the story of the one document, each line by what it is about."""
    (document,) = documents(content)
    return {about: "".join(text for text, _ in parts) for about, parts in document.story}


def with_claims(*verdicts: str, nature: str = "finding") -> Content:
    """Make a page with one experiment, whose claims have these verdicts."""
    claims = tuple(
        ClaimRow(f"doc.{number}", f"It is {number}.", f"Table {number % 2 + 1}", f"{number}", "", "", "", verdict)
        for number, verdict in enumerate(verdicts)
    )
    content = content_of(replace(experiment(0), claims=claims), replace(experiment(1), claims=(), document="other"))
    return replace(content, scorecard=tuple(replace(row, nature=nature) for row in content.scorecard))


def test_the_story_counts_what_held_and_what_did_not() -> None:
    content = with_claims("reproduced", "reproduced", "differs", "inconclusive")
    told = lines(content)
    assert "2 reproduced, 1 inconclusive and 1 differs" in told["In counts"]
    assert told["Held"].startswith("2 of 4 printed numbers")
    assert told["Did not hold"].startswith("1 of 4 printed numbers")
    (document,) = documents(content)
    assert document.verdicts == {"reproduced": 2, "inconclusive": 1, "differs": 1}
    assert [place for place, _ in document.places] == ["Table 1", "Table 2"]
    assert "Did not hold" not in lines(with_claims("reproduced", "inconclusive"))


def test_repeats_and_facts_are_listed_and_not_counted() -> None:
    (document,) = documents(with_claims("differs", "reproduced", nature="repeat"))
    assert document.verdicts == {}
    assert sum(len(claims) for _, claims in document.places) == 2


def test_a_row_that_differs_is_linked_to_what_explains_it_and_the_story_gives_the_answer() -> None:
    why = replace(experiment(2), claims=(own("differs"),), why="Is it the scaling?", explains=("doc.2",), name="why-it")
    base = with_claims("reproduced", "reproduced", "differs")
    content = replace(base, experiments=(*base.experiments, why))
    (document,) = documents(content)
    asked = {claim.row.id: claim.why for _, claims in document.places for claim in claims}
    assert asked == {"doc.0": (), "doc.1": (), "doc.2": ("why-it",)}
    line = dict(document.story)["Why"]
    assert ("why-it", "why-it") in line
    said = "".join(text for text, _ in line)
    assert said.startswith("Is it the scaling? “Statement 1” does not hold")


def test_a_finding_that_links_to_an_experiment_is_its_conclusion() -> None:
    why: Section = replace(experiment(2), claims=(own("differs"),), why="Why?", name="why-it")
    finding = (("The gain lies ", ""), ("elsewhere", "why-it"), (".", ""))
    content = replace(content_of(experiment(0), why), findings=(finding,))
    assert conclusions(content) == {"why-it": finding}
