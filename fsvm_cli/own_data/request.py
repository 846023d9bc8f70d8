"""The request for a ranking outside any experiment: a method, its parameters, its machine and the scaling."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import create_model

from fsvm_cli.config_io import Document, StrictModel, as_in_documents, validate, with_override
from fsvm_cli.data.scaling import ScalingName
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.ranking.registry import SYNONYMS, ranking_method, ranking_methods
from fsvm_cli.validation_errors import in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fsvm_cli.data.dataset import Matrix
    from fsvm_cli.ranking.base import Ranker
    from fsvm_cli.spec.classifiers import Classifier

SEED = 0
EXPERIMENT_ONLY_KEYS = {"tune", "nystroem"}
"""Keys of a classifier that apply to experiments only."""

DEFAULT_CLASSIFIER = {"kernel": "linear", "C": 1.0}


class _MethodByName(StrictModel):
    """The name of a method, and what other programs call it."""

    synonyms = SYNONYMS


@dataclass(frozen=True)
class RankingRequest:
    """How to rank.

    Attributes
    ----------
    method : type
        The estimator class.
    parameters : dict of str to value
        Of the method, by name.
    classifier : Classifier or None
        The machine of a method that trains one; the method's own where None.
    scaling : str
    remarks : tuple of str
        How ambiguous parameters are interpreted.
    """

    method: type[Ranker]
    parameters: dict[str, Any]
    classifier: Classifier | None
    scaling: ScalingName
    remarks: tuple[str, ...] = ()

    def estimator(self, class_names: Sequence[str], X: Matrix) -> tuple[Ranker, tuple[str, ...]]:
        """Build the method's estimator for these classes and samples; return also remarks on chosen parameters."""
        ranking_arguments: dict[str, Any] = {}
        chosen: tuple[str, ...] = ()
        if self.classifier is not None:
            machine = self.classifier.machine(class_names).scaled_to(X)
            if isinstance(self.classifier.kernel_or_name(), str) and isinstance(X, np.ndarray):
                chosen = (_in_proportion(machine.kernel),)
            ranking_arguments = machine.ranking_arguments()
        ranking_arguments["random_state"] = int(random_stream(SEED, "ranking", self.method.method).integers(2**31))
        taken = {name: ranking_arguments[name] for name in ranking_arguments.keys() & self.method.passed_down}
        return self.method(**self.parameters, **taken), chosen


def _in_proportion(kernel: Any) -> str:
    why = "in proportion to the distances between the rows; theta=... says otherwise"
    return f"theta of the {kernel.name} kernel is {kernel.theta:.4g}, {why}"


def ranking_request(
    method: str, scaling: str, assignments: Collection[str] = (), parameters: Mapping[str, Any] | None = None
) -> RankingRequest:
    """Build a request from the options of the command line, or from the arguments of a caller.

    Parameters
    ----------
    method : str
    scaling : str
    assignments : collection of str
        ``KEY=VALUE``; KEY is a parameter of the method or of the machine (kernel, C, ...).
    parameters : mapping of str to value, optional
        The same as values, of a caller in Python.

    Raises
    ------
    UsageError
        Listing every error, with the allowed values.
    """
    known = ranking_method(method)
    content = {"ranking": {"method": method}, "scaling": scaling}
    options = "--" if parameters is None else ""  # a caller in Python gives arguments
    document = Document(f"{options}method", content, {("scaling",): f"{options}scaling"})
    section_of = dict.fromkeys(known.parameters_model().model_fields if known else (), "ranking")
    machines = _machines_of(known) if assignments or parameters else None
    section_of = dict.fromkeys(machine_keys(known) if known and machines else (), "classifier") | section_of
    for key, value in as_in_documents(dict(parameters or {})).items():
        document = _with_machine(document, _section(key, f"{key}={in_words(value)}", method, section_of))
        section = document.content[section_of[key]] | {key: value}
        positions = document.positions | {(section_of[key], key): key}
        content = document.content | {section_of[key]: section}
        document = dataclasses.replace(document, content=content, positions=positions)
    for assignment in assignments:
        key = assignment.partition("=")[0].strip()
        document = _with_machine(document, _section(key, f"--set {assignment}", method, section_of))
        document = with_override(document, f"{section_of[key]}.{assignment.strip()}")
        as_written = {(section_of[key], key): f"--set {assignment}"}
        document = dataclasses.replace(document, positions=document.positions | as_written)
    document, remarks = _with_own_name_of_kernel(document)
    found: Any = validate(document, _request_model(method, known, machines))
    assert known is not None, "the name of the method has been checked"
    chosen = {name: getattr(found.ranking, name) for name in known.parameters_model().model_fields}
    return RankingRequest(known, chosen, getattr(found, "classifier", None), found.scaling, remarks)


