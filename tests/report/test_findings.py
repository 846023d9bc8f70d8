"""The sentences that the results of the papers' experiments come to: true of the tables, and of no others."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from fsvm_cli.report.findings import (
    LINK,
    MADE_BY,
    _row_orders,
    as_markdown,
    findings_of,
    parts_of,
    read_findings,
    with_prefix,
    write_findings,
)
from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.gains import EVIDENCE, INFOPROP, Results, drawn_gains, printed_gains
from fsvm_cli.report.selection_bias import drawn_selection_biases, selection_biases

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parents[2] / "results"
TABLES = ("run.json", "curves.csv", "published.csv")
MACHINES, SETS = ("gaussian", "linear"), ("breast", "heart", "sonar", "wine")
EXPERIMENTS = (
    *INFOPROP,
    "infoprop-dna-literal",
    "why-grid-vehicle",
    "why-grid-vehicle-rows",
    "why-vehicle",
    *EVIDENCE,
    "ard-select-wdbc",
    "kpd-sonar",
    "kpd-wdbc",
    *(f"beyond-{machine}-{name}" for machine in MACHINES for name in SETS),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Copy the tables that the sentences are computed from."""
    for name in EXPERIMENTS:
        (tmp_path / name).mkdir()
        for table in TABLES:
            if (RESULTS / name / table).exists():
                shutil.copy(RESULTS / name / table, tmp_path / name / table)
    return tmp_path


def sentences(root: Path) -> list[str]:
    return findings_of(Results(results_folders(root)))


def about(root: Path, words: str) -> str:
    """Find the one sentence with some words, without its links."""
    (found,) = [plain for each in sentences(root) if words in (plain := LINK.sub(r"\1", each))]
    return found


def change(root: Path, name: str, percent: Callable[[Any], float], where: Callable[[Any], bool]) -> None:
    """Replace test accuracies of some rows of an experiment by others, in per cent; intervals move with them."""
    path = root / name / "curves.csv"
    rows = pd.read_csv(path)
    chosen = (rows["metric"] == "accuracy") & (rows["part"] == "test") & rows.apply(where, axis=1)
    assert chosen.any()
    moved = rows[chosen].apply(lambda row: percent(row) / 100 - row["mean"], axis=1)
    for column in ("mean", "ci_low", "ci_high"):
        rows.loc[chosen, column] += moved
    rows.to_csv(path, index=False)


def set_claim(root: Path, name: str, pattern: str, **values: object) -> None:
    path = root / name / "published.csv"
    rows = pd.read_csv(path)
    chosen = rows["id"].str.fullmatch(pattern)
    assert chosen.any()
    for column, value in values.items():
        rows.loc[chosen, column] = value
    rows.to_csv(path, index=False)


def forget_differences(root: Path, name: str) -> None:
    """Leave out the claims about differences, so that curves alone tell them."""
    path = root / name / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    claims = run["config"]["expected"]
    run["config"]["expected"] = [claim for claim in claims if claim["kind"] not in {"difference", "gain"}]
    path.write_text(json.dumps(run), encoding="utf-8")


def test_the_committed_findings_are_those_of_the_results() -> None:
    results = Results(results_folders(RESULTS))
    written = as_markdown(findings_of(results), printed_gains(results), selection_biases(results))
    committed = (RESULTS / "findings.md").read_text(encoding="utf-8")
    assert committed == written, "run: fsvm compare results --scorecard"
    assert (RESULTS / "gains.svg").read_bytes() == drawn_gains(printed_gains(results))
    if biases := selection_biases(results):
        assert (RESULTS / "selection-bias.svg").read_bytes() == drawn_selection_biases(biases)


def test_there_are_at_most_ten_with_numbers_and_links_that_lead_somewhere(root: Path) -> None:
    found = sentences(root)
    assert 8 <= len(found) <= 10
    for sentence in found:
        assert re.search(r"\d", sentence)
        names = [name for _, name in parts_of(sentence) if name]
        assert names
        assert all((root / name).is_dir() for name in names)
        assert "".join(text for text, _ in parts_of(sentence)) == LINK.sub(r"\1", sentence)
        assert with_prefix(sentence, "results").count("](results/") == len(names)


def test_a_gain_that_turns_into_a_loss_is_told_as_one(root: Path) -> None:
    before = about(root, "Selection by SVM-Infoprop (infoprop2001)")
    assert re.search(r"gains [^:]*points on LED-24", before)
    for name in ("infoprop-led24", "infoprop-reuters-3"):
        forget_differences(root, name)
    change(root, "infoprop-led24", lambda row: row["mean"] * 100 + 9, lambda row: row["n_features"] == 24)
    change(root, "infoprop-reuters-3", lambda _: 99.9, lambda row: row["n_features"] == 1167)
    after = about(root, "Selection by SVM-Infoprop (infoprop2001)")
    assert re.search(r"gains [^:]*points on Reuters-3", after)
    assert re.search(r"loses [^:]*3\.1 points on LED-24", after)


