"""Loading experiments and collections together, and the JSON Schema of configs.

Keys without a description in their model take it from the docstrings of methods and kernels.
"""

from __future__ import annotations

import fnmatch
import inspect
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from fsvm_cli.config_io import validate
from fsvm_cli.console import brief
from fsvm_cli.data.messages import nearest
from fsvm_cli.errors import UsageError
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.files import is_file
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.collection import EXPERIMENTS_KEY, Collection, LoadedCollection
from fsvm_cli.spec.config import CLAIMS_KEY, EXTENDS_KEY, config_in, read_config
from fsvm_cli.spec.kernels import SCALE
from fsvm_cli.spec.schema import Config
from fsvm_cli.svm.kernels.registry import KERNELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.config_io import Document
    from fsvm_cli.spec.config import LoadedConfig

DOCSTRING_SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", re.DOTALL | re.MULTILINE)
DOCSTRING_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : .*\n(?P<text>(?:(?:    .*)?\n?)*)", re.MULTILINE)

SHARED_DESCRIPTIONS: Mapping[str, str] = {
    "at": "Place on a curve that the number stands at.",
    "claim": "Identifier of the claim.",
    "classifier": "The classifier, as in an experiment.",
    "experiment": "Name of the experiment.",
    "fact": "The property of the problem that the number states.",
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
    "type": "Kind of the classifier.",
    "unit": "Whether the number counts features or is a share of them.",
}
"""Descriptions of keys that have the same meaning in every model."""


def parameters_described(docstring: str) -> dict[str, str]:
    """Parse the descriptions of parameters and attributes in a numpydoc docstring, by name, in one line each."""
    text = inspect.cleandoc(docstring) + "\n"
    return {
        name: " ".join(entry["text"].split())
        for section in DOCSTRING_SECTION.finditer(text)
        for entry in DOCSTRING_ENTRY.finditer(section[1])
        for name in entry["names"].split(", ")
        if entry["text"].strip()
    }


def describe(definitions: dict[str, Any]) -> None:
    """Add descriptions to the properties of the models in a JSON Schema that have none.

    Parameters
    ----------
    definitions : dict of str to dict
        The ``$defs`` of the schema; they are changed.
    """
    known = {name: parameters_described(inspect.getdoc(source) or "") for name, source in _sources()}
    for name, model in definitions.items():
        for key, schema in model.get("properties", {}).items():
            if "description" not in schema and (text := _description(name, key, known)):
                schema["description"] = text


def _sources() -> Iterator[tuple[str, Any]]:
    """Yield the classes that models are generated from, with the names of the models."""
    for method in ranking_methods().values():
        yield f"{method.__name__}Ranking", method
    for extractor in extraction_methods().values():
        yield f"{extractor.__name__}Extraction", extractor
    for kernel in KERNELS.values():
        for suffix in ("Kernel", "Classifier", "Candidates"):
            yield f"{kernel.__name__}{suffix}", kernel
    # The classifiers have the parameters of the ranking by the same ascent.
    for model in ("Bayesian", "BayesianMedian"):
        yield model, ranking_methods()["ard"]


def _description(model: str, key: str, known: Mapping[str, Mapping[str, str]]) -> str:
    if key == "kernel":
        return "Name of the kernel."
    text = known.get(model, {}).get(key) or SHARED_DESCRIPTIONS.get(key, "")
    if key == "theta" and text:
        text += f" {SCALE}: the sum of the columns' variances (laplace: standard deviations) in the training part."
    return f"Values to try. {text}" if model.endswith("Candidates") and text else text


def load_any(
    name_or_path: str, overrides: Sequence[str] = (), n_splits: int | None = None
) -> LoadedConfig | LoadedCollection:
    """Load and validate one config, of an experiment or a collection.

    Parameters
    ----------
    name_or_path : str
        Path of a YAML file, or name of a built-in config.
    overrides : sequence of str
        ``KEY=VALUE`` with dotted keys, applied in order; in a collection, to each of its experiments.
    n_splits : int, optional
        Another number of random splits.

    Raises
    ------
    UsageError
        Listing all mistakes of the file with their positions.
    """
    path, document = read_config(name_or_path)
    if EXPERIMENTS_KEY not in document.content:
        return config_in(path, document, overrides, n_splits)
    collection = validate(document, Collection)
    members = []
    for index, name in enumerate(collection.experiments):
        member = config_in(*_member(document, index, path.parent / f"{name}.yaml"), overrides, n_splits)
        if not any(fnmatch.fnmatchcase(claim.id, collection.claims) for claim in member.config.expected):
            ids = nearest(collection.claims, [claim.id for claim in member.config.expected])
            message = f"no claim of {name} has an id like '{brief(collection.claims)}'; {ids}"
            raise document.error((EXPERIMENTS_KEY, index), message)
        members.append(member)
    _refuse_claims_about_others(document, collection, members)
    changed = {key: value for member in members for key, value in member.document.overrides.items()}
    return LoadedCollection(path.stem, path.parent, collection, changed, tuple(members))


