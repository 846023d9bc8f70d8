"""What leaves the checkout: the name by which it is installed, and what wheel and source archive hold."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from typing import TYPE_CHECKING

import hatchling.build
import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import fsvm_cli
from fsvm_cli.resources import resource_names
from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

OTHER = re.compile(
    r"""\b(?:install|add)\b[^\n`]*?(?<![\w./-])fsvm(?![\w./-])   # pip install, pipx install, uv add
    |\bfsvm\[[\w,]+\]                                            # with extras
    |dependencies\ =\ \[[^\]]*["']fsvm(?![\w-])""",
    re.VERBOSE,
)
"""Advice to install the distribution ``fsvm``, which is another project's."""
TEXTS = ("*.md", "*.cff", "*.lock", "*.toml", "Makefile", ".ci/*", ".github/**/*.yml", "configs/*", "datasets/*")
FOLDERS = ("benchmarks", "docs", "examples", "fsvm_cli")


def texts() -> list[Path]:
    own = [path for pattern in TEXTS for path in CHECKOUT.glob(pattern)]
    below = [path for folder in FOLDERS for path in (CHECKOUT / folder).rglob("*")]
    return [path for path in (*own, *below) if path.is_file() and path.suffix not in {".png", ".pyc", ".svg", ".zip"}]


@pytest.mark.parametrize(
    "text",
    [
        "pip install fsvm",
        "pip install 'fsvm[excel]'",
        "uv add fsvm",
        "the extra packages of 'fsvm[dask]'",
        'dependencies = ["fsvm"]',
        'dependencies = ["numpy", "fsvm>=0.2"]',
    ],
)
def test_such_advice_is_recognised(text: str) -> None:
    assert OTHER.search(text)


@pytest.mark.parametrize(
    "text",
    ["pip install fsvm-cli", "pip install ./examples/fsvm-example-method", "pip install '.[excel]'", "fsvm run wine"],
)
def test_other_words_are_none(text: str) -> None:
    assert not OTHER.search(text)


def test_nothing_of_ours_tells_people_to_install_the_other_fsvm() -> None:
    found = {path: OTHER.findall(path.read_text(encoding="utf-8")) for path in texts()}
    assert len(found) > 400
    assert not {path: advice for path, advice in found.items() if advice}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and source archive."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(CHECKOUT)
        return folder / hatchling.build.build_wheel(str(folder)), folder / hatchling.build.build_sdist(str(folder))


def test_a_wheel_installs_the_package_and_nothing_beside_it(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
    info = f"fsvm_cli-{fsvm_cli.__version__}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"fsvm_cli", info}
    assert {"fsvm_cli/shipped/configs/wine.yaml", "fsvm_cli/shipped/datasets/wine.yaml"} < set(names)


def test_what_an_index_shows_has_no_links_into_the_checkout(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        text = archive.read(f"fsvm_cli-{fsvm_cli.__version__}.dist-info/METADATA").decode()
    metadata = Parser().parsestr(text)
    assert metadata["Name"] == "fsvm-cli"
    description = metadata.get_payload()
    assert isinstance(description, str)
    assert "fsvm rank mine.csv" in description
    assert not [link for link in re.findall(r"\]\((.*?)\)", description) if "://" not in link]


def test_a_source_archive_has_no_results_and_all_that_a_wheel_is_made_of(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert not [name for name in names if name.startswith("results/")]
    assert {"configs/wine.yaml", "datasets/wine.yaml", "docs/papers.bib", "fsvm_cli/cli.py", "LICENSE"} < names
    assert built[1].stat().st_size < 4e6


def test_all_places_name_one_version() -> None:
    release = re.search(r"^## (\S+) - (\d{4}-\d\d-\d\d)$", (CHECKOUT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert release
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == release[1] == fsvm_cli.__version__
    assert str(citation["date-released"]) == release[2]
    described, archived = (
        json.loads((CHECKOUT / name).read_text("utf-8")) for name in ("codemeta.json", ".zenodo.json")
    )
    assert described["version"] == archived["version"] == release[1]
    assert described["dateModified"] == release[2]


def test_what_a_checker_runs_and_compares_is_there() -> None:
    text = (CHECKOUT / "codecheck.yml").read_text(encoding="utf-8")
    files = [entry["file"] for entry in yaml.safe_load(text)["manifest"]]
    assert [file for file in files if not (CHECKOUT / file).is_file()] == []
    named = {name for run in re.findall(r"fsvm run (.*)", text) for name in run.split()}
    assert {"wine", "weston-linear"} <= named <= set(resource_names("configs"))


def test_the_paper_cites_what_its_bibliographies_hold() -> None:
    text = (CHECKOUT / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = [(CHECKOUT / name).read_text(encoding="utf-8") for name in ("paper/paper.bib", "docs/papers.bib")]
    known = set(re.findall(r"^@\w+\{([\w-]+)", "\n".join(entries), re.MULTILINE))
    cited = set(re.findall(r"@([a-z][\w-]+\d{4}|jebara-slides)", text))
    assert {"hermes2000", "pedregosa2011", "nadeau2003"} <= cited <= known


def test_a_bundle_holds_source_results_and_hashes(tmp_path: Path) -> None:
    bundle = runpy.run_path(str(CHECKOUT / ".ci" / "bundle.py"))
    (tmp_path / "repository" / "results").mkdir(parents=True)
    for name in ("code.py", "results/curves.csv"):
        (tmp_path / "repository" / name).write_text(name)
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    for arguments in (["init", "--quiet"], ["add", "."], [*identity, "commit", "--quiet", "--message", "x"]):
        subprocess.run(["git", *arguments], cwd=tmp_path / "repository", check=True)
    folder = tmp_path / "bundle"
    folder.mkdir()
    bundle["write_archives"](tmp_path / "repository", folder)
    bundle["write_hashes"](folder)
    held = {}
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        with tarfile.open(folder / name) as archive:
            held[name] = [member.name for member in archive if member.isfile()]
    assert held == {"results.tar.gz": ["fsvm/results/curves.csv"], "source.tar.gz": ["fsvm/code.py"]}


def test_a_bundle_says_for_which_system_and_python_its_wheels_are(tmp_path: Path) -> None:
    runpy.run_path(str(CHECKOUT / ".ci" / "bundle.py"))["write_readme"](tmp_path)
    first, *_ = (tmp_path / "README.txt").read_text().splitlines()
    version = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
    assert f"{version} on {sysconfig.get_platform()}" in first.lower()


def test_the_bill_of_materials_names_what_the_lock_pins(built: tuple[Path, Path]) -> None:
    lock = (CHECKOUT / "requirements.lock").read_text(encoding="utf-8")
    text = runpy.run_path(str(CHECKOUT / ".ci" / "sbom.py"))["bill"](lock, built[0])
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["name"] == "fsvm-cli"
    named = {f"{each['name']}=={each['version']}" for each in bill["components"]}
    assert named == set(re.findall(r"^([^\s#]+==[^\s]+)", lock, re.MULTILINE))
    hashes = re.findall(r'"content": "([0-9a-f]{64})"', json.dumps(bill["components"]))
    assert sorted(hashes) == sorted(re.findall(r"sha256:([0-9a-f]{64})", lock))


def test_the_oldest_versions_are_those_that_the_package_allows() -> None:
    """A floor that is raised or lowered without `make lock` would leave CI with another one."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    floors = [*project["dependencies"], *extras["dask"], *extras["excel"], *extras["skops"]]
    lock = (CHECKOUT / "requirements-lowest.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([^\s#]+)==([^\s]+)", lock, re.MULTILINE))
    for floor in floors:
        name, oldest = floor.split(">=")
        assert pinned[name.replace(".", "-")].startswith(oldest), floor


def test_actions_are_pinned_by_their_commits() -> None:
    used = re.findall(r"uses: (.*)", (CHECKOUT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v[\d.]+", each) for each in used)
