"""Reuters-21578: from SGML to the occurrence of words in the news stories of a few topics."""

from __future__ import annotations

import html
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

MAX_NUMERIC_SHARE = 0.3
MIN_OCCURRENCES = 3

Split = Literal["any", "modapte"]
Vocabulary = Literal["whole", "training"]
TextPart = Literal["story", "body"]
SeveralTopics = Literal["leave-out", "copy-each", "first"]

WORD_PATTERN = "[a-z]+"
TOPICS_PATTERN = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
TOPIC_PATTERN = re.compile(r"<D>(.*?)</D>", re.DOTALL)
TEXT_PATTERN = re.compile(r"<TEXT[^>]*>(.*?)</TEXT>", re.DOTALL)
# Title and body of a story are read; date line and author carry no information on the topic.
BYLINE_PATTERN = re.compile(r"<(DATELINE|AUTHOR)>.*?</\1>", re.DOTALL)
BODY_PATTERN = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
TAG_PATTERN = re.compile(r"</?[A-Z]+[^>]*>")


@dataclass(frozen=True)
class Story:
    """One news story: where Lewis put it, what it is about, and all that it holds, with the marks of SGML."""

    lewis_split: str
    has_topics: bool
    topics: tuple[str, ...]
    content: str

    def text(self, part: TextPart) -> str:
        """Read a part, without the marks; that takes most of the time, and of few stories is it wanted."""
        whole = TEXT_PATTERN.search(self.content)
        marked = whole[1] if whole else ""
        if part == "body":
            body = BODY_PATTERN.search(marked)
            marked = body[1] if body else ""
        return html.unescape(TAG_PATTERN.sub(" ", BYLINE_PATTERN.sub(" ", marked)))


def read_reuters(
    paths: Sequence[Path],
    *,
    topics: Collection[str],
    split: Split,
    vocabulary: Vocabulary,
    text: TextPart = "story",
    several: SeveralTopics = "leave-out",
) -> list[Rows]:
    """Read the stories that have one of `topics`, as Sindhwani et al. (2001) prepared them.

    Stories of which more than 30 % of the runs of letters and digits are numbers are left out. Words are runs of
    letters in lower case, without those of scikit-learn's English stop list; words that occur fewer than 3 times are
    left out.

    Parameters
    ----------
    paths : sequence of Path
        The files ``reut2-000.sgm`` to ``reut2-021.sgm``.
    topics : collection of str
        The classes.
    split : {"any", "modapte"}
        All stories, for random splits; or those that ModApte uses (marked by topics; TRAIN and TEST), in its two
        parts.
    vocabulary : {"whole", "training"}
        Where occurrences are counted: in all stories, test stories included, as in the paper; or in the training
        part only.
    text : {"story", "body"}
        What is read: title and body, or the body alone; stories without it are left out.
    several : {"leave-out", "copy-each", "first"}
        What becomes of stories of several of the topics: nothing, a row of each of these topics, or one row of the
        first of them that the story lists.

    Returns
    -------
    list of Rows
        All stories, or the training and the test part. X is CSR of zeros and ones: whether a word occurs. Where
        random splits are to choose their own words, it holds the numbers of occurrences instead, and
        `least_occurrences` is set: a word that is too rare in all stories is too rare in each training part. Labels
        are topics.

    Raises
    ------
    DataError
        If the files hold no such stories.
    """
    parts: list[list[tuple[str, str]]] = [[], []]
    for story in _stories(paths):
        part = _part(story, split)
        chosen = _counted_topics(story, topics, several)
        if part is not None and chosen:
            words = story.text(text)
            if words.strip() and not _is_numeric(words):
                parts[part] += [(topic, words) for topic in chosen]
    parts = [part for part in parts if part]
    if not parts:
        raise DataError(f"{paths[0].parent}: no stories about {', '.join(topics)}")
    texts = [[read for _, read in part] for part in parts]
    n_counted = len(parts) if vocabulary == "whole" else 1
    matrices, frequent = _counts_of_frequent_words(texts[:n_counted], texts[n_counted:])
    if not frequent:
        raise DataError(f"{paths[0].parent}: no word occurs {MIN_OCCURRENCES} times")
    is_open = split == "any" and vocabulary == "training"
    if not is_open:
        for X in matrices:
            X.data[:] = 1.0
    return [
        Rows(X, [topic for topic, _ in part], frequent, MIN_OCCURRENCES if is_open else None)
        for X, part in zip(matrices, parts, strict=True)
    ]


def _counts_of_frequent_words(
    counted: Sequence[list[str]], others: Sequence[list[str]]
) -> tuple[list[sp.csr_array], tuple[str, ...]]:
    """Count the words that occur often enough in the first texts, in these and in others; words as in the alphabet."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - slow to import, and seldom needed

    vectorizer = CountVectorizer(token_pattern=WORD_PATTERN, stop_words="english", dtype=np.float64)
    try:
        counts = sp.csr_array(vectorizer.fit_transform(itertools.chain.from_iterable(counted)))
    except ValueError:  # what scikit-learn says of texts without words
        return [], ()
    kept = np.flatnonzero(counts.sum(axis=0) >= MIN_OCCURRENCES)
    ends = np.cumsum([len(part) for part in counted])[:-1]
    matrices = [counts[rows][:, kept] for rows in np.split(np.arange(counts.shape[0]), ends)]
    matrices += [sp.csr_array(vectorizer.transform(part))[:, kept] for part in others]
    return matrices, tuple(vectorizer.get_feature_names_out()[kept].tolist())


def _stories(paths: Sequence[Path]) -> Iterator[Story]:
    for path in paths:
        # reut2-017.sgm has bytes that are not UTF-8.
        for story in path.read_text(encoding="latin-1").split("<REUTERS ")[1:]:
            opening, _, rest = story.partition(">")
            content, end, _ = rest.partition("</REUTERS>")
            if not end:
                continue
            attributes = dict(re.findall(r'(\w+)="([^"]*)"', opening))
            topics = TOPICS_PATTERN.search(content)
            yield Story(
                lewis_split=attributes.get("LEWISSPLIT", ""),
                has_topics=attributes.get("TOPICS") == "YES",
                topics=tuple(TOPIC_PATTERN.findall(topics[1])) if topics else (),
                content=content,
            )


def _counted_topics(story: Story, topics: Collection[str], several: SeveralTopics) -> list[str]:
    """List the topics under which a story has a row."""
    chosen = [topic for topic in story.topics if topic in topics]
    if len(chosen) <= 1 or several == "copy-each":
        return chosen
    return chosen[:1] if several == "first" else []


def _part(story: Story, split: Split) -> int | None:
    if split == "any":
        return 0
    return {"TRAIN": 0, "TEST": 1}.get(story.lewis_split) if story.has_topics else None


def _is_numeric(text: str) -> bool:
    tokens: list[str] = re.findall(r"\w+", text)
    return sum(map(str.isdigit, tokens)) > MAX_NUMERIC_SHARE * len(tokens)
