"""The plan of the house is told three times: by README's table, by import-linter's contract, and by the rooms."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from graphlib import TopologicalSorter

import grimp

import fsvm_cli
from tests.helpers.calling import CHECKOUT


def rows_of_the_readme() -> list[tuple[int, list[str]]]:
    """Floor and rooms of each line of README's table, from the top down."""
    section = (CHECKOUT / "README.md").read_text(encoding="utf-8").partition("## How the house is built")[2]
    lines = re.findall(r"^\| (\d) \| (.*?) \|", section.partition("\n## ")[0], re.MULTILINE)
    return [(int(floor), sorted(re.findall(r"`(\w+)`", rooms))) for floor, rooms in lines]


def test_the_readme_shows_the_contract_that_the_linter_keeps() -> None:
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    layers = [sorted(room.strip().removeprefix("fsvm_cli.") for room in layer.split("|")) for layer in contract]
    assert [rooms for _, rooms in rows_of_the_readme()] == layers


def test_every_room_has_its_place() -> None:
    floors = [floor for floor, _ in rows_of_the_readme()]
    assert floors == sorted(floors, reverse=True)
    assert set(floors) == set(range(9))
    there_are = {module.name for module in pkgutil.iter_modules(fsvm_cli.__path__)} - {"__main__"}
    assert {room for _, rooms in rows_of_the_readme() for room in rooms} == there_are


def test_no_modules_import_each_other_not_even_within_a_function() -> None:
    graph = grimp.build_graph("fsvm_cli", exclude_type_checking_imports=True, cache_dir=None)
    # The public face names classes of every floor, and loads them when they are asked for.
    imports = {name: graph.find_modules_directly_imported_by(name) - {"fsvm_cli"} for name in graph.modules}
    assert len(imports) > 400
    TopologicalSorter(imports).prepare()


def test_a_room_says_on_which_floor_it_is() -> None:
    floor_of = {room: floor for floor, rooms in rows_of_the_readme() for room in rooms}
    packages = [module.name for module in pkgutil.iter_modules(fsvm_cli.__path__) if module.ispkg]
    assert packages
    for name in packages:
        assert (importlib.import_module(f"fsvm_cli.{name}").__doc__ or "").startswith(f"Floor {floor_of[name]}: "), name


def test_no_tests_share_a_generator() -> None:
    modules = {path: path.read_text(encoding="utf-8") for path in (CHECKOUT / "tests").rglob("*.py")}
    shared = re.compile(r"^\w+(?:: .*?)? = np\.random\.default_rng\([^()]*\)$", re.MULTILINE)
    assert len(modules) > 200
    assert not [path for path, text in modules.items() if shared.search(text)]
