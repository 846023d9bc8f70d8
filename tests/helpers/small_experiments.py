"""Small experiments, and the folders that the tests are given.

Every process of pytest-xdist reads this, and its controller, which runs no test, before any of them: what takes seconds
to import is imported where it is used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

MIRROR, PUBLISHED = "FSVM_TEST_MIRROR", "FSVM_TEST_PUBLISHED"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., LoadedConfig]:
    """Load the small config with some of its keys replaced; None removes one."""
    from fsvm_cli.spec.config import load_config  # noqa: PLC0415 - see above
    from tests.helpers.small import SMALL  # noqa: PLC0415 - see above

    def load_with(**changes: Any) -> LoadedConfig:
        path = tmp_path / "small.yaml"
        content = {key: value for key, value in (SMALL | changes).items() if value is not None}
        with path.open("w") as stream:
            YAML().dump(content, stream)
        return load_config(str(path))

    return load_with


@pytest.fixture
def planned(load: Callable[..., LoadedConfig]) -> Callable[..., Experiment]:
    """Plan the small config with some of its keys replaced."""
    from fsvm_cli.experiment.plan import plan  # noqa: PLC0415 - see above

    return lambda **changes: plan(load(**changes), print)


@pytest.fixture(scope="session")
def published_folder() -> Path:
    """Find the folder of the documents' published values, one YAML file each."""
    return _named_by(PUBLISHED)


@pytest.fixture(scope="session")
def sentences_folder(published_folder: Path) -> Path:
    """Find the folder of what the documents say in sentences, beside that of the published values."""
    folder = published_folder.with_name(f"{published_folder.name}-beyond")
    assert folder.is_dir(), f"{folder} is no folder; it stands beside the one that {PUBLISHED} names"
    return folder


@pytest.fixture(scope="session")
def papers_folder(published_folder: Path) -> Path:
    """Find the folder of the documents as texts, beside that of the published values."""
    folder = published_folder.with_name("papers")
    assert folder.is_dir(), f"{folder} is no folder; it stands beside the one that {PUBLISHED} names"
    return folder


@pytest.fixture(scope="session")
def mirror_folder() -> Path:
    """Find the folder that is laid out like the archive."""
    return _named_by(MIRROR)


def _named_by(variable: str) -> Path:
    folder = Path(os.environ[variable])
    assert folder.is_dir(), f"{variable} names {folder}, which is no folder"
    return folder.resolve()
