"""The bibliography: another reader finds the same in it, and whatever is cited stands there."""

from __future__ import annotations

import re
from pathlib import Path

import bibtexparser

import fsvm_cli
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.references import BIBLIOGRAPHY_NAME, CITATION_PATTERN, cited_in, in_words, references, without_accents
from fsvm_cli.resources import resource_folder, resource_names

PACKAGE = Path(fsvm_cli.__file__).parent
TEXTS = [*sorted(PACKAGE.rglob("*.py")), *sorted(resource_folder("docs").rglob("*.md")), PACKAGE.parent / "README.md"]


def test_another_reader_of_bibtex_finds_the_same() -> None:
    parser = bibtexparser.bparser.BibTexParser(common_strings=False)
    entries = bibtexparser.loads(
        (resource_folder("docs") / BIBLIOGRAPHY_NAME).read_text(encoding="utf-8"), parser
    ).entries
    assert [entry["ID"] for entry in entries] == list(references())
    for entry, reference in zip(entries, references().values(), strict=True):
        assert reference.title == entry["title"].replace("\\&", "&")
        assert (reference.year, reference.doi) == (entry.get("year", ""), entry.get("doi", ""))
        assert " and ".join(", ".join(author) for author in reference.authors) == entry.get("author", "")
        # A document without authors or year says in a note why.
        assert (reference.authors and reference.year) or reference.note


def test_every_author_and_year_that_is_cited_stands_in_the_bibliography() -> None:
    known = {(without_accents(each.authors[0][0]), each.year) for each in references().values() if each.authors}
    cited = {
        (found["first"], found["year"], path.name)
        for path in TEXTS
        for found in CITATION_PATTERN.finditer(without_accents(path.read_text(encoding="utf-8")))
    }
    assert ("Weston", "2000", "pearson.py") in cited
    assert {each for each in cited if each[:2] not in known} == set()


def test_every_document_of_configs_stands_in_the_bibliography() -> None:
    configs = [(resource_folder("configs") / f"{name}.yaml").read_text("utf-8") for name in resource_names("configs")]
    keys = {key for text in configs for key in re.findall(r"^paper: \{key: ([\w-]+)", text, re.MULTILINE)}
    assert keys == {
        *("hermes2000", "infoprop2001", "gold2005", "kpd2018", "jebara-slides"),
        *("ambroise2002", "guyon2002"),
    }
    assert keys <= set(references())
    assert {method.__name__ for method in ranking_methods().values() if not cited_in(method.__doc__ or "")} == set()


def test_what_a_text_cites_is_found_by_key_title_or_author() -> None:
    text = 'As in kpd2018, "On Kernel-Target\n  Alignment", and Judice and Pires (1994); not xkpd2018 or Gold (2004).'
    assert [each.key for each in cited_in(text)] == ["kpd2018", "cristianini2002", "judice1994"]


def test_a_reference_is_written_out_and_a_key_of_ones_own_stays() -> None:
    assert in_words("fan2005") == (
        'R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working Set Selection Using Second Order Information for Training '
        'Support Vector Machines", Journal of Machine Learning Research 6, 2005, pages 1889-1918.'
    )
    assert in_words("ross2014").endswith("2014, article e87357, doi:10.1371/journal.pone.0087357.")
    assert references()["ross2014"].address == "https://doi.org/10.1371/journal.pone.0087357"
    assert in_words("mine2026") == "mine2026"
