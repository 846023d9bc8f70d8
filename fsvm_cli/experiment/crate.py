"""A results folder as a research object: an RO-Crate by the profile Workflow Run Crate.

Sources: RO-Crate Metadata Specification 1.1 (https://w3id.org/ro/crate/1.1); Workflow RO-Crate 1.0
(https://w3id.org/workflowhub/workflow-ro-crate/1.0); Process and Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun).
The workflow is the config, its engine fsvm, and the action the run that made the results.
"""

from __future__ import annotations

import hashlib
import io
import json
import mimetypes
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import fsvm_cli
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.experiment.provenance import ENVIRONMENT_NAME, read_run
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

METADATA_NAME = "ro-crate-metadata.json"
WORKFLOW_NAME = "workflow.yaml"
README_NAME = "README.md"
CONTEXTS = ("https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context")
BASE = "https://w3id.org/ro/crate/1.1"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
WORKFLOW_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
OWN_SOFTWARE = "fsvm"
SOFTWARE_PAGES = {"python": "https://www.python.org/"}
"""Of software that is not on the Python Package Index."""
LEFT_OUT = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal")
"""Endings of the store of trials, which is no document: the tables hold what it says."""
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""Of the entries of an archive, so that equal results make equal bytes."""


def write_crate(results: Path, out: Path) -> int:
    """Write the tables, figures and provenance of a results folder as an RO-Crate; the data stay outside.

    Parameters
    ----------
    results : Path
        Folder of an experiment.
    out : Path
        A folder that does not exist or is empty, or a file that ends in .zip.

    Returns
    -------
    int
        Files in the crate, without its metadata.

    Raises
    ------
    UsageError
        If there is something at `out`.
    DataError
        If the folder holds no results.
    """
    if out.suffix != ".zip" and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out}: holds something already; name a new folder, or a file that ends in .zip")
    if out.resolve().is_relative_to(results.resolve()):
        raise UsageError(f"{out}: lies within the results; name a place beside them")
    files = crate_files(results)
    if out.suffix == ".zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name, ZIP_TIME), content, zipfile.ZIP_DEFLATED)
        write_atomically(out, stream.getvalue())
    else:
        for name, content in files.items():
            write_atomically(out / name, content)
    return len(files) - 1


def crate_files(results: Path) -> dict[str, bytes]:
    """Return the content of each file of the crate by its name, the metadata first.

    Raises
    ------
    DataError
        If the folder holds no results, or a file of it cannot be read.
    """
    config, run = read_run(results)
    content = config.model_dump(mode="json", exclude_defaults=True)
    header = f"# {run['data']['name']}: the config of this run, in the JSON that is YAML, too.\n"
    files = {WORKFLOW_NAME: (header + json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()}
    try:
        for path in sorted(results.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(results).parts)
            if path.is_file() and not hidden and not path.name.endswith(LEFT_OUT):
                files.setdefault(path.relative_to(results).as_posix(), path.read_bytes())
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from error
    files.setdefault(README_NAME, _readme(config.title, run).encode())
    environment = json.loads(files[ENVIRONMENT_NAME]) if ENVIRONMENT_NAME in files else {}
    metadata = {"@context": [*CONTEXTS], "@graph": [*_graph(config.title, run, files, environment)]}
    return {METADATA_NAME: (json.dumps(metadata, indent=2, ensure_ascii=False) + "\n").encode()} | files


def _readme(title: str, run: Mapping[str, Any]) -> str:
    """Say what the crate is, for people who open it as a folder."""
    return (
        f"# {title}\n\n"
        f"Results of fsvm {fsvm_cli.__version__} on {run['data']['name']}, as a Workflow Run RO-Crate: tables, figures "
        f"and provenance, which `{METADATA_NAME}` describes. The data are not part of it; the hash of their values "
        "is.\n\n"
        f"`fsvm run {WORKFLOW_NAME}` repeats the run where the data are.\n"
    )


def _graph(
    title: str, run: Mapping[str, Any], files: Mapping[str, bytes], environment: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the entities of the metadata, the descriptor and the root first."""
    data, packages = run["data"], run["packages"]
    ended = environment.get("end") or datetime.now(UTC).isoformat(timespec="seconds")
    yield {
        "@id": METADATA_NAME,
        "@type": "CreativeWork",
        "conformsTo": [_id(BASE), _id(WORKFLOW_PROFILE)],
        "about": _id("./"),
    }
    yield {
        "@id": "./",
        "@type": "Dataset",
        "name": title,
        "description": f"Results of fsvm on {data['name']}: tables, figures, config and provenance.",
        "datePublished": ended[:10],
        "license": _id("#license"),
        "conformsTo": [*map(_id, PROFILES)],
        "hasPart": [*map(_id, files)],
        "mainEntity": _id(WORKFLOW_NAME),
        "mentions": _id("#run"),
    }
    for profile, (name, version) in PROFILES.items():
        yield {"@id": profile, "@type": "CreativeWork", "name": name, "version": version}
    yield {
        "@id": "#license",
        "@type": "CreativeWork",
        "name": "No licence stated",
        "description": "No licence is stated. Before publishing, add one that agrees with the licence of the data.",
    }
    for name, content in files.items():
        yield _file(name, content, title, packages)
    yield {
        "@id": "#fsvm-config",
        "@type": "ComputerLanguage",
        "name": "fsvm config",
        "description": "An experiment as data, in YAML: 'fsvm run' runs it, 'fsvm schema' prints its JSON Schema.",
        "version": fsvm_cli.__version__,
    }
    for name, version in packages.items():
        yield {
            "@id": _software(name, version),
            "@type": "SoftwareApplication",
            "name": name,
            "softwareVersion": version,
        } | ({} if name == OWN_SOFTWARE else {"url": _software(name, version)})
    yield {
        "@id": "#data",
        "@type": "CreativeWork",
        "name": data["name"],
        "description": f"{data['n_samples']} rows, {len(data['feature_names'])} features, classes "
        f"{', '.join(data['class_names'])}; not part of the crate. The hash is that of the values, as "
        "fsvm_cli.data.dataset.hash_values has it.",
        "sha256": data["sha256"],
    }
    seed = run["config"]["protocol"].get("seed")
    yield {
        "@id": "#seed",
        "@type": "PropertyValue",
        "name": "seed",
        "value": str(seed),
    }
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run of '{title}'",
        "description": f"Rankings, and machines on their subsets, on splits of {data['name']}.",
        "instrument": _id(WORKFLOW_NAME),
        "agent": _id(_software(OWN_SOFTWARE, packages[OWN_SOFTWARE])),
        "object": [_id("#data"), _id("#seed")],
        "result": [_id(name) for name in files if name != WORKFLOW_NAME],
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "endTime": ended,
    }
    if "begin" in environment:
        action["startTime"] = environment["begin"]
    yield action


