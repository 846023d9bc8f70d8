"""What the documentation says is true: commands run, snippets work, columns and keys are described."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, get_args

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import fsvm_cli
from fsvm_cli.cli import COMMANDS
from fsvm_cli.data.dataset import Dataset
from fsvm_cli.page.content import Content
from fsvm_cli.page.reading import scorecard_rows
from fsvm_cli.report.folder import SCORECARD_NAME, results_folders
from fsvm_cli.report.ranking_statistics import PAIR_COLUMNS, SUMMARY_COLUMNS
from fsvm_cli.report.recommendation import RECOMMENDATION_COLUMNS
from fsvm_cli.report.scorecard import counts_of
from fsvm_cli.spec.claims.base import Verdict
from tests.helpers.calling import CHECKOUT, fsvm_here

DOCS = CHECKOUT / "docs"
sys.path.insert(0, str(DOCS))
import generate  # noqa: E402 - where Sphinx finds it, too

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

PAGES = [*(path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "generated"), CHECKOUT / "README.md"]


def blocks(path: Path, *languages: str) -> list[tuple[str, str]]:
    """List the fenced blocks of a page in some languages, with these."""
    return [found for found in BLOCK.findall(path.read_text(encoding="utf-8")) if found[0] in languages]


def run(block: str, few_splits: list[str]) -> None:
    """Run the commands of a block, each of which must succeed."""
    for line in block.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "fsvm"
        quick = few_splits if arguments[0] == "run" and "--splits" not in arguments else []
        answer = fsvm_here(*arguments, *quick, *(["--jobs", "1"] if arguments[0] == "run" else []))
        assert answer.code == 0, (line, answer.err)


@pytest.mark.slow
def test_the_tutorial_from_a_table_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_figures: None
) -> None:
    monkeypatch.chdir(tmp_path)
    for language, block in blocks(DOCS / "tutorials" / "table.md", "python", "sh"):
        if language == "python":
            exec(block, {})
        else:
            run(block, [])
    assert (tmp_path / "wines.joblib").exists()
    assert (tmp_path / "first-look" / "wines" / "index.html").exists()


@pytest.mark.slow
def test_the_tutorial_from_a_paper_ends_in_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_figures: None
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "fisher-wine.yaml"
    for language, block in blocks(DOCS / "tutorials" / "paper.md", "yaml", "sh"):
        if language == "yaml":
            config.write_text((config.read_text() if config.exists() else "") + block)
        else:
            run(block, ["--set", "protocol.splits=6", "--out", "results"])
    verdicts = pd.read_csv(tmp_path / "results" / "fisher-wine" / "published.csv")
    assert verdicts["id"].tolist() == ["five.accuracy", "five.better"]
    assert np.isfinite(verdicts["reproduced"]).all()


@pytest.mark.slow
def test_the_tutorial_on_leaks_shows_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_figures: None) -> None:
    monkeypatch.chdir(tmp_path)
    for language, block in blocks(DOCS / "tutorials" / "leak.md", "python", "yaml", "sh"):
        if language == "python":
            exec(block, {})
        elif language == "yaml":
            (tmp_path / "leak.yaml").write_text(block)
        else:
            run(block, [])
    for folder in ("results", "shuffled", "bootstrap"):
        curves = pd.read_csv(tmp_path / folder / "leak" / "curves.csv").query("part == 'test' and n_features == 20")
        found = curves.set_index("ranking")["mean"]
        assert found["chosen first (test leak)"] > 0.75
        assert 0.25 < found["chosen in each fold"] < 0.7


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_that_is_named_exists(page: Path) -> None:
    in_blocks = "\n".join(block for _, block in blocks(page, "sh"))
    in_lines = BLOCK.sub("", page.read_text(encoding="utf-8"))
    named = re.findall(r"^fsvm ([a-z]\w*)", in_blocks, re.MULTILINE) + re.findall(r"`fsvm ([a-z]\w*)", in_lines)
    assert set(named) <= set(COMMANDS)


@pytest.mark.parametrize("name", generate.snippets())
def test_the_lines_of_the_gallery_draw_a_picture(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    X = rng.normal(size=(24, 4))
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], [1 / 3, 2 / 3]))
    small = Dataset("small", X, y, tuple("abcd"), ("low", "middle", "high"), sha256="0" * 64)
    monkeypatch.setattr(fsvm_cli, "load_dataset", lambda _: small, raising=False)
    # To write the file takes longer than the rest.
    monkeypatch.setattr(plt, "savefig", lambda name, **_: Path(name).write_text(plt.gca().get_title()))
    code = generate.snippets()[name]
    assert len(list(filter(None, code.splitlines()))) <= 10
    if name in {"ard", "kpd", "wrapper"}:  # the contract of methods runs them; these take seconds
        compile(code, name, "exec")
        return
    assert name in (tmp_path / generate.run_snippet(code, tmp_path)).read_text()
    assert not plt.get_fignums()


def test_every_page_stands_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"^(?:tutorials/)?[\w-]+$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")]
    assert {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages} - {"index"} == listed


def test_every_column_of_every_table_is_explained() -> None:
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    explained = {
        name for cell in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`(.*?)`", cell)
    }
    beside = ("scorecard", "method-times")
    columns = {*PAIR_COLUMNS, *SUMMARY_COLUMNS, *RECOMMENDATION_COLUMNS}
    for path in [*(CHECKOUT / "results").glob("*/*.csv"), *(CHECKOUT / "results" / f"{name}.csv" for name in beside)]:
        if path.name not in {"overview.csv", "timings.csv"}:
            with path.open(encoding="utf-8") as stream:
                columns |= set(next(csv.reader(stream)))
    beginnings = tuple(name.removesuffix("...") for name in explained if name.endswith("..."))
    assert {column for column in columns - explained if not column.startswith(beginnings)} == set()


def test_the_example_of_each_verdict_is_a_committed_one() -> None:
    text = (DOCS / "verdicts.md").read_text(encoding="utf-8")
    examples = re.findall(r"^\| ([a-z ]+) \| `(\S+)` in `(\S+)` \| (.*?) \| (.*?) \|", text, re.MULTILINE)
    assert {verdict for verdict, *_ in examples} == set(get_args(Verdict))
    for verdict, claim, experiment, printed, found in examples:
        row = pd.read_csv(CHECKOUT / "results" / experiment / "published.csv").set_index("id").loc[claim]
        assert row["verdict"] == verdict
        assert printed.startswith(str(row["published"]).removesuffix(".0"))
        numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", found)]
        expected = row[["reproduced", "ci_low", "ci_high"]].dropna().astype(float)
        assert numbers[: len(expected)] == pytest.approx(expected.to_list(), abs=0.00501)


def test_the_readme_repeats_the_committed_findings() -> None:
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    block = text.partition(generate.FINDINGS_BEGIN)[2].partition(generate.FINDINGS_END)[0]
    assert block.strip() == generate.findings().strip()
    assert len(re.findall(r"^\d+\. ", block, re.MULTILINE)) == generate.N_FINDINGS_IN_README
    scorecard = pd.read_csv(CHECKOUT / "results" / "scorecard.csv")
    n_judged, *counts = map(int, re.findall(r"(\d+) ", generate.verdicts_in_words()))
    assert n_judged == sum(counts) <= len(scorecard)


def test_the_readme_is_read_in_five_minutes() -> None:
    """Words as `wc -w` counts them, with the findings that are generated, the lines of code and the tables."""
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_times_are_listed_from_what_lies_beside_the_results(tmp_path: Path) -> None:
    for name, seconds in (("why-short", (1, 2)), ("long", (40, 54)), ("none", ())):
        (tmp_path / name).mkdir()
        lines = ["train_size,split,record,seconds", *(f"9,{split},,{each}" for split, each in enumerate(seconds))]
        lines += [",,a-record,3"] if name == "long" else []
        (tmp_path / name / "timings.csv").write_text("\n".join(lines) + "\n")
    assert generate.times(tmp_path, "") == [
        ("long", "2", "48.5", "97", "97.0"),
        ("why-short", "2", "1.5", "3", "3.0"),
        ("all that ask why a number differs (why-*)", "2", "", "3", "3.0"),
        ("all others: the documents", "2", "", "97", "97.0"),
        ("all", "4", "", "100", "100.0"),
    ]
    assert generate.times(tmp_path / "long", "") == []


def test_the_sum_of_all_times_is_said_in_hours() -> None:
    rows = [(f"e{k}", "1", "3600", "3600", "10.0") for k in range(10)]
    groups = [("all others: the documents", "10", "", "36000", "100.0"), ("all", "10", "", "36000", "100.0")]
    words = generate.times_in_words([*rows, *groups])
    assert words.startswith("The trials take 10.0 hours of a processor, 50 % of them for the 5 longest experiments.")
    assert "takes 5.2 to 6.2 hours on 2 cores" in words


def test_experiments_that_ran_elsewhere_keep_their_times(tmp_path: Path) -> None:
    for name, n in (("here", 2), ("elsewhere", 5), ("longer", 30)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
        (tmp_path / name / "curves.csv").write_text(f"train_size,n_trials\n9,{n}\n9,{n}\n18,{n}\n")
    (tmp_path / "here" / "timings.csv").write_text("train_size,split,seconds\n9,0,10\n9,1,20\n")
    before = """
