"""Every claim that the documents make stands in a config, or is left out for a reason."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS
from fsvm_cli.ranking.ard import AutomaticRelevance
from fsvm_cli.report.folder import SCORECARD_NAME
from fsvm_cli.resources import resource_names
from fsvm_cli.spec.collection import LoadedCollection
from tests.helpers.shipped import shipped, shipped_card, shipped_experiment, shipped_experiments

if TYPE_CHECKING:
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.schema import Config

RESULTS = Path(__file__).parents[2] / "results"
NOT_JUDGED = RESULTS.parent / "docs" / "not-judged.yaml"
"""What no config judges, with reasons.

The two claims kpd2018.claim.sonar and .wbc about two rivals each are one claim for each rival, as those about the best
of three kernels are one for each other kernel: their ids go on after a dot.
"""


@pytest.fixture(scope="module")
def configs() -> list[Config]:
    """Every shipped experiment."""
    return [shipped_experiment(name).config for name in shipped_experiments()]


def entries_of(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = YAML(typ="safe").load(path)["entries"]
    return entries


def values_of(published_folder: Path, document: str) -> dict[str, Any]:
    return {entry["id"]: entry.get("value") for entry in entries_of(published_folder / f"{document}.yaml")}


def sentences_of(sentences_folder: Path, document: str) -> set[str]:
    entries = entries_of(sentences_folder / "sentences.yaml")
    return {entry["id"] for entry in entries if entry["document"] == document}


def expected_ids(configs: list[Config], document: str) -> set[str]:
    collections = [each.collection for name in resource_names("configs") if is_collection(each := shipped(name))]
    of_document = [each for each in (*configs, *collections) if each.paper is not None and each.paper.key == document]
    return {claim.id for config in of_document for claim in config.expected}


def is_collection(loaded: LoadedConfig | LoadedCollection) -> TypeGuard[LoadedCollection]:
    return isinstance(loaded, LoadedCollection)


def left_out() -> list[str]:
    return [known for each in YAML(typ="safe").load(NOT_JUDGED) for known in each.get("ids", ())]


def quoted() -> dict[str, tuple[str, str]]:
    """Give the sentences that are on no list and that no config judges, each with the reason, by their ids."""
    reasons = YAML(typ="safe").load(NOT_JUDGED)
    found = [(known, (text, each["reason"])) for each in reasons for known, text in each.get("sentences", {}).items()]
    assert len(dict(found)) == len(found), "a sentence is left out for two reasons"
    return dict(found)


FIVE = ["gold2005", "hermes2000", "infoprop2001", "kpd2018", "jebara-slides"]
BEYOND = ["ambroise2002", "guyon2002"]
"""Documents beyond the five, whose values are listed beside the sentences."""
DOCUMENTS = [*FIVE, *BEYOND]


KEPT = [(1, 431), (2, 458), (3, 1167)]
"""Words that are kept of each set of Reuters stories."""


def listed_ids(published_folder: Path, sentences_folder: Path, document: str) -> set[str]:
    """Return the ids of the values and sentences of a document."""
    listed_in = sentences_folder if document in BEYOND else published_folder
    return set(values_of(listed_in, document)) | sentences_of(sentences_folder, document)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_published_claim_is_judged_or_left_out_for_a_reason(
    published_folder: Path, sentences_folder: Path, configs: list[Config], document: str
) -> None:
    published = listed_ids(published_folder, sentences_folder, document)
    expected = expected_ids(configs, document)
    judged = {known for known in published for found in expected if found == known or found.startswith(f"{known}.")}
    assert published - judged == {known for known in left_out() if known.startswith(f"{document}.")}


def test_every_list_of_published_values_is_held_against_the_configs(
    published_folder: Path, sentences_folder: Path
) -> None:
    assert sorted(path.stem for path in published_folder.glob("*.yaml")) == sorted(FIVE)
    assert sorted(path.stem for path in sentences_folder.glob("*.yaml")) == [*BEYOND, "sentences"]
    assert {entry["document"] for entry in entries_of(sentences_folder / "sentences.yaml")} == set(FIVE)
    assert all(known.partition(".")[0] in DOCUMENTS for known in left_out())
    assert len(set(left_out())) == len(left_out()), "an entry is left out for two reasons"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_claim_about_a_printed_number_has_that_number(
    published_folder: Path, sentences_folder: Path, configs: list[Config], document: str
) -> None:
    printed = values_of(sentences_folder if document in BEYOND else published_folder, document)
    checked = 0
    for config in configs:
        for claim in config.expected:
            value = printed.get(claim.id)
            ours = getattr(claim, "published", None)
            if type(value) in (int, float) and isinstance(ours, int | float):
                checked += 1
                # Errors are judged as what accuracy leaves of 100 %, shares as per cents.
                assert np.isclose(ours, [value, 100 - value, 100 * value], rtol=1e-12).any(), (config.title, claim.id)
    assert checked or document in {"hermes2000", "ambroise2002"}, "a document without a number"


def test_the_sets_of_kpd2018_have_the_printed_rows_and_features(published_folder: Path) -> None:
    printed = values_of(published_folder, "kpd2018")
    sonar, wdbc = (shipped_card(name).version(name, None)[1].expected for name in ("sonar", "wdbc"))
    assert sonar.classes == {"mine": printed["kpd2018.sonar.pos"], "rock": printed["kpd2018.sonar.neg"]}
    assert (sonar.features, wdbc.features) == (printed["kpd2018.sonar.d"], printed["kpd2018.wbc.d"])
    assert wdbc.rows == printed["kpd2018.wbc.n"]


def test_the_settings_of_gold2005_are_those_of_its_chain_and_its_ascent(published_folder: Path) -> None:
    printed = {name.removeprefix("gold2005."): value for name, value in values_of(published_folder, "gold2005").items()}
    chain = PAPER_SETTINGS
    assert (chain.n_chains, chain.n_draws) == (1, printed["hmc.production"])
    assert chain.n_warm_up + chain.n_draws == printed["hmc.samples"]
    assert (chain.step, chain.n_steps(chain.step)) == (printed["hmc.dt"], printed["hmc.l"])
    assert not chain.preconditioned
    assert chain.acceptance is None
    for name in ("ionosphere", "musk", "spambase", "spectf", "splice", "wdbc"):
        alternatives = shipped_experiment(f"ard-{name}").config.alternatives
        machine = {each.label: each.classifier for each in alternatives}["Bayesian ARD SVM"].model_dump()
        assert (machine["n_landmarks"], machine["n_eigenvectors"]) == (printed["nys.m"], printed["nys.p"])
        assert machine["stop"] == printed["stop.splice" if name == "splice" else "stop.other"]
    X = np.random.default_rng(0).standard_normal((12, 5))
    start = AutomaticRelevance(max_steps=0, random_state=0).fit(X, X[:, 0] > 0).path_[0].end
    assert printed["init.l"] == "sqrt(d)"
    np.testing.assert_allclose(start.kernel.length_scales, np.sqrt(5))


@pytest.mark.parametrize(
    ("printed_as", "name"),
    [
        ("Ions", "ionosphere"),
        ("Musk", "musk"),
        ("Spam", "spambase"),
        ("Spectf", "spectf"),
        ("Splice", "splice"),
        ("WDBC", "wdbc"),
    ],
)
def test_the_sets_of_gold2005_have_the_printed_rows(published_folder: Path, printed_as: str, name: str) -> None:
    data = shipped_experiment(f"ard-{name}").config.dataset
    expected = shipped_card(name).version(name, data.version)[1].expected
    assert expected.rows == values_of(published_folder, "gold2005")[f"gold2005.t1.{printed_as}.n"]


@pytest.mark.parametrize("name", ["kpd-sonar-kernels", "kpd-wdbc-kernels", "kpd-sonar-kernels-strengths"])
def test_the_kernels_of_kpd2018_are_tried_at_the_printed_values(published_folder: Path, name: str) -> None:
    printed = values_of(published_folder, "kpd2018")
    config = shipped_experiment(name).config
    tried = {spec.kernel: spec for each in config.classifiers_shown() for spec in each.tune[0].kernels}
    assert list(tried["polynomial"].degree) == printed["kpd2018.grid.D"]
    widths = 2 * np.square(printed["kpd2018.grid.sigma"])  # theta = 2 sigma^2
    for kernel in ("gaussian", "laplace"):
        np.testing.assert_allclose(tried[kernel].theta, widths, rtol=1e-12)


def test_what_a_claim_repeats_is_another_claim_of_the_same_document(configs: list[Config]) -> None:
    natures = {claim.id: claim.effective_nature for config in configs for claim in config.expected}
    repeated = {claim.id: claim.repeats for config in configs for claim in config.expected if claim.repeats}
    assert repeated
    for known, original in repeated.items():
        assert natures[original] in {"finding", "order"}, (known, original)
        assert known.partition(".")[0] == original.partition(".")[0]


def test_what_is_left_out_as_arithmetic_is_as_its_reason_says(configs: list[Config]) -> None:
    claims = {claim.id: claim for config in configs for claim in config.expected}
    share = {each: 100 * kept / claims[f"infoprop2001.t5.Reuters-{each}.n_features"].published for each, kept in KEPT}
    assert {each: round(percent, 1) for each, percent in share.items()} == {1: 19.4, 2: 19.5, 3: 14.3}
    first, second = (np.array(claims[f"infoprop2001.cm.{each}.H"].matrix) for each in "ab")
    assert (first[2, 2], first[:, 2].sum()) == (20, 30)
    assert (second[2, 2], second[:, 2].sum()) == (18, 22)
    assert claims["infoprop2001.cm.a.H"].published > claims["infoprop2001.cm.b.H"].published


def test_sentences_that_are_left_out_stand_in_their_documents(papers_folder: Path) -> None:
    documents = {name: " ".join((papers_folder / f"{name}.txt").read_text(encoding="utf-8").split()) for name in FIVE}
    for known, (text, _) in quoted().items():
        assert text in documents[known.partition(".")[0]], known


@pytest.mark.parametrize("document", DOCUMENTS)
def test_sentences_that_are_left_out_are_on_no_list_and_in_no_config(
    published_folder: Path, sentences_folder: Path, configs: list[Config], document: str
) -> None:
    listed = listed_ids(published_folder, sentences_folder, document)
    of_document = {known for known in quoted() if known.startswith(f"{document}.")}
    assert of_document & (listed | expected_ids(configs, document)) == set()


def test_claims_that_a_reason_names_are_claimed(configs: list[Config]) -> None:
    claimed = {claim.id for config in configs for claim in config.expected}
    claimed |= {claim.part_of for config in configs for claim in config.expected if claim.part_of}
    named = {
        name for _, reason in quoted().values() for name in re.findall(r"(?:gold|hermes|infoprop)\d{4}[.\w]+", reason)
    }
    assert named
    assert named <= claimed


def test_numbers_in_reasons_are_those_of_the_committed_tables_and_of_the_print(configs: list[Config]) -> None:
    reasons = {known: reason for known, (_, reason) in quoted().items()}
    names = {"Spam": "spambase", "WDBC": "wdbc", "Ionosphere": "ionosphere"} | {"Musk": "musk", "SPECTF": "spectf"}
    for words, name in (names | {"Splice": "splice"}).items():
        scales = pd.read_csv(RESULTS / f"ard-{name}" / "length-scales.csv").query("ranking == 'Bayesian ARD SVM'")
        relevance = scales["relevance"].sort_values(ascending=False).cumsum() / scales["relevance"].sum()
        share = 100 * (int((relevance < 0.5).sum()) + 1) / len(scales)
        found = re.search(rf"([\d.]+) %(?: of the features)? of {words}", reasons["gold2005.fig3.broad"])
        assert found is not None, words
        assert float(found[1]) == pytest.approx(share, abs=0.05), words
        ascent = pd.read_csv(RESULTS / f"ard-{name}" / "ascent.csv").query("ranking == 'Bayesian ARD SVM'")
        assert ascent["magnitude"].iloc[0] == ascent["magnitude"].max() == 1
        if words == "Splice":
            rises = int((ascent["magnitude"].diff() > 0).sum())
            assert f"{rises} of {len(ascent) - 1} steps rise" in reasons["gold2005.fig1.noisy"]
    claims = {claim.id: claim for config in configs for claim in config.expected}
    counts = {
        part: [claims[f"gold2005.t2.{each}.w{part}.d"].published for each in ("Ions", "Splice", "WDBC")]
        for part in ("0.1", "0.2", "0.5", "0.7")
    }
    for few, many in (("0.1", "0.5"), ("0.2", "0.7")):
        assert all(least >= most for least, most in zip(counts[few], counts[many], strict=True))
        in_words = ["{:.0f}, {:.0f} and {:.0f}".format(*counts[each]) for each in (few, many)]
        assert all(words in reasons["gold2005.t2.as_many"] for words in in_words)
    shares = {
        name.split(".")[2]: claim.published for name, claim in claims.items() if name.endswith(".major_class_pct")
    }
    others = [share for name, share in shares.items() if name not in {"LED", "SAT"}]
    assert (shares["LED"], shares["SAT"], min(others)) == (10, 23.5, 25.77)
    vehicle, led, sat = (claims[f"infoprop2001.t5.{name}.accuracy_pct"].published for name in ("Vehicle", "LED", "SAT"))
    assert vehicle == 49.66
    assert vehicle < min(led, sat)


def test_experiments_ask_about_claims_that_there_are(configs: list[Config]) -> None:
    claimed = {claim.id for config in configs for claim in config.expected if config.why is None}
    claimed |= {claim.part_of for config in configs for claim in config.expected if claim.part_of}
    asked = {known for config in configs for known in config.explains}
    assert asked, "no experiment explains anything"
    assert asked <= claimed


def test_every_miss_is_put_to_another_experiment_or_reading() -> None:
    scorecard = pd.read_csv(RESULTS / SCORECARD_NAME, keep_default_na=False)
    misses = scorecard[scorecard["verdict"] == "differs"].set_index("id")
    assert not misses.empty
    assert {known for known, row in misses.iterrows() if not (row["elsewhere"] or row["readings"])} == set()