def _id(name: str) -> dict[str, str]:
    return {"@id": _as_uri(name)}


def _as_uri(name: str) -> str:
    """Encode a path as RO-Crate asks: relative, with characters that no URI has as per cent codes."""
    from urllib.parse import quote  # noqa: PLC0415 - seldom needed

    return name if "://" in name or name.startswith("#") else quote(name)


def _software(name: str, version: str) -> str:
    """Return the address of a release, which identifies it; of this package, which has none, a name in the crate."""
    if name == OWN_SOFTWARE:
        return f"#software-{name}"
    return SOFTWARE_PAGES.get(name) or f"https://pypi.org/project/{name}/{version}/"


def _file(name: str, content: bytes, title: str, packages: Mapping[str, str]) -> dict[str, Any]:
    guessed = {".yaml": "application/yaml", ".md": "text/markdown"}.get(name[name.rfind(".") :])
    entity: dict[str, Any] = {
        "@id": _as_uri(name),
        "@type": "File",
        "name": name,
        "contentSize": str(len(content)),
        "encodingFormat": guessed or mimetypes.guess_type(name)[0] or "application/octet-stream",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    if name == WORKFLOW_NAME:
        entity |= {
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": title,
            "programmingLanguage": _id("#fsvm-config"),
            "softwareRequirements": _id(_software(OWN_SOFTWARE, packages[OWN_SOFTWARE])),
            "version": hashlib.sha256(content).hexdigest()[:12],
        }
    if name == README_NAME:
        entity["about"] = _id("./")
    return entity
