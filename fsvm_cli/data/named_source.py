"""The data sets that have a card, by their names."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from fsvm_cli.data.cards import FixedVersion, read_card
from fsvm_cli.data.load import load_splits, load_version
from fsvm_cli.data.messages import numbered
from fsvm_cli.data.source import GeneratedSource, fixed_source
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.data.cards import Card, GeneratedVersion
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.data.source_spec import NamedSpec


def open_named(spec: NamedSpec, announce: Callable[[str], None]) -> DataSource:
    """Find, fetch and verify a data set that has a card.

    Parameters
    ----------
    spec : NamedSpec
    announce : callable
        Is told, line by line, what takes time.

    Raises
    ------
    UsageError
        If there is no such data set or version, or 'samples' does not belong to it.
    DataError
        If no copy can be had.
    """
    card, version_name, version = find_version(spec)
    name = spec.name if len(card.versions) == 1 else f"{spec.name} ({version_name})"
    if isinstance(version, FixedVersion):
        dataset = load_version(name, card, version, announce)
        return fixed_source(dataset, version.caveats, load_splits(card, version, dataset, announce))
    return _generated_source(name, version, spec.samples or version.samples)


def find_version(spec: NamedSpec) -> tuple[Card, str, FixedVersion | GeneratedVersion]:
    """Find the card that a config names, and the name and content of its version.

    Raises
    ------
    UsageError
        If there is no such data set or version, or 'samples' does not belong to it.
    """
    card = read_card(spec.name)
    version_name, version = card.version(spec.name, spec.version)
    if isinstance(version, FixedVersion) and spec.samples is not None:
        raise UsageError(
            f"'samples' is for synthetic sets; '{spec.name}' has {version.expected.rows} rows; leave it out"
        )
    return card, version_name, version


def _generated_source(name: str, version: GeneratedVersion, n_samples: int) -> GeneratedSource:
    generator = GENERATORS[version.generator]
    distribution = [version.generator, version.parameters, n_samples]
    return GeneratedSource(
        name=name,
        identity=hashlib.sha256(json.dumps(distribution, sort_keys=True).encode()).hexdigest(),
        n_samples=n_samples,
        feature_names=numbered(generator.n_features),
        class_names=generator.class_names,
        caveats=version.caveats,
        generator=version.generator,
        parameters=version.parameters,
    )
