"""The bibliography: what documents are called in configs and docstrings, and what they are."""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsvm_cli.resources import resource_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

BIBLIOGRAPHY_NAME = "papers.bib"

ENTRY_PATTERN = re.compile(r"^@(?P<kind>\w+)\{(?P<key>[\w-]+),\n(?P<fields>.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD_PATTERN = re.compile(r"^  (?P<name>\w+) = \{(?P<value>.*)\},$", re.MULTILINE)
NAME_PATTERN = r"[A-Z][\w'-]*[a-z]"
CITATION_PATTERN = re.compile(
    rf"(?<![\w-])(?P<first>{NAME_PATTERN})"
    rf"(?:(?:, {NAME_PATTERN})*,? (?:and|&) {NAME_PATTERN}| et al\.)? \(?(?P<year>(?:19|20)\d\d)\b"
)
"""First author and year, as in "Weston et al. (2000)"; the capitals of a conference are no author."""


@dataclass(frozen=True)
class Reference:
    """One document.

    Attributes
    ----------
    key : str
        What configs, docstrings and tables call it.
    authors : tuple of (str, str)
        Family and given names; none where they are not known.
    title : str
    venue : str
        Journal with volume and number, proceedings, publisher, or what else made it public.
    pages, year, doi : str
        Empty where there is none.
    note : str
        Missing or uncertain bibliographic data.
    """

    key: str
    authors: tuple[tuple[str, str], ...]
    title: str
    venue: str
    pages: str
    year: str
    doi: str
    note: str

    @property
    def address(self) -> str:
        """Where it can be found; empty without a DOI."""
        return f"https://doi.org/{self.doi}" if self.doi else ""

    def in_words(self) -> str:
        """Write it as a list of references does, in one line."""
        names = [f"{_initials(given)} {family}" for family, given in self.authors]
        authors = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        pages = f"{'pages' if '-' in self.pages else 'article'} {self.pages}" if self.pages else ""
        doi = f"doi:{self.doi}" if self.doi else ""
        return ", ".join(filter(None, [authors, f'"{self.title}"', self.venue, self.year, pages, doi])) + "."


@functools.cache
def references() -> Mapping[str, Reference]:
    """Read the bibliography: its documents by their keys, in the order of the file."""
    text = (resource_folder("docs") / BIBLIOGRAPHY_NAME).read_text(encoding="utf-8")
    return {entry["key"]: _reference(entry["key"], entry["fields"]) for entry in ENTRY_PATTERN.finditer(text)}


def in_words(key: str) -> str:
    """Return the reference of a key; a key that is not in the bibliography is returned as it is."""
    return references()[key].in_words() if key in references() else key


def cited_in(text: str) -> list[Reference]:
    """List the references that a text names, by key, by title, or by first author and year.

    Parameters
    ----------
    text : str
        A docstring, for example.

    Returns
    -------
    list of Reference
        In the order of the bibliography.
    """
    plain = without_accents(text)
    named = {(cited["first"], cited["year"]) for cited in CITATION_PATTERN.finditer(plain)}
    return [each for each in references().values() if _is_named(each, plain, named)]


def without_accents(text: str) -> str:
    """Return a text as one line, without accents."""
    letters = unicodedata.normalize("NFKD", " ".join(text.split()))
    return "".join(each for each in letters if not unicodedata.combining(each))


def _is_named(reference: Reference, plain: str, named: Collection[tuple[str, str]]) -> bool:
    first = without_accents(reference.authors[0][0]) if reference.authors else ""
    by_key = re.search(rf"(?<![\w-]){re.escape(reference.key)}(?![\w-])", plain)
    return bool(by_key) or (first, reference.year) in named or without_accents(reference.title).lower() in plain.lower()


def _reference(key: str, text: str) -> Reference:
    fields = {field["name"]: field["value"].replace(r"\&", "&") for field in FIELD_PATTERN.finditer(text)}
    authors = tuple(
        (family, given)
        for family, _, given in (name.partition(", ") for name in fields.get("author", "").split(" and ") if name)
    )
    volume = fields.get("volume", "") + (f"({fields['number']})" if "volume" in fields and "number" in fields else "")
    where = next((fields[name] for name in ("journal", "booktitle", "publisher", "howpublished") if name in fields), "")
    if "institution" in fields:
        where = f"technical report {fields['number']}, {fields['institution']}"
    venue = f"{where} {volume}".strip()
    of_fields = (fields.get(name, "") for name in ("pages", "year", "doi", "note"))
    return Reference(key, authors, fields["title"], venue, *of_fields)


def _initials(given: str) -> str:
    """Shorten given names to their first letters: "Jean-Paul M." to "J.-P. M."."""
    return re.sub(r"(\w)[\wÀ-ÿ']*\.?", r"\1.", given)