| experiment | trials | seconds a trial | seconds in all | share in % |
| --- | --- | --- | --- | --- |
| here | 9 | 9 | 81 | 40.0 |
| elsewhere | 10 | 7 | 70 | 35.0 |
| longer | 20 | 50 | 1000 | 25.0 |
| gone | 1 | 50 | 50 | 25.0 |
| all | 20 |  | 201 | 100.0 |

Not measured since the number of trials was last changed: longer.
"""
    assert generate.times(tmp_path, before) == [
        ("elsewhere", "10", "7", "70", "70.0"),
        ("here", "2", "15", "30", "30.0"),
        ("all others: the documents", "12", "", "100", "100.0"),
        ("all", "12", "", "100", "100.0"),
    ]


def test_the_page_of_the_solver_has_the_ratios_as_they_were_measured() -> None:
    rows = pd.read_csv(CHECKOUT / "results" / "benchmarks.csv", keep_default_na=False)
    page = (CHECKOUT / "docs" / "solver.md").read_text(encoding="utf-8")
    assert f"{generate.SPEED_BEGIN}{generate.speed(rows)}{generate.SPEED_END}" in page, "run: python docs/generate.py"


def test_what_samplers_take_is_that_of_the_benchmarks() -> None:
    measured = CHECKOUT / "results" / "benchmarks.csv"
    lines = generate.samplers(measured).splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][2:]
    peers = pd.read_csv(measured).query("work.str.contains('effective draws')")["peer"]
    assert {name for name, _ in rows} == {"weighted draws", "64 chains", *peers}
    assert len(peers.unique()) == 3
    seconds = [float(taken) for _, taken in rows]
    assert seconds == sorted(seconds)
    assert sum("for 500 to 8000 rows" in line for line in lines) == 2


def test_the_false_discoveries_of_the_page_are_those_of_the_results() -> None:
    measured = CHECKOUT / "results" / "false-discovery.csv"
    begin, end = generate.DISCOVERIES_BEGIN, generate.DISCOVERIES_END
    written = f"{begin}{generate.discoveries(measured)}{end}"
    assert written in (DOCS / "data.md").read_text(encoding="utf-8"), "run: python docs/generate.py"
    assert {by.split()[0] for by in pd.read_csv(measured)["by"]} == {"fsvm,", "hidimstat", "knockpy"}


@pytest.mark.parametrize("name", sorted(generate.ASCENTS))
def test_the_ascents_of_the_page_of_the_evidence_are_those_of_the_results(name: str) -> None:
    written = generate.ascents(CHECKOUT / "results", *generate.ASCENTS[name])
    assert f"<!-- {name} -->{written}<!-- /{name} -->" in (DOCS / "evidence.md").read_text(encoding="utf-8"), (
        "run: python docs/generate.py"
    )


def test_ascents_that_did_not_end_are_counted_beside_their_accuracy(tmp_path: Path) -> None:
    row = {"metric": "accuracy", "part": "test", "n_trials": 20}
    for experiment, label, mean, out_of_steps in (("one", "mine", 0.9, 3), ("two", "to 30 %", 0.85, 0)):
        (tmp_path / experiment).mkdir()
        curves = pd.DataFrame([{"ranking": label, "mean": mean, "n_unconverged": out_of_steps, **row}])
        curves.to_csv(tmp_path / experiment / "curves.csv", index=False)
    lines = generate.ascents(tmp_path, {"first": "one", "second": "two"}, {"mine": "yours"}).split("\n")
    assert lines[3:] == ["| yours | 90.0 (3 of 20 did not end) |  |", "| to 30 % |  | 85.0 |", ""]


def test_the_reference_names_every_key() -> None:
    schema = {
        "$defs": {
            "Config": {
                "description": "One experiment.\n\nMore.",
                "required": ["title"],
                "properties": {
                    "title": {"type": "string", "description": "A | title."},
                    "C": {"type": "number", "exclusiveMinimum": 0, "default": 1, "description": "Price."},
                    "kind": {"anyOf": [{"const": "a"}, {"$ref": "#/$defs/Other"}], "description": "Either."},
                },
            },
            "Other": {"properties": {"words": {"type": "array", "items": {"enum": ["x", "y"]}, "description": "W."}}},
        }
    }
    page = generate.config_reference(schema)
    for line in (
        "| `title` | string | A \\| title. |",
        "| `C` (default `1`) | number > 0 | Price. |",
        "| `kind` (default `none`) | `a` or [Other](#other) | Either. |",
        "| `words` (default `none`) | list of `x`, `y` | W. |",
    ):
        assert line in page
    assert "More." not in page


def test_generated_pages_tell_of_everything() -> None:
    assert all(f"fsvm_cli.{name}\n" in generate.api() for name in fsvm_cli.__all__)
    assert "## fsvm completion" in generate.commands()
    assert "**weston2000**" in generate.bibliography()


def test_the_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CHECKOUT / "results" / "wine", tmp_path / "results" / "wine")
    mine = pd.DataFrame(rng.normal(size=(12, 3)), columns=list("abc")).assign(kind=list("xy") * 6)
    mine.to_csv("mine.csv", index=False)
    (_, of_readme), *_ = blocks(CHECKOUT / "README.md", "python")
    (_, of_page), *_ = blocks(DOCS / "python.md", "python")
    found: dict[str, Any] = {}
    for block in (of_readme, of_page):
        exec(block, found)
    assert found["model"][1].n_features_to_select == 5
    assert len(found["table"]) == 3
    assert not found["verdicts"].empty
    assert len([line for line in of_readme.splitlines() if line]) == 5


def test_the_scorecard_of_the_page_of_results_is_the_committed_one() -> None:
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    assert generate.totals() in page, "run: python docs/generate.py"


def test_readme_page_of_results_scorecard_and_compare_show_one_and_the_same_count() -> None:
    """As they are committed: findings and orders, each once, with their verdicts."""
    results = CHECKOUT / "results"
    counted = counts_of(pd.read_csv(results / SCORECARD_NAME, keep_default_na=False))
    expected = [tuple(map(str, row)) for row in counted.itertuples(index=False)]
    verdicts = [name for name in counted.columns if name not in {"document", "fixed", "in all"}]
    totals = counted[counted["document"] == "all"]

    def rows_of(text: str) -> list[tuple[str, ...]]:
        """Take the rows below the first head that begins with the columns of the counts."""
        lines = [[cell.strip() for cell in re.split(r"[|│┃]", line)[1:-1]] for line in text.splitlines()]
        start = next(number for number, cells in enumerate(lines) if cells[:2] == ["document", "fixed"])
        assert lines[start] == list(counted.columns)
        return [tuple(cells) for cells in lines[start + 1 :] if cells[:2] in counted_pairs][: len(expected)]

    counted_pairs = [list(row[:2]) for row in expected]
    answer = fsvm_here("compare", results)
    assert answer.code == 0, answer.err
    assert rows_of(answer.out) == expected
    assert rows_of((DOCS / "results.md").read_text(encoding="utf-8")) == expected
    assert rows_of((results / "README.md").read_text(encoding="utf-8")) == expected
    assert list(Content(scorecard_rows(results_folders(results)), ()).counts.rows) == expected
    (sentence,) = re.findall(r"^Verdicts on .*$", (CHECKOUT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    in_words = ", ".join(f"{totals[name].sum()} {name}" for name in verdicts)
    assert sentence.startswith(f"Verdicts on {totals['in all'].sum()} published claims ")
    assert sentence.endswith(f": {in_words}.")


def test_the_guidance_of_the_page_of_the_comparison_is_that_of_the_results() -> None:
    written = generate.guidance(CHECKOUT / "results")
    page = (CHECKOUT / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert f"{generate.GUIDANCE_BEGIN}{written}{generate.GUIDANCE_END}" in page, "run: docs/generate.py"


def test_guidance_is_generated_as_soon_as_there_are_results(tmp_path: Path) -> None:
    assert "has not been run" in generate.guidance(tmp_path)
    for name in ("breast", "heart", "sonar", "wine"):
        shutil.copytree(CHECKOUT / "results" / f"beyond-gaussian-{name}", tmp_path / f"beyond-gaussian-{name}")
    written = generate.guidance(tmp_path)
    assert "### Machines: gaussian" in written
    assert "| ranking | mean rank |" in written
    assert "images/comparison-gaussian-losses.svg" in written
    assert "These data do not tell which method to use" in written


def test_no_committed_picture_shows_the_source_of_a_formula() -> None:
    """Text is not mathematics in figures, so that what matplotlib writes as a formula would be read as it stands."""
    pictures = [*DOCS.rglob("*.svg"), *(CHECKOUT / "results").rglob("*.svg")]
    assert pictures
    assert [path for path in pictures if "\\mathdefault" in path.read_text(encoding="utf-8")] == []
