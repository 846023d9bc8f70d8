"""The names of the records that a config may ask for; each is a file of `fsvm_cli/experiment/records/`."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import fsvm_cli

_FOLDER = Path(fsvm_cli.__file__).parent / "experiment" / "records"
_NO_KINDS = {"base", "registry"}

# The files are listed, not imported: what they hold belongs to a layer above.
RECORD_NAMES = tuple(
    sorted(
        module.name.replace("_", "-") for module in pkgutil.iter_modules([str(_FOLDER)]) if module.name not in _NO_KINDS
    )
)
