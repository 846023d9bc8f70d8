"""`fsvm verify`: results that fit together, and every way in which they may not."""

from __future__ import annotations

import dataclasses
import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.experiment.outcome import keep_outcome, stored_outcome
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.store.store import Store
from tests.helpers.calling import fsvm_here, write_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.helpers.calling import Answer

    Call = Callable[..., Answer]

pytestmark = pytest.mark.usefixtures("plain_figures")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, plain_figures: None) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    answer = fsvm_here("run", write_config(folder), "--jobs", "1", "--out", folder / "results")
    assert answer.code == 0, answer.err
    return folder / "results" / "small"


@pytest.fixture
def results(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "results" / "small")
    return tmp_path / "results" / "small"


def test_results_that_fit_together(call: Call, results: Path) -> None:
    answer = call("verify", results, "--rerun", "3")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        f"{results}: 4 of 4 planned trials are stored",
        f"{results}: every table and figure is what the stored trials lead to",
        f"{results}: repeated trials: 3 identical, 0 within rounding",
    ]


def test_figures_that_were_drawn_in_one_format_alone(call: Call, results: Path) -> None:
    assert list(results.glob("*.png"))
    for path in results.glob("*.png"):
        path.unlink()
    assert call("verify", results).code == 0


def test_a_table_that_was_edited_and_a_figure_that_is_missing(call: Call, results: Path) -> None:
    table = (results / "curves.csv").read_text()
    (results / "curves.csv").write_text(table.replace("average", "averige"))
    (results / "scores.svg").unlink()
    answer = call("verify", results)
    assert answer.code == 3
    assert f"{results}: curves.csv is not what the stored results lead to" in answer.err
    assert f"{results}: scores.svg is missing" in answer.err


def test_a_stored_outcome_that_does_not_repeat(call: Call, results: Path) -> None:
    with Store(results, writable=True) as store:
        (key, _), *_ = store.covered_sizes()
        outcome = stored_outcome(store, key)
        assert outcome is not None
        changed = np.full_like(outcome.test, outcome.test.sum() // outcome.test.size)
        keep_outcome(store, key, dataclasses.replace(outcome, test=changed).packed())
    answer = call("verify", results, "--rerun", "4")
    assert answer.code == 3
    assert "with 30 training rows leads to other numbers when it is repeated" in answer.err
    assert "repeated trials: 3 identical, 0 within rounding" in answer.out


def test_a_config_that_the_store_does_not_belong_to(call: Call, results: Path) -> None:
    run = json.loads((results / "run.json").read_text())
    run["config"]["classifier"]["C"] = 7.0
    (results / "run.json").write_text(json.dumps(run))
    answer = call("verify", results)
    assert answer.code == 3
    assert "the store holds no trial of this config, data and code" in answer.err


def test_data_that_have_changed(call: Call, results: Path) -> None:
    run = json.loads((results / "run.json").read_text())
    run["data"]["sha256"] = "0" * 64
    (results / "run.json").write_text(json.dumps(run))
    answer = call("verify", results)
    assert answer.code == 3
    assert f"{results}: data.sha256 was {'0' * 64} and is " in answer.err


def test_a_method_that_has_changed(call: Call, results: Path, edit_code: Callable[[str], None]) -> None:
    edit_code("fsvm_cli.ranking.random_order.RandomOrder")
    answer = call("verify", results)
    assert answer.code == 3
    assert "no trial is stored of all compared methods; it is 1 of 2 that lack trials" in answer.err
    assert "the store holds no trial" not in answer.err
    assert "random: changed since it was run: the code of fsvm_cli.ranking.random_order.RandomOrder" in answer.err
    assert "average-separation:" not in answer.err


def test_a_change_that_keeps_the_numbers_is_adopted(
    call: Call, results: Path, edit_code: Callable[[str], None]
) -> None:
    edit_code("fsvm_cli.ranking.random_order.RandomOrder")
    answer = call("verify", results, "--adopt", "2", "--seed", "3", "--jobs", "1")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        "--adopt draws its trials by --seed 3",
        f"{results}: random: adopted after 2 of 4 trials were repeated",
        f"{results}: 4 of 4 planned trials are stored",
        f"{results}: every table and figure is what the stored trials lead to",
    ]
    noted = json.loads((results / "run.json").read_text())["adopted"]
    assert noted == {"random": {"repeated": 2, "of": 4, "seed": 3}}
    page = call("report", results)
    assert page.code == 0, page.err
    assert "adopted after 2 of 4 trials were repeated" in (results / "index.html").read_text()
    again = call("verify", results, "--adopt", "2")
    assert again.code == 0, again.err
    assert f"{results}: nothing to adopt" in again.out


def test_a_change_of_the_numbers_is_not_adopted(
    call: Call, results: Path, edit_code: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    method = ranking_methods()["random"]
    scores = method._scores
    monkeypatch.setattr(method, "_scores", lambda *args: -scores(*args))
    edit_code("fsvm_cli.ranking.random_order.RandomOrder")
    answer = call("verify", results, "--adopt", "2", "--seed", "3", "--jobs", "1")
    assert answer.code == 3
    assert "random: 2 of 2 repeated trials lead to other numbers, the first of them split " in answer.err
    assert "nothing of it was adopted, and 'fsvm run' computes it anew" in answer.err
    assert "adopted" not in json.loads((results / "run.json").read_text())


def test_another_package_is_told_and_is_no_mistake(call: Call, results: Path) -> None:
    run = json.loads((results / "run.json").read_text())
    run["packages"]["pandas"] = "0.1"
    (results / "run.json").write_text(json.dumps(run))
    answer = call("verify", results)
    assert answer.code == 0, answer.err
    assert "packages.pandas was 0.1 and is " in answer.out


def test_a_clone_without_stores_is_told_before_any_data_are_asked_for(
    call: Call, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object, **__: object) -> None:
        raise AssertionError("data were asked for")

    shutil.copytree(results, results.parent / "other")
    (results / "trials.sqlite").unlink()
    with monkeypatch.context() as patch:
        patch.setattr("fsvm_cli.experiment.plan.open_source", ask)
        for folder, words in ((results, ""), (results.parent, " for 2 of 2 experiments (other, small)")):
            (results.parent / "other" / "trials.sqlite").unlink(missing_ok=True)
            answer = call("verify", folder)
            assert answer.code == 3
            assert answer.err == f"fsvm: {folder}: no stored trials here{words}; 'fsvm run' makes them\n"


def test_what_has_a_store_is_verified_beside_what_has_none(call: Call, results: Path) -> None:
    shutil.copytree(results, results.parent / "other")
    (results / "trials.sqlite").unlink()
    answer = call("verify", results.parent)
    assert answer.code == 3
    assert "no stored trials here for 1 of 2 experiments (small)" in answer.err
    assert "other: every table and figure is what the stored trials lead to" in answer.out


def test_no_results_and_no_store(call: Call, results: Path, tmp_path: Path) -> None:
    assert call("verify", tmp_path / "nothing").code == 3
    (results / "trials.sqlite").unlink()
    answer = call("verify", results)
    assert answer.code == 3
    assert "no stored trials here; 'fsvm run' makes them" in answer.err