def _refuse_claims_about_others(document: Document, collection: Collection, members: Sequence[LoadedConfig]) -> None:
    """Refuse claims of a collection about experiments and claims that it does not collect."""
    known = {
        member.name: [claim.id for claim in member.config.expected if fnmatch.fnmatchcase(claim.id, collection.claims)]
        for member in members
    }
    for index, claim in enumerate(collection.expected):
        for keys, found in claim.found_elsewhere():
            here = ("expected", index, *keys)
            if found.experiment not in known:
                others = nearest(found.experiment, sorted(known))
                raise document.error(here, f"{brief(found.experiment)} is none of the experiments; {others}")
            if found.claim not in known[found.experiment]:
                ids = nearest(found.claim, known[found.experiment])
                message = f"no collected claim of {found.experiment} has the id '{brief(found.claim)}'; {ids}"
                raise document.error(here, message)


def _member(document: Document, index: int, beside: Path) -> tuple[Path, Document]:
    """Read the config of one of a collection's experiments: beside the collection, or a built-in one."""
    here = (EXPERIMENTS_KEY, index)
    try:
        path, member = read_config(str(beside) if is_file(beside) else beside.stem)
    except UsageError as error:
        raise document.error(here, str(error)) from error
    if EXPERIMENTS_KEY in member.content:
        raise document.error(here, f"{beside.stem} is a collection itself; list its experiments here")
    return path, member


def load_all(
    names_or_paths: Sequence[str], overrides: Sequence[str] = (), n_splits: int | None = None
) -> tuple[list[LoadedConfig], list[LoadedCollection]]:
    """Load several configs, each of which will have a folder of its own.

    Returns
    -------
    experiments : list of LoadedConfig
        Those that are named, then the further ones that collections need.
    collections : list of LoadedCollection

    Raises
    ------
    UsageError
        Listing all mistakes of all of them; or if two have the same name.
    """
    loaded: list[LoadedConfig | LoadedCollection] = []
    issues: list[str] = []
    for name_or_path in names_or_paths:
        try:
            loaded.append(load_any(name_or_path, overrides, n_splits))
        except UsageError as error:
            issues.append(str(error))
    if issues:
        raise UsageError("\n".join(issues))
    collections = [each for each in loaded if isinstance(each, LoadedCollection)]
    experiments = [each for each in loaded if not isinstance(each, LoadedCollection)]
    known = {_file(each) for each in experiments}
    for member in (member for collection in collections for member in collection.members):
        if _file(member) not in known:
            known.add(_file(member))
            experiments.append(member)
    names = [*(each.name for each in experiments), *(each.name for each in collections)]
    # File systems of Windows and macOS ignore case.
    for name, count in Counter(map(str.casefold, names)).items():
        if count > 1:
            raise UsageError(f"{count} configs are called '{name}' and would share a folder; rename, or run them apart")
    return experiments, collections


def _file(loaded: LoadedConfig) -> Path:
    return loaded.folder.resolve() / loaded.name


def json_schema() -> dict[str, Any]:
    """JSON Schema of a config, for editors: a collection lists experiments, a variant extends another config."""
    schema = TypeAdapter(Config | Collection).json_schema()
    describe(schema["$defs"])
    experiment, collection = schema.pop("anyOf")
    schema["$defs"]["Variant"] = _variant_of(schema["$defs"]["Config"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fsvm experiment",
        **schema,
        "if": {"required": [EXPERIMENTS_KEY]},
        "then": collection,
        "else": {"if": {"required": [EXTENDS_KEY]}, "then": {"$ref": "#/$defs/Variant"}, "else": experiment},
    }


def _variant_of(experiment: dict[str, Any]) -> dict[str, Any]:
    """Make the schema of a config that extends one: any part of an experiment, in mappings too."""
    part_of_it = {"type": ["object", "null"]}
    properties = {
        key: {"anyOf": [value, part_of_it], "description": value["description"]}
        for key, value in experiment["properties"].items()
    }
    claims = experiment["properties"][CLAIMS_KEY]
    properties[CLAIMS_KEY] = claims | {"items": {"anyOf": [claims["items"], {"type": "string"}]}}
    return {
        "type": "object",
        "description": "An experiment that states only what differs from another one.",
        "properties": {
            EXTENDS_KEY: {
                "type": "string",
                "description": "The config that is extended: a file beside this one, or a name.",
            }
        }
        | properties,
        "required": [EXTENDS_KEY],
        "additionalProperties": False,
    }