def test_the_interval_of_a_claim_about_the_difference_comes_before_that_of_two_numbers(root: Path) -> None:
    place = {"metric": "accuracy", "part": "test", "train_size": None}
    path = root / "infoprop-vehicle" / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    forget_differences(root, "infoprop-vehicle")
    run["config"]["expected"] += [
        {
            "id": "infoprop2001.Vehicle.12.acc",
            "kind": "gain",
            "higher": place | {"ranking": "as printed (test leak)", "features": 12},
            "lower": place | {"ranking": "infoprop", "features": "all"},
        }
    ]
    path.write_text(json.dumps(run), encoding="utf-8")
    set_claim(root, "infoprop-vehicle", r"infoprop2001\.Vehicle\.12\.acc", reproduced=-7.5, ci_low=-9.0, ci_high=-6.0)
    results = Results(results_folders(root))
    assert results.difference("infoprop-vehicle", ("as printed (test leak)", 12), ("infoprop", None)) == (-7.5, -9, -6)


def test_a_setting_that_gives_the_printed_gain_of_vehicle_is_told(root: Path) -> None:
    assert "lies outside of what 24 declared settings" in about(root, "printed for Vehicle")
    label = pd.read_csv(root / "why-grid-vehicle" / "curves.csv")["ranking"].iloc[0]
    change(
        root, "why-grid-vehicle", lambda row: 50 + 25 * (row["n_features"] == 12), lambda row: row["ranking"] == label
    )
    assert "lies within what 24 declared settings" in about(root, "printed for Vehicle")


def test_a_leak_that_matters_is_not_called_harmless(root: Path) -> None:
    assert "is harmless" in about(root, "labels of the test part")
    is_own = lambda row: row["ranking"] == "infoprop" and row["n_features"] == 80  # noqa: E731
    change(root, "infoprop-dna", lambda _: 93.0, is_own)
    assert re.search(
        r"changes what is found.*up to \d\.\d points \(DNA with 80", about(root, "labels of the test part")
    )


@pytest.mark.parametrize(("percent", "says"), [(60.0, "does worse than"), (None, "does as well as"), (85.0, "beats")])
def test_relief_does_what_the_curves_say(root: Path, percent: float | None, says: str) -> None:
    own = Results(results_folders(root)).at("infoprop-waveform40", "as printed (test leak)", 10)
    assert own is not None
    level = own.mean if percent is None else percent
    change(
        root,
        "infoprop-waveform40",
        lambda _: level,
        lambda row: (row["ranking"], row["n_features"]) == ("relief-f", 10),
    )
    assert f"RELIEF-F {says} SVM-Infoprop: {level:.1f} %" in about(root, "RELIEF-F")


def test_c_was_not_divided_where_the_printed_one_meets_as_many_numbers(root: Path) -> None:
    column = r"infoprop2001\.t1\.dna\.svm.*"
    set_claim(root, "infoprop-dna", column, verdict="reproduced")
    set_claim(root, "infoprop-dna-literal", column, verdict="differs")
    assert "seems to have divided C" in about(root, "numbers for SVMs")
    set_claim(root, "infoprop-dna-literal", column, verdict="reproduced")
    assert "meets all: dividing C by the number of rows explains no more" in about(root, "numbers for SVMs")


def test_the_place_of_the_papers_methods_follows_their_curves_with_each_machine(root: Path) -> None:
    own = ("infoprop", "gradient-angle")
    for percents, places in (((100.0, 1.0), ("before", "behind")), ((1.0, 100.0), ("behind", "before"))):
        for machine, percent in zip(MACHINES, percents, strict=True):
            for name in SETS:
                experiment = f"beyond-{machine}-{name}"
                change(root, experiment, lambda _, level=percent: level, lambda row: row["ranking"] in own)  # type: ignore[misc]
        clauses = about(root, "methods on 4 data sets").lower().split("with linear machines")
        assert [f"stand {place} the middle rank" in clause for clause, place in zip(clauses, places, strict=True)] == [
            True
        ] * 2
        assert clauses[0].startswith("with gaussian machines")


def test_selection_by_relevance_improves_what_the_curves_say(root: Path) -> None:
    assert "it improves it on none of these" in about(root, "Selection by relevance")
    change(root, "ard-select-wdbc", lambda _: 99.9, lambda row: "most relevant" in row["ranking"])
    assert "it improves it on WDBC" in about(root, "Selection by relevance")


def test_the_bayesian_machine_is_ahead_where_the_curves_say_so(root: Path) -> None:
    for name in EVIDENCE:
        change(root, name, lambda _: 99.0, lambda row: row["ranking"] == "Bayesian ARD SVM")
    assert "on 6 of 6 data sets" in about(root, "Bayesian machine")
    assert "but not on" not in about(root, "Bayesian machine")


