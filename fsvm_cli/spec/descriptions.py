"""What each key of a config means, where its model does not say it: from the docstrings of methods and kernels."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.svm.kernels.registry import KERNELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : .*\n(?P<text>(?:(?:    .*)?\n?)*)", re.MULTILINE)

OF_ANY: Mapping[str, str] = {
    "at": "Place on a curve that the number stands at.",
    "claim": "Identifier of the claim.",
    "classifier": "The classifier, as in an experiment.",
    "experiment": "Name of the experiment.",
    "fact": "What the number says of the problem.",
    "higher": "Place on the curve that the document puts higher.",
    "kind": "Kind of the claim, which decides how it is judged.",
    "larger": "The difference that is larger.",
    "lower": "Place on the curve that the document puts lower.",
    "method": "Name of the method.",
    "metric": "Figure of merit.",
    "one": "One of the two places that are alike.",
    "other": "The other of the two places that are alike.",
    "part": "Part of the data, test or training, that is evaluated.",
    "protocol": "How the data are divided, and how often.",
    "quantity": "What is computed from the printed matrix.",
    "ranking": "Label of the ranking that the claim is about.",
    "smaller": "The difference that is smaller.",
    "type": "What tells this classifier from the others.",
    "unit": "Whether the number counts features or is a share of them.",
}
"""Of keys that mean the same wherever they stand."""


def parameters_described(docstring: str) -> dict[str, str]:
    """Read what a docstring in numpydoc says of parameters or attributes, by name, in one line each."""
    text = inspect.cleandoc(docstring) + "\n"
    return {
        name: " ".join(entry["text"].split())
        for section in SECTION.finditer(text)
        for entry in ENTRY.finditer(section[1])
        for name in entry["names"].split(", ")
        if entry["text"].strip()
    }


def describe(definitions: dict[str, Any]) -> None:
    """Give each property of the models of a JSON Schema a description, where it has none.

    Parameters
    ----------
    definitions : dict of str to dict
        The ``$defs`` of the schema; they are changed.
    """
    known = {name: parameters_described(inspect.getdoc(source) or "") for name, source in _sources()}
    for name, model in definitions.items():
        for key, schema in model.get("properties", {}).items():
            if "description" not in schema and (words := _words(name, key, known)):
                schema["description"] = words


def _sources() -> Iterator[tuple[str, Any]]:
    """Yield the classes that models are made from, by the names of the models."""
    for method in ranking_methods().values():
        yield f"{method.__name__}Ranking", method
    for extractor in extraction_methods().values():
        yield f"{extractor.__name__}Extraction", extractor
    for kernel in KERNELS.values():
        for suffix in ("Kernel", "Classifier", "Candidates"):
            yield f"{kernel.__name__}{suffix}", kernel
    # The classifier has the parameters of the ranking by the same ascent.
    yield "Bayesian", ranking_methods()["ard"]


def _words(model: str, key: str, known: Mapping[str, Mapping[str, str]]) -> str:
    if key == "kernel":
        return "Name of the kernel."
    words = known.get(model, {}).get(key) or OF_ANY.get(key, "")
    return f"Values to try. {words}" if model.endswith("Candidates") and words else words
