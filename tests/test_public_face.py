"""`import fsvm_cli`: what it offers, that it costs nothing until used, and that the examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fsvm_cli
from fsvm_cli import DataError, GradientAngle, UsageError, load_dataset, load_results, methods, rank
from fsvm_cli.cli import cli
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_method, ranking_methods
from fsvm_cli.svm import KERNELS

ROOT = Path(fsvm_cli.__file__).parent
ESTIMATORS = {**ranking_methods(), **extraction_methods(), **KERNELS}


def _with_examples() -> list[str]:
    """Find the modules whose source has an example, by text: most have none and need no import."""
    names = (module.name for module in pkgutil.walk_packages([str(ROOT)], "fsvm_cli.", onerror=lambda _: None))
    paths = {name: ROOT.parent / (name.replace(".", "/") + ".py") for name in names}
    return [name for name, path in paths.items() if path.is_file() and ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("module", _with_examples())
def test_examples_in_docstrings_are_true(module: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("name", fsvm_cli.__all__)
def test_every_public_name_exists_and_shows_how_it_is_used(name: str) -> None:
    value = getattr(fsvm_cli, name)
    text = inspect.getdoc(value) or ""
    assert text
    assert all(f"{each}\n---" in text for each in ("See Also", "Examples"))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_the_registries_find_is_public(name: str) -> None:
    assert ESTIMATORS[name].__name__ in fsvm_cli.__all__
    assert getattr(fsvm_cli, ESTIMATORS[name].__name__) is ESTIMATORS[name]


def test_all_is_what_can_be_had() -> None:
    assert set(fsvm_cli.__all__) == set(fsvm_cli._HOME_OF)
    assert set(fsvm_cli.__all__) <= set(dir(fsvm_cli))
    assert not hasattr(fsvm_cli, "no_such_name")


def _imported_by(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(answer.stdout.splitlines()[-1].split())


def test_the_package_itself_imports_nothing_heavy() -> None:
    loaded = _imported_by("import fsvm_cli, fsvm_cli.cli")
    assert not loaded & {"numpy", "pandas", "scipy", "sklearn", "numba", "pydantic", "rich"}


def test_a_filter_on_a_csv_file_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 5},{i % 2}.5,{i % 2}\n" for i in range(20)))
    code = (
        f"sys.argv = ['fsvm', 'rank', {str(path)!r}, '--target', 'y', '--method', 'fisher']\n"
        "from fsvm_cli.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
    )
    loaded = _imported_by(code)
    too_much = {"sklearn.datasets", "matplotlib", "numba", "loky"}
    too_much |= {
        "scipy.stats.distributions",
        "sklearn.metrics",
        "pyarrow.parquet",
        "fsvm_cli.spec.schema",
        "fsvm_cli.ranking.kpd",
    }
    assert not loaded & too_much


def test_a_comparison_loads_no_learning_library() -> None:
    loaded = _imported_by("from fsvm_cli.report.comparison import read_comparison")
    assert not loaded & {"sklearn", "numba", "pydantic", "matplotlib"}


@pytest.mark.parametrize("name", [*ranking_methods(), "no-such-method"])
def test_a_method_is_found_by_its_name(name: str) -> None:
    assert ranking_method(name) is ranking_methods().get(name)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 1] + 0.3 * X[:, 2] > 0, "yes", "no"))


def test_rank_gives_what_the_command_prints(table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    table.to_csv(path, index=False)
    options = ["--target", "kind", "--method", "gradient-angle", "--set", "epsilon=0.3", "--format", "csv"]
    printed = CliRunner().invoke(cli, ["rank", str(path), *options]).stdout.splitlines()
    of_frame = rank(table, "kind", method="gradient-angle", epsilon=0.3)
    pd.testing.assert_frame_equal(of_frame, rank(path, "kind", method="gradient-angle", epsilon=0.3))
    assert printed[0] == ",".join(of_frame.columns)
    assert [line.split(",")[1] for line in printed[1:]] == of_frame["feature"].tolist()
    X = (table[["a", "b", "c"]] - table[["a", "b", "c"]].mean()) / table[["a", "b", "c"]].std(ddof=0)
    expected = GradientAngle(epsilon=0.3).fit(X, table["kind"]).scores_
    assert dict(zip(of_frame["index"], of_frame["score"], strict=True)) == pytest.approx(dict(enumerate(expected)))


def test_rank_reads_a_text_as_it_is_told(table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    holes = table.assign(c=table["c"].where(table.index > 1))
    holes.to_csv(path, index=False, sep="|", decimal=",", na_rep="none given", encoding="cp1252")
    options = {"separator": "|", "decimal": ",", "na": ["none given"], "encoding": "cp1252", "missing": "drop"}
    found = rank(path, "kind", method="fisher", **options)  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(found, rank(holes, "kind", method="fisher", missing="drop"))
    with pytest.raises(UsageError, match="decimal"):
        rank(table, "kind", method="fisher", decimal=",")


def test_rank_checks_what_the_command_checks(table: pd.DataFrame) -> None:
    with pytest.raises(UsageError, match=r"^method: 'fishr' is no method.* did you mean 'fisher'"):
        rank(table, "kind", method="fishr")
    with pytest.raises(UsageError, match="fisher has no 'C'; allowed: variant"):
        rank(table, "kind", method="fisher", C=3)
    with pytest.raises(UsageError, match="neither gradient-angle nor its machine has a 'epsilo'"):
        rank(table, "kind", method="gradient-angle", epsilo=1)
    with pytest.raises(UsageError, match=r"epsilon: .*it should be 0 or more"):
        rank(table, "kind", method="gradient-angle", epsilon=-1.0)
    with pytest.raises(UsageError, match="there is no column 'knd'"):
        rank(table, "knd", method="fisher")
    with pytest.raises(UsageError, match="is no missing"):
        rank(table, "kind", method="fisher", missing="ignore")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"mine\.csv"):
        rank("mine.csv", "kind", method="fisher")
    with pytest.warns(UserWarning, match="constant, and so without information: d"):
        rank(table.assign(d=1.0), "kind", method="fisher")


def test_results_are_frames_of_one_experiment_or_many(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(f'{{"config": {{"title": "{name}", "classifier": {{"C": 1}}}}}}')
        (tmp_path / name / "curves.csv").write_text("ranking,mean\nfisher,0.5\n")
        (tmp_path / name / "published.csv").write_text("id,verdict\nx.1,reproduced\n")
    both, one = load_results(tmp_path), load_results(tmp_path / "one")
    assert both.curves["experiment"].tolist() == ["one", "two"]
    assert both.verdicts.columns[0] == both.config.columns[0] == "experiment"
    assert both.config["classifier.C"].tolist() == [1, 1]
    assert both.scores.empty
    assert one.curves.to_dict("records") == [{"experiment": "one", "ranking": "fisher", "mean": 0.5}]
    (tmp_path / "one" / "run.json").write_text('{"config": 3}')
    with pytest.raises(DataError, match="damaged"):
        _ = load_results(tmp_path / "one").config


def test_the_methods_table_has_every_method_and_every_parameter() -> None:
    table = methods()
    assert set(table["name"]) == {*ranking_methods(), *extraction_methods()}
    for name, estimator in {**ranking_methods(), **extraction_methods()}.items():
        parameters = table.loc[table["name"] == name, "parameter"].dropna()
        assert parameters.tolist() == list(estimator.parameters_model().model_fields)
    assert (table["source"] != "").sum() > 0.8 * len(table)


def test_a_mapping_names_a_data_set_as_in_a_config() -> None:
    assert load_dataset({"name": "plane", "samples": 50}, seed=3).X.shape == (50, 2)
    with pytest.raises(UsageError, match="wine"):
        load_dataset("wines")
