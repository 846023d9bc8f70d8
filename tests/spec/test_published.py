"""Every claim that the documents make stands in a config, or is left out for a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ruamel.yaml import YAML

from tests.helpers.shipped import shipped_card, shipped_experiment, shipped_experiments

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.spec.schema import Config

SETTING = "a setting, which the configs state; no claim"
DATA = "a count of the data: below, those of the cards are held against it"
GRID = "values that are tried: below, those of the configs are held against them"
ROWS = "a count of rows, which the card of the data states and the tests of the cards check"
QUOTED = "a result of other authors, under a protocol of theirs, that the document quotes"
NO_NUMBER = "a line in a figure, of which no number is printed"
GOLD_SETS = ("Ions", "Musk", "Spam", "Spectf", "Splice", "WDBC")
LEFT_OUT = {
    **{f"gold2005.t1.{name}.n": ROWS for name in GOLD_SETS},
    **{f"gold2005.t1.{name}.prev": QUOTED for name in GOLD_SETS},
    "gold2005.hmc.samples": SETTING,
    "gold2005.hmc.production": SETTING,
    "gold2005.hmc.dt": SETTING,
    "gold2005.hmc.l": SETTING,
    "gold2005.nys.m": SETTING,
    "gold2005.nys.p": SETTING,
    "gold2005.init.l": SETTING,
    "gold2005.stop.splice": SETTING,
    "gold2005.stop.other": SETTING,
    "hermes2000.art.n": SETTING,
    "hermes2000.art.d": SETTING,
    "hermes2000.art.means": SETTING,
    "hermes2000.art.noise": SETTING,
    "hermes2000.art.svm": SETTING,
    "hermes2000.art.runs": SETTING,
    "hermes2000.wine.runs": SETTING,
    "hermes2000.wine.split": SETTING,
    "hermes2000.wine.svm": SETTING,
    "hermes2000.wine.full": NO_NUMBER,
    "hermes2000.wdbc.runs": SETTING,
    "infoprop2001.intro.bc": QUOTED,
    "infoprop2001.intro.pt": QUOTED,
    "kpd2018.sonar.pos": DATA,
    "kpd2018.sonar.neg": DATA,
    "kpd2018.sonar.d": DATA,
    "kpd2018.wbc.n": DATA,
    "kpd2018.wbc.d": DATA,
    "kpd2018.grid.sigma": GRID,
    "kpd2018.grid.D": GRID,
    "jebara-slides.weston.runs": SETTING,
    "jebara-slides.comb": "arithmetic: 10 kernels have 252 subsets of 5",
    "jebara-slides.example.grad": "impossible: the slope by a scale vanishes with it, as test_bound_rankings shows",
}
"""The two claims kpd2018.claim.sonar and .wbc about two rivals each are one claim for each rival, as those about the
best of three kernels are one for each other kernel: their ids go on after a dot."""


@pytest.fixture(scope="module")
def configs() -> list[Config]:
    """Every shipped experiment."""
    return [shipped_experiment(name).config for name in shipped_experiments()]


def values_of(published_folder: Path, document: str) -> dict[str, Any]:
    entries = YAML(typ="safe").load(published_folder / f"{document}.yaml")["entries"]
    return {entry["id"]: entry.get("value") for entry in entries}


def expected_ids(configs: list[Config], document: str) -> set[str]:
    of_document = [config for config in configs if config.paper is not None and config.paper.key == document]
    return {claim.id for config in of_document for claim in config.expected}


@pytest.mark.parametrize("document", ["gold2005", "hermes2000", "infoprop2001", "kpd2018", "jebara-slides"])
def test_every_published_claim_is_judged_or_left_out_for_a_reason(
    published_folder: Path, configs: list[Config], document: str
) -> None:
    published, expected = set(values_of(published_folder, document)), expected_ids(configs, document)
    judged = {known for known in published for found in expected if found == known or found.startswith(f"{known}.")}
    assert published - judged == {known for known in LEFT_OUT if known.startswith(f"{document}.")}


def test_the_sets_of_kpd2018_have_the_printed_rows_and_features(published_folder: Path) -> None:
    printed = values_of(published_folder, "kpd2018")
    sonar, wdbc = (shipped_card(name).version(name, None)[1].expected for name in ("sonar", "wdbc"))
    assert sonar.classes == {"mine": printed["kpd2018.sonar.pos"], "rock": printed["kpd2018.sonar.neg"]}
    assert (sonar.features, wdbc.features) == (printed["kpd2018.sonar.d"], printed["kpd2018.wbc.d"])
    assert wdbc.rows == printed["kpd2018.wbc.n"]


@pytest.mark.parametrize("name", ["kpd-sonar-kernels", "kpd-wdbc-kernels", "kpd-sonar-kernels-strengths"])
def test_the_kernels_of_kpd2018_are_tried_at_the_printed_values(published_folder: Path, name: str) -> None:
    printed = values_of(published_folder, "kpd2018")
    config = shipped_experiment(name).config
    tried = {spec.kernel: spec for each in config.classifiers_shown() for spec in each.tune[0].kernels}
    assert list(tried["polynomial"].degree) == printed["kpd2018.grid.D"]
    widths = 2 * np.square(printed["kpd2018.grid.sigma"])  # theta = 2 sigma^2
    for kernel in ("gaussian", "laplace"):
        np.testing.assert_allclose(tried[kernel].theta, widths, rtol=1e-12)