def _section(key: str, option: str, method: str, section_of: Mapping[str, str]) -> str:
    """Return the section of a key: that of the method or that of its machine."""
    if key not in section_of:
        who = f"neither {method} nor its machine has a" if "classifier" in section_of.values() else f"{method} has no"
        allowed = f"allowed: {', '.join(sorted(section_of))}" if section_of else "it has no parameters"
        raise UsageError(f"{option}: {who} '{key}'; {allowed}")
    return section_of[key]


def _with_machine(document: Document, section: str) -> Document:
    """Add the default machine to a document that sets only some of its keys."""
    if section != "classifier" or section in document.content:
        return document
    return dataclasses.replace(document, content=document.content | {"classifier": DEFAULT_CLASSIFIER})


def _with_own_name_of_kernel(document: Document) -> tuple[Document, tuple[str, ...]]:
    machine = document.content.get("classifier", {})
    if "kernel" not in machine:
        return document, ()
    from fsvm_cli.svm.kernels.registry import SCIKIT_LEARN_NAMES, in_place_of  # noqa: PLC0415 - brings the kernels

    name = machine["kernel"]
    if not isinstance(name, str) or name not in SCIKIT_LEARN_NAMES:
        return document, ()
    content = document.content | {"classifier": machine | {"kernel": SCIKIT_LEARN_NAMES[name]}}
    return dataclasses.replace(document, content=content), (in_place_of(name),)


def _machines_of(method: type[Ranker] | None) -> Any:
    """Type of the machine that a method can be handed, None for a method that takes none."""
    if method is None or not {"kernel", "estimator"} & method.passed_down:
        return None
    from fsvm_cli.spec.classifiers import AnyClassifier  # noqa: PLC0415 - brings the solvers, which a filter does without

    return AnyClassifier


def machine_keys(method: type[Ranker]) -> set[str]:
    """Name the parameters of a method's machine that can be given outside any experiment and that the method uses."""
    from fsvm_cli.spec.classifiers import Classifier  # noqa: PLC0415 - as above
    from fsvm_cli.spec.kernels import fields_in_configs  # noqa: PLC0415
    from fsvm_cli.svm.kernels.registry import KERNELS  # noqa: PLC0415

    own = set(Classifier.model_fields) - EXPERIMENT_ONLY_KEYS
    if "estimator" not in method.passed_down:
        own &= method.passed_down | {"stop_after"}  # which is part of the solver
    return own.union(*map(fields_in_configs, KERNELS.values()))


def _request_model(name: str, method: type[Ranker] | None, machines: Any) -> type[StrictModel]:
    """Make the model of a request, with the parameters of one method; of a method that does not exist, of its name."""
    fields: dict[str, Any] = {"scaling": (ScalingName, ...)}
    if method is None:
        names: Any = Literal[tuple(ranking_methods())]
        fields["ranking"] = (create_model("Method", __base__=_MethodByName, method=(names, ...)), ...)
    else:
        own: Any = Literal[name]
        fields["ranking"] = (create_model("Method", __base__=method.parameters_model(), method=(own, ...)), ...)
    if machines is not None:
        fields["classifier"] = (machines | None, None)
    return create_model("Request", __base__=StrictModel, **fields)
