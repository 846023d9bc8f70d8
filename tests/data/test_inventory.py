"""What the command line shows of data sets, and what it does about them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fsvm_cli.commands.datasets import command
from fsvm_cli.data.inventory import stored_files, summarize
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.resources import resource_names

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("_offline")


def called(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False, env={"COLUMNS": "120"})
    assert result.exit_code == 0
    return result.output


def test_every_card_is_listed_with_its_size() -> None:
    lines = called("list").splitlines()
    named = [line.split()[0] for line in lines[1:] if not line.startswith(" ")]
    assert named == resource_names("datasets")
    wine = next(line for line in lines if line.startswith("wine"))
    assert wine.split() == ["wine", "uci", "178", "13", "3", "bundled"]


@pytest.mark.parametrize("name", resource_names("datasets"))
def test_every_card_is_shown_with_what_to_know(name: str) -> None:
    shown = called("show", name)
    for version in summarize(name):
        assert f"version {version.version}: {version.about}" in shown
        assert all(caveat in shown for caveat in version.caveats)
    assert "Licence: " in shown


def test_showing_tells_features_and_bayes_errors() -> None:
    assert "Features: alcohol, malic acid, ash, alcalinity of ash, magnesium and 8 more" in called("show", "wine")
    assert "Bayes error: 26.000%" in called("show", "led24")


def test_what_was_fetched_is_at_hand(mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert summarize("heart")[0].availability == "to fetch"
    heart = mirror_folder / "machine-learning-databases/statlog/heart/heart.dat"
    cached = tmp_path / "cache/machine-learning-databases/statlog/heart/heart.dat"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(heart.read_bytes())
    assert summarize("heart")[0].availability == "cached"
    assert "heart: 270 rows, 13 features, verified" in called("fetch", "heart")
    assert called("verify", "heart") == "1 intact, 0 absent, 0 altered\n"


def test_what_lies_in_the_folder_of_a_mirror_is_at_hand(
    mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("FSVM_MIRROR", str(mirror))
    assert called("verify", "heart") == "0 intact, 1 absent, 0 altered\n"
    path = "machine-learning-databases/statlog/heart/heart.dat"
    (mirror / path).parent.mkdir(parents=True)
    (mirror / path).write_bytes((mirror_folder / path).read_bytes())
    assert summarize("heart")[0].availability == "mirror"
    assert called("verify", "heart") == "1 intact (1 of them in the mirror), 0 absent, 0 altered\n"
    assert f"File: {mirror / path} (" in called("show", "heart")
    # As a run does, which takes it from the mirror.
    cached = tmp_path / "cache" / path
    cached.parent.mkdir(parents=True)
    cached.write_text("altered")
    assert summarize("heart")[0].availability == "mirror"
    assert "heart: 270 rows, 13 features, verified" in called("fetch", "heart")
    (mirror / path).write_text("altered too")
    with pytest.raises(DataError, match=r"altered files.*\n.*heart\.dat"):
        called("verify", "heart")


def test_what_neither_a_mirror_nor_an_address_has_must_be_placed_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSVM_MIRROR", str(tmp_path))
    assert [version.availability for version in summarize("spectf")] == ["to fetch", "by hand"]


def test_what_has_no_address_must_be_placed_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [version.availability for version in summarize("spectf")] == ["to fetch", "by hand"]
    monkeypatch.setenv("FSVM_MIRROR", "http://127.0.0.1:9")
    assert [version.availability for version in summarize("spectf")] == ["to fetch", "to fetch"]


def test_fetching_tells_of_every_failure_and_does_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSVM_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setattr("fsvm_cli.data.download.FIRST_PAUSE_S", 0.0)
    monkeypatch.setattr("fsvm_cli.data.fetch.addresses_of", lambda file: ["http://127.0.0.1:9/" + file.path])
    with pytest.raises(DataError, match=r"(?s)'heart' is not available.*'sonar' is not available"):
        called("fetch", "heart", "wine", "sonar", "led24")


def test_versions_of_the_same_files_are_not_asked_for_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("fsvm_cli.data.download.FIRST_PAUSE_S", 0.0)
    monkeypatch.setattr(
        "fsvm_cli.data.fetch.addresses_of", lambda file: asked.append(file.path) or ["http://127.0.0.1:9/" + file.path]
    )
    with pytest.raises(DataError) as caught:
        called("fetch", "reuters", "spectf")
    message = str(caught.value)
    assert message.count("is not available. Tried:") == 3
    assert "nor can 'reuters (reuters-3-modapte)', which is read from the same files" in message
    assert [path.rpartition("/")[2] for path in asked] == ["reut2-000.sgm", "SPECTF.train", "SPECTF.train"]


def test_altered_files_are_named(tmp_path: Path) -> None:
    (file,) = stored_files(["heart"])
    assert file.state == "absent"
    file.path.parent.mkdir(parents=True)
    file.path.write_text("altered")
    with pytest.raises(DataError, match=r"altered files.*\n.*heart\.dat"):
        called("verify")


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    for action in ("show", "fetch", "verify"):
        with pytest.raises(UsageError, match="did you mean 'sonar'"):
            called(action, "sonra")


def test_the_first_look_imports_no_data_libraries(tmp_path: Path) -> None:
    program = (
        "import sys; from click.testing import CliRunner; from fsvm_cli.commands.datasets import command; "
        "CliRunner().invoke(command, ['--help']); print(sorted({'numpy', 'pandas', 'sklearn'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == "[]\n"