def test_kernel_penalised_machines_follow_the_sign_of_the_difference(root: Path) -> None:
    for folder, claim in (("kpd-sonar", r"kpd2018\.claim\.sonar\.rfe"), ("kpd-wdbc", r"kpd2018\.claim\.wbc\.rfe")):
        set_claim(root, folder, claim, reproduced=-2.0, ci_low=-3.0, ci_high=-1.0)
    assert "is less accurate than SVM-RFE" in about(root, "KPD-SVM")
    set_claim(root, "kpd-sonar", r"kpd2018\.claim\.sonar\.rfe", reproduced=2.0, ci_low=1.0, ci_high=3.0)
    assert "does not outperform SVM-RFE on both" in about(root, "KPD-SVM")
    set_claim(root, "kpd-wdbc", r"kpd2018\.claim\.wbc\.rfe", reproduced=2.0, ci_low=1.0, ci_high=3.0)
    assert "is more accurate than SVM-RFE, as the paper says" in about(root, "KPD-SVM")


def test_machines_that_stop_early_are_told_of_where_many_orders_were_drawn(root: Path) -> None:
    folder = root / "why-vehicle"
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    protocol = run["config"]["protocol"]
    protocol.pop("row_order", None)
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert not [each for each in sentences(root) if "Stopped early" in each], "one order says nothing of the steps"
    place = {"ranking": "1,000 steps (test leak)", "metric": "accuracy", "part": "test", "train_size": None}
    claim = {"id": "why.g", "kind": "difference", "claim": "c", "where": "w"}
    claim |= {"higher": place | {"features": 12}, "lower": place | {"features": "all"}}
    run["config"] |= {"protocol": protocol | {"row_order": "drawn"}, "expected": [claim]}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    for word, sd, n, whose in (("inconclusive", 15.0, 0, "a single"), ("reproduced", 1.0, 1, "no")):
        row = {"id": "why.g", "reproduced": 4.0, "sd": sd, "ci_low": 1.0, "ci_high": 7.0, "verdict": word}
        pd.DataFrame([row]).assign(fixed="after").to_csv(folder / "published.csv", index=False)
        said = about(root, "Stopped early")
        assert f"at {n} of 1 stops{' (by up to 4.0 points)' * n}, in the mean" in said
        assert f"deviation of {sd} to {sd} points, so that the printed +20.6 is one that {whose} order may give" in said


@pytest.mark.parametrize(
    "name", ["infoprop-vehicle", "infoprop-dna-literal", "ard-musk", "kpd-wdbc", "why-grid-vehicle"]
)
def test_a_sentence_goes_with_its_experiment(root: Path, name: str) -> None:
    before = sentences(root)
    shutil.rmtree(root / name)
    after = sentences(root)
    assert len(after) < len(before)
    assert not [each for each in after if f"]({name}/)" in each]


def test_the_figure_is_the_same_bytes_each_time_and_has_one_point_for_each_data_set_and_method(root: Path) -> None:
    gains = printed_gains(Results(results_folders(root)))
    assert drawn_gains(gains) == drawn_gains(gains)
    assert len({(gain.experiment, gain.label) for gain in gains}) == len(gains)
    printed = {(gain.experiment, gain.method): gain.printed for gain in gains}
    # Tables 1 and 2 of infoprop2001, and its text on LED: differences of two printed numbers.
    assert printed["infoprop-dna", "infoprop"] == pytest.approx(96.12 - 94.68)
    assert printed["infoprop-vehicle", "infoprop"] == pytest.approx(70.21 - 49.64)
    assert printed["infoprop-led24", "infoprop"] == pytest.approx(73 - 67)


def test_files_are_written_where_there_is_something_to_say_and_foreign_ones_stay(root: Path, tmp_path: Path) -> None:
    folders = results_folders(root)
    assert [path.name for path in write_findings(root, folders)] == ["findings.md", "gains.svg"]
    assert read_findings(root) == sentences(root)
    own = "# My findings\n\n1. One.\n"
    (root / "findings.md").write_text(own, encoding="utf-8")
    assert write_findings(root, folders) == []
    assert (root / "findings.md").read_text(encoding="utf-8") == own
    assert read_findings(root) == []
    empty = tmp_path / "empty"
    empty.mkdir()
    assert write_findings(empty, []) == []
    assert not list(empty.iterdir())
    assert MADE_BY not in own


def test_what_row_orders_change_is_counted_from_the_record(root: Path) -> None:
    folder = root / "tolerance-colon"
    folder.mkdir()
    same = {("certified", 1e-6): [64], ("SVC", 1e-3): [64, 53, 46], ("SVC", 1e-6): [64, 64, 64]}
    same |= {("rfe", 1e-3): [64, 64, 64], ("one row less", 1e-6): [64, 50, 50]}
    rows = [
        {"solver": solver, "tolerance": tolerance, "row_order": number, "n_features": size, "n_same": min(n, size)}
        for (solver, tolerance), counts in same.items()
        for number, n in enumerate(counts)
        for size in (8, 64)
    ]
    pd.DataFrame(rows).to_csv(folder / "row-orders.csv", index=False)
    found = _row_orders(Results([folder])) or ""
    assert "has 11 to 18 of the best 64 genes" in found
    assert "at 1e-6 none, and rfe at 1e-3 none; leaving out one patient changes 14 " in found
