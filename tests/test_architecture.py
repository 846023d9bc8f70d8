"""The layers of the package stand in docs/architecture.md, and import-linter's contract keeps them."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from graphlib import TopologicalSorter

import grimp

import fsvm_cli
from tests.helpers.calling import CHECKOUT


def test_the_documented_layers_are_those_that_the_linter_keeps() -> None:
    page = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d \| (.*?) \|", page, re.MULTILINE)
    documented = [sorted(re.findall(r"`(\w+)`", packages)) for packages in rows]
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    kept = [sorted(each.strip().removeprefix("fsvm_cli.") for each in layer.split("|")) for layer in contract]
    assert documented == kept
    there_are = {module.name for module in pkgutil.iter_modules(fsvm_cli.__path__)} - {"__main__"}
    assert {name for layer in documented for name in layer} == there_are


def test_no_modules_import_each_other_not_even_within_a_function_or_for_types_alone() -> None:
    graph = grimp.build_graph("fsvm_cli", cache_dir=None)
    # The public interface names classes of every layer, and loads them when they are asked for.
    imports = {name: graph.find_modules_directly_imported_by(name) - {"fsvm_cli"} for name in graph.modules}
    assert len(imports) > 200
    TopologicalSorter(imports).prepare()


def test_no_tests_share_a_generator() -> None:
    modules = {path: path.read_text(encoding="utf-8") for path in (CHECKOUT / "tests").rglob("*.py")}
    shared = re.compile(r"^\w+(?:: .*?)? = np\.random\.default_rng\([^()]*\)$", re.MULTILINE)
    assert len(modules) > 200
    assert not [path for path, text in modules.items() if shared.search(text)]


def test_every_module_that_the_documentation_names_is_there() -> None:
    modules = {
        path.name
        for folder in ("fsvm_cli", "benchmarks", "docs", "examples", "tests")
        for path in (CHECKOUT / folder).rglob("*.py")
    }
    texts = [*(CHECKOUT / "docs").rglob("*.md"), *(CHECKOUT / "fsvm_cli").rglob("*.md"), CHECKOUT / "README.md"]
    named = {
        (text.name, name) for text in texts for name in re.findall(r"`(?:\w+/)*(\w+\.py)`", text.read_text("utf-8"))
    }
    assert ("solver.md", "active_set.py") in named
    assert {(text, name) for text, name in named if name not in modules} == set()
