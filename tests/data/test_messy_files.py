"""Files as people have them: what is read, and what must be said of each."""

from __future__ import annotations

import gzip
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from fsvm_cli.data.opening import open_source
from fsvm_cli.data.readers.numbers import reads_as_number
from fsvm_cli.data.source_spec import DatasetSpec
from fsvm_cli.errors import DataError, UsageError
from tests.helpers.plain_words import unplain

if TYPE_CHECKING:
    from fsvm_cli.data.source import DataSource


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def opened(content: str | bytes, **options: Any) -> DataSource:
    Path("mine.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    return opened_as(**({"file": "mine.csv", "target": "y"} | options))


def opened_as(**written: Any) -> DataSource:
    spec = TypeAdapter(DatasetSpec).validate_python(written)
    return open_source(spec, base_folder=Path(), announce=lambda line: None)


def values_of(source: DataSource) -> list[list[float]]:
    values: list[list[float]] = source.draw(np.random.default_rng(0)).X.tolist()
    return values


GERMAN = "Alter;Größe;y\n61,0;1,75;ja\n72,5;1,6;nein\n"

READ: dict[str, tuple[str | bytes, dict[str, Any], list[list[float]], str]] = {
    "decimal commas": (GERMAN, {}, [[61, 1.75], [72.5, 1.6]], "decimal commas .*'Alter', 'Größe'.*--decimal ,"),
    "decimal commas that are said": (GERMAN, {"decimal": ","}, [[61, 1.75], [72.5, 1.6]], "^$"),
    "decimal commas in quotes": ('a,y\n"61,0",1\n"72,5",2\n', {}, [[61], [72.5]], "decimal commas .*'a'"),
    "decimal commas and one-hot": (
        "a;sex;y\n61,0;m;1\n72,5;f;2\n",
        {"categorical": "one-hot"},
        [[61, 0, 1], [72.5, 1, 0]],
        "decimal commas .*'a'",
    ),
    "points between thousands": ("a;b;y\n1.234;1,5;1\n2.500;2,5;2\n", {}, [[1234, 1.5], [2500, 2.5]], "grouped .*'a'"),
    "both marks": ("a;y\n1.234,5;1\n999,25;2\n", {}, [[1234.5], [999.25]], "grouped .*'a'"),
    "points and commas before decimals": ("a;b;y\n1.5;1,5;1\n2.25;2,5;2\n", {}, [[1.5, 1.5], [2.25, 2.5]], "'b'"),
    "commas between thousands, said": (
        'a,y\n"1,234",1\n"5,000.5",2\n',
        {"decimal": "."},
        [[1234], [5000.5]],
        "grouped",
    ),
    "three decimals after a comma, said": ("a;y\n1,234;1\n2,5;2\n", {"decimal": ","}, [[1.234], [2.5]], "^$"),
    "blanks between thousands": (
        "a;y\n1 234,5;1\n22\u00a0000,5;2\n",
        {},
        [[1234.5], [22000.5]],
        "commas .*\n.*grouped",
    ),
    "a minus sign of typography": ("a,y\n−1.5,1\n2,2\n", {}, [[-1.5], [2]], "^$"),
    "powers of ten": ("a;y\n1,5e3;1\n2,5E-1;2\n", {}, [[1500], [0.25]], "decimal commas"),
    "a dash among numbers": (
        "a,y\n1,1\n-,1\n3,2\n4.5,2\n",
        {"missing": "drop"},
        [[1], [3], [4.5]],
        r"'a' \('-' in 1 rows\)",
    ),
    "blanks among numbers": ("a,y\n1,1\n  ,1\n3,2\n", {"missing": "drop"}, [[1], [3]], "missing values: 'a'"),
    "Excel's #N/A among numbers": ("a,y\n1,1\n#N/A,1\n3,2\n", {"missing": "mean"}, [[1], [2], [3]], "'#N/A' in 1 rows"),
    "a dash among decimal commas": ("a;y\n1,5;1\n-;1\n3,5;2\n", {"missing": "mean"}, [[1.5], [2.5], [3.5]], "'-' in 1"),
    "a word that means missing": ("a,y\n1,1\nk.A.,1\n3,2\n", {"na": ("k.A.",), "missing": "drop"}, [[1], [3]], "^$"),
    "a number that means missing": ("a,y\n1,1\n-99,1\n3,2\n", {"na": "-99", "missing": "drop"}, [[1], [3]], "^$"),
    "a dash that is a class": ("a,y\n1,+\n2,-\n3,-\n", {}, [[1], [2], [3]], "^$"),
    "lists of codes that are a category": (
        "a;y\n1,2;1\nx,y;1\n3;2\n",
        {"categorical": "one-hot"},
        [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
        "^$",
    ),
    "a dash among words": (
        "a,y\nred,1\n-,1\nblue,2\nblue,2\n",
        {"categorical": "one-hot", "missing": "most-frequent"},
        [[0, 1], [1, 0], [1, 0], [1, 0]],
        r"among words, .*'a' \('-' in 1 rows\); .*--na NA\)$",
    ),
    "blanks and Excel's errors among words": (
        "a,y\nred,1\n  ,1\n#N/A,1\nblue,2\n#DIV/0!,2\nn/a,2\n",
        {"categorical": "one-hot", "missing": "drop"},
        [[0, 1], [1, 0]],
        r"'#N/A', '#DIV/0!', 'n/a' in 3 rows.*'  ' in 1 rows",
    ),
    "a dash among words and codes": (
        "a,b,y\n1,-,1\n-,1,1\nred,blue,1\nblue,red,2\n",
        {"categorical": "one-hot", "missing": "drop"},
        [[0, 1, 1, 0], [1, 0, 0, 1]],
        r"'a' \('-' in 1 rows\), 'b' \('-' in 1 rows\)",
    ),
    "a dash that is a category, as a list says": (
        "a,y\nred,1\n-,1\nblue,2\n",
        {"categorical": "one-hot", "na": "NA"},
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        "^$",
    ),
    "a dash beside other signs": (
        "a,y\n+,1\n-,1\n+/-,2\n",
        {"categorical": "one-hot"},
        [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
        "^$",
    ),
    "a dash beside a single word": ("a,y\nx,1\n-,1\nx,2\n", {"categorical": "ordinal"}, [[1], [0], [1]], "^$"),
    "a dash in what is dropped": ("b,a,y\n1,red,1\n2,-,1\n3,blue,2\n", {"drop": ("a",)}, [[1], [2], [3]], "^$"),
    "UTF-16": (GERMAN.encode("utf-16"), {}, [[61, 1.75], [72.5, 1.6]], "Größe"),
    "UTF-16, the other end first": (b"\xfe\xff" + GERMAN.encode("utf-16-be"), {}, [[61, 1.75], [72.5, 1.6]], "Größe"),
    "cp1252, said": (GERMAN.encode("cp1252"), {"encoding": "cp1252"}, [[61, 1.75], [72.5, 1.6]], "Größe"),
    "bars": ("a|b|y\n1|2|u\n3|4|v\n", {}, [[1, 2], [3, 4]], "^$"),
    "bars that are said": ("a,b|c|y\n1|2|u\n3|4|v\n", {"separator": "|"}, [[1, 2], [3, 4]], "^$"),
    "tabs that are said": ("a, b, c\ty\n1\t1\n3\t2\n", {"separator": "tab"}, [[1], [3]], "^$"),
    "blanks that are said": ("a b y\n1 2 1\n3 4 2\n", {"separator": "space"}, [[1, 2], [3, 4]], "^$"),
    "Excel's line of the separator": ("sep=;\r\na;y\r\n1;1\r\n2;2\r\n", {}, [[1], [2]], "^$"),
    "signs of per cent": ("a,y\n12.9%,1\n-1.5 %,2\n", {}, [[12.9], [-1.5]], r"without their signs: 'a' \('%'\)"),
    "a currency and grouped digits": (
        'a,b,y\n"$1,288.18",€ 5.5,1\n-$899.5,€-6,2\n',
        {},
        [[1288.18, 5.5], [-899.5, -6]],
        r"grouped .*'a'.*signs: 'a' \('\$'\), 'b' \('€'\)",
    ),
    "currencies by letters": ("a,b,y\nUS$ 5,EUR 7,1\nUS$ 6,EUR 8.5,2\n", {}, [[5, 7], [6, 8.5]], "signs"),
    "units": ("a;b;c;y\n3 kg;1,5mg/dl;7m²;1\n4 kg;2mg/dl;8m²;2\n", {}, [[3, 1.5, 7], [4, 2, 8]], r"'a' \('kg'\)"),
    "units and gaps": ("a,y\n3 kg,1\nn/a,1\n4 kg,2\n", {"missing": "drop"}, [[3], [4]], "'kg'.*'n/a' in 1 rows"),
    "negative numbers of accountants": (
        "a,b,y\n(1.20),1.20-,1\n2.5,37,2\n(7),8-,2\n",
        {},
        [[-1.2, -1.2], [2.5, 37], [-7, -8]],
        "'a' .'\\(1.20\\)'.*'b' .'1.20-'",
    ),
    "amounts in brackets": ('a,y\n"($1,234.50)",1\n"$2,000.25",2\n', {}, [[-1234.5], [2000.25]], "'a'"),
    "Excel's numbers as formulas": ('a,y\n"=""1.2""",1\n"=""3""",2\n', {}, [[1.2], [3]], "'a'"),
    "commas between thousands, and points": ('a,y\n"1,234",1\n"5,000.5",2\n', {}, [[1234], [5000.5]], "grouped"),
    "points that say what points are": ("a,b,y\n1.234,0.5,1\n899,1,2\n", {}, [[1.234, 0.5], [899, 1]], "^$"),
    "three decimals everywhere": ("a,y\n1.234,1\n2.500,2\n", {}, [[1.234], [2.5]], "^$"),
    "a point before decimals, said": ("a,y\n1.234,1\n899,2\n", {"decimal": "."}, [[1.234], [899]], "^$"),
    "a point between thousands, said": ("a;y\n1.234;1\n899;2\n", {"decimal": ","}, [[1234], [899]], "grouped"),
    "codes with letters before them": (
        "a,y\nA1,1\nA2,2\n",
        {"categorical": "one-hot"},
        [[1, 0], [0, 1]],
        "^$",
    ),
    "grades that end in a dash": ("a,y\n1-,1\n2,2\n", {"categorical": "one-hot"}, [[1, 0], [0, 1]], "^$"),
    "digits that are words": (
        "zip,code,y\n01000,7,1\n01001,NA,2\n",
        {"words": ("zip,code",), "categorical": "one-hot"},
        [[1, 0, 1, 0], [0, 1, 0, 1]],
        "^$",
    ),
    "NA and a dash that are words": (
        "a,b,y\nNA,1,1\nDE,NA,2\n-,2,2\n",
        {"words": "a", "missing": "drop", "categorical": "one-hot"},
        [[0, 1, 1], [1, 0, 2]],
        "^$",
    ),
    "numbers in words, in their order": ("a,y\nstage 1,1\nstage 2,2\n", {"categorical": "ordinal"}, [[0], [1]], "^$"),
    "commas in a header between semicolons": ("w, kg;h, cm;y\n1.5;2;1\n3;4;2\n", {}, [[1.5, 2], [3, 4]], "^$"),
    "decimal commas, and commas in the header": ("w, kg;y\n1,5;1\n3,25;2\n", {}, [[1.5], [3.25]], "decimal commas"),
    "several blanks between fields": (" a  b y\n1   2 u\n 3 4  v \n", {}, [[1, 2], [3, 4]], "blanks.*--separator"),
    "several blanks that are said": ('a b   y\n1  "2" 1\n3 4\t2\n', {"separator": "space"}, [[1, 2], [3, 4]], "^$"),
    "comments above the header": ("# lab\n\n# v, 3\na,y\n1,1\n2,2\n", {}, [[1], [2]], "3 lines .*read over"),
    "a header that begins with a hash": ("#a\ty\n1\tu\n2\tv\n", {"target": "y"}, [[1], [2]], "^$"),
    "names of rows, as R writes them": ('"a","y"\n"r1",1,"u"\n"r2",2,"v"\n', {}, [[1], [2]], "left out.*row names"),
    "names of rows between blanks": ('"a" "y"\n"r 1" 1 "u"\n"r 2" 2 "v"\n', {}, [[1], [2]], "left out.*row names"),
    "no header": ("1.5,7,u\n2,8,v\n", {"no_header": True, "target": "column3"}, [[1.5, 7], [2, 8]], "^$"),
    "a first row that is data": (
        "1.5,7,u\n2,8,v\n3,6,u\n",
        {"target": "u"},
        [[2, 8], [3, 6]],
        "first row looks like data.*'1.5', '7', 'u'.*--no-header",
    ),
    "names that are numbers": ("0,1,2,y\n0.5,1,2,u\n2,0,1,v\n", {}, [[0.5, 1, 2], [2, 0, 1]], "^$"),
    "names that are wavelengths": ("400.5,401.5,y\n0.5,1,u\n2,0,v\n", {}, [[0.5, 1], [2, 0]], "^$"),
    "two columns to drop": ("id,when,a,y\n1,x,1,1\n2,z,2,2\n", {"drop": ("id, when",)}, [[1], [2]], "^$"),
    "a column with a comma to drop": ('"id,no",a,y\nq,1,1\nr,2,2\n', {"drop": ("id,no",)}, [[1], [2]], "^$"),
}


@pytest.mark.parametrize("mess", READ)
def test_is_read_and_said(mess: str) -> None:
    content, options, expected, remark = READ[mess]
    source = opened(content, **options)
    assert values_of(source) == expected
    assert re.search(remark, "\n".join(source.caveats).removeprefix("Missing values were replaced"), re.DOTALL)


@pytest.mark.parametrize("content", [b"a;b;y\n1;2;u\n3;4;v\n", "a\tb\ty\n1\t2\tu\n3\t4\tv\n".encode("utf-16")])
def test_of_a_compressed_table_the_text_tells_separator_and_encoding(content: bytes) -> None:
    # gzip writes the time into the file, where its bytes may be those of separators.
    packed = gzip.compress(content, mtime=int.from_bytes(b",,,,", "little"))
    Path("mine.csv.gz").write_bytes(packed)
    Path("damaged.csv.gz").write_bytes(packed[:-12])
    own = {"format": "csv", "target": "y"}
    assert values_of(opened_as(file="mine.csv.gz", **own)) == [[1, 2], [3, 4]]
    with pytest.raises(DataError, match=r"damaged\.csv\.gz: not a CSV table"):
        opened_as(file="damaged.csv.gz", **own)


REFUSED: dict[str, tuple[str | bytes, dict[str, Any], tuple[str, ...]]] = {
    "a comma that may be either": (
        'a,y\n"1,234",1\n"2,345",2\n',
        {},
        ("column 'a' .*'1,234'.*--decimal , or --decimal .",),
    ),
    "points that group, and no comma": ("a,y\n1.234.567,1\n2.000.000,2\n", {}, ("'1.234.567'.*--decimal ,",)),
    "numbers in several ways": ("a;y\n1,25;1\n2.5;2\n", {"decimal": ","}, ("several ways, such as '2.5'",)),
    "a word among decimal commas": (
        "a;y\n1,25;1\n2,5;1\n3,5;2\n4,5;2\noops;2\n",
        {"categorical": "one-hot"},
        ("numbers and, in 1 rows, words: 'oops'; correct .* drop the column$",),
    ),
    "cp1252": (
        GERMAN.encode("cp1252"),
        {},
        ("not UTF-8: in Windows' cp1252 it would read .'Größe'.*--encoding cp1252",),
    ),
    "cp1252 in a value": ("a,y\nKöln,1\nBonn,2\n".encode("cp1252"), {}, ("'a' is not in UTF-8.*'Köln'.*--encoding",)),
    "another encoding than said": (b"a,y\n\x81\xfe,1\n2,2\n", {"encoding": "ascii"}, ("byte 4 is not ascii",)),
    "rows of several lengths": ("a,y\n1,2\n3\n4\n5,6,7\n", {}, (r"mine\.csv:3: .*1 fields.*2 rows more",)),
    "a name twice, over words": ("a,a,y\n-,2,1\n1,2,1\n2,3,2\n", {}, ("more than once: 'a'",)),
    "several columns without a name": (",,a,y\n1,1,1,1\n2,2,2,2\n", {}, ("columns 1, 2 have no name",)),
    "everything at once": (
        "a,b,when,id,y\n1,red,2024-01-01,q,u\n,blue,2024-01-02,r,v\n3,red,2024-01-03,s,v\n",
        {},
        ("3 problems", r"missing values in 1 of 3 rows; by column: 'a' \(1\)", "'when' holds date32", "'b' .*'id'"),
    ),
    "a dash among words, and no rule": (
        "a,y\nred,1\n-,1\nblue,2\n",
        {"categorical": "one-hot"},
        (r"missing values in 1 of 3 rows; by column: 'a' \(1\); among words, .*'-' in 1 rows.*--na NA.*--missing",),
    ),
    "a dash among numbers, and no rule": (
        "a,y\n1.5,1\n-,1\n2,2\n",
        {},
        (r"by column: 'a' \(1\); among numbers, these are taken as missing values: 'a' \('-' in 1 rows\)",),
    ),
    "names and everything else": (
        ",a,a,b,c,y\n1,1,2,red,2024-01-01,u\n2,1,2,,2024-01-02,u\n3,1,2,red,2024-01-03,u\n",
        {},
        (
            "6 problems",
            r"\(1\) column names occur more than once: 'a'; .*\(2\) column 1 has no name",
            r"missing values in 1 of 3 rows; by column: 'b' \(1\)",
            "'y' has only one class",
            "'c' holds date32",
            r"columns of words: 'b' \(red\)",
        ),
    ),
    "a name twice that is the target": ("a,y,y\n1,2,\n2,3,2\n", {}, ("mine.csv: column names .*more than once: 'y'",)),
    "a name twice that is dropped": (
        "a,a,b,y\n1,2,3,1\n3,4,5,2\n",
        {"drop": ("a",)},
        ("more than once: 'a'.*distinct$",),
    ),
    "a point that may be either": ("a,b,y\n1.234,1,1\n899,2,2\n", {}, ("column 'a' .*'1.234'.*--decimal ,",)),
    "a point that may be either, behind a sign": (
        "a,y\n$1.234,1\n$899,2\n",
        {},
        ("column 'a' .*'1.234'.*--decimal ,",),
    ),
    "several signs, numbered": (
        "a,y\n5 kg,1\n50 g,2\n9 kg,2\n",
        {"categorical": "ordinal"},
        ("column 'a' .*'5 kg'.*write all alike",),
    ),
    "numbers in words out of their order": (
        "a,y\nstage 2,1\nstage 10,2\n",
        {"categorical": "ordinal"},
        ("column 'a' .*alphabet.*'stage 10', 'stage 2'",),
    ),
    "words of a column that is none": ("a,y\n1,1\n2,2\n", {"words": ("b",)}, ("there is no column 'b'",)),
    "decimal commas between commas": ("a,b,y\n1,5,2,5,1\n3,25,4,5,2\n", {}, ("commas stand before decimals.*';'",)),
    "lines above the header": (
        "Lab\na,b,y\n1,2,1\n3,4,2\n",
        {},
        ("3 fields, where the header has 1.*begin them with #",),
    ),
    "several names that are none": ("a,y\n1,1\n2,2\n", {"target": "Y", "drop": ("b,c",)}, ("'Y'", "'b'", "'c'")),
}


@pytest.mark.parametrize("mess", REFUSED)
def test_is_refused_with_every_mistake(mess: str) -> None:
    content, options, messages = REFUSED[mess]
    with pytest.raises((DataError, UsageError)) as refused:
        opened(content, **options)
    for message in messages:
        assert re.search(message, str(refused.value), re.DOTALL)


def refusal(content: str, **options: Any) -> list[str]:
    """Take the lines of the message that refuses a table."""
    with pytest.raises((DataError, UsageError)) as refused:
        opened(content, **options)
    return str(refused.value).splitlines()


def test_everything_is_told_in_two_lines_each_with_its_remedy() -> None:
    content, options, _ = REFUSED["everything at once"]
    assert refusal(str(content), **options) == [
        "mine.csv: 3 problems. (1) missing values in 1 of 3 rows; by column: 'a' (1). Drop these rows "
        "(missing: drop, or --missing drop), or have the gaps filled by what training rows show (missing: median, "
        "mean, most-frequent or indicator).",
        "(2) column 'when' holds date32[day], not numbers; drop it. (3) columns of words: 'b' (blue, red); 'id' (q, r, "
        "s). Turn each word into a feature (categorical: one-hot, or --categorical one-hot), number the words of a "
        "column (ordinal), or drop the columns.",
    ]


@pytest.mark.parametrize("name", ["day", "d" * 5000, "\x1b[31m"])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 40, 2000])
def test_however_much_is_wrong_two_lines_that_a_person_can_read_tell_it(name: str, n_columns: int) -> None:
    names = [f"{name}{number}" for number in range(n_columns)]
    row = ",".join(["2024-01-01"] * n_columns)
    lines = refusal(",".join([*names, "y"]) + f"\n{row},1\n{row},2\n")
    assert len(lines) <= 2
    assert [unplain(line) for line in lines] == [""] * len(lines)
    n_told = sum(line.count("; drop it") for line in lines)
    unnamed = re.search(r"More problems, shown in full once these are solved: (.*)\.$", lines[-1])
    assert n_told > 1 or n_columns == 1
    if unnamed:
        more = re.search(r" and (\d+) more$", unnamed[1])
        assert n_told + unnamed[1].count("column '") + (int(more[1]) if more else 0) == n_columns
    else:
        assert n_told == n_columns


def test_an_encoding_that_is_none_is_named() -> None:
    with pytest.raises(UsageError, match=r"no encoding 'utf-88'.*cp1252"):
        opened(GERMAN, encoding="utf-88")


def test_an_index_of_pandas_in_parquet_is_no_feature_unless_it_is_the_class() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [0, 1, 0]}, index=[7, 8, 10])
    frame.to_parquet("mine.parquet")
    source = opened_as(file="mine.parquet", target="y")
    assert source.feature_names == ("a",)
    assert "index of the rows: '__index_level_0__'" in source.caveats[0]
    frame.set_index("y").to_parquet("mine.parquet")
    source = opened_as(file="mine.parquet", target="y")
    assert (source.feature_names, source.caveats) == (("a",), ())


@pytest.mark.parametrize("others", ["red blue", "1 2.5"])
def test_however_long_marks_are_a_person_can_read_of_them(others: str) -> None:
    one, other = others.split()
    blanks = "".join(f"{' ' * n},1\n" for n in range(1, 500, 7))
    several = "".join(f"{row}.5,2\n" for row in range(90)) if one == "1" else ""
    lines = refusal(f"a,y\n{one},1\n{other},2\n{blanks}{several}")
    assert "missing values in 72 of" in lines[0]
    assert max(map(len, lines)) < 900
    assert not any(map(unplain, lines))


def test_a_test_file_is_read_as_its_training_file_is() -> None:
    Path("test.csv").write_text("a,y\nred,1\n-,2\n")
    source = opened("a,y\nred,1\n-,1\nblue,2\n", categorical="one-hot", missing="drop", split={"test_file": "test.csv"})
    assert source.feature_names == ("a=blue", "a=red")
    assert values_of(source) == [[0, 1], [1, 0], [0, 1]]


def test_words_of_parquet_and_arff_stay_words() -> None:
    frame = pd.DataFrame({"a": ["red", "-", "blue"], "y": [0, 1, 0]})
    frame.to_parquet("mine.parquet")
    header = "@relation r\n@attribute a {red,-,blue}\n@attribute y {0,1}\n@data\n"
    Path("mine.arff").write_text(header + frame.to_csv(index=False, header=False))
    for file in ("mine.parquet", "mine.arff"):
        source = opened_as(file=file, target="y", categorical="one-hot")
        assert source.feature_names == ("a=-", "a=blue", "a=red")
        assert not source.caveats


@pytest.mark.parametrize("option", ["separator", "encoding", "decimal", "na", "no_header", "sheet"])
def test_options_of_text_are_refused_for_other_files(option: str) -> None:
    pd.DataFrame({"a": [1, 2], "y": [0, 1]}).to_parquet("mine.parquet")
    with pytest.raises(UsageError, match=f"'{option}' is not for files of this kind"):
        opened_as(file="mine.parquet", target="y", **{option: option == "no_header" or ","})


class TestExcel:
    def written(self, rows: list[list[Any]], *other_sheets: str, **options: Any) -> DataSource:
        workbook = openpyxl.Workbook()
        for row in rows:
            workbook.active.append(row)
        for name in other_sheets:
            workbook.create_sheet(name)
        workbook.save("mine.xlsx")
        return opened_as(file="mine.xlsx", target="y", missing="drop", **options)

    def test_is_read_as_its_table(self) -> None:
        source = self.written([["a", "b", "c", "y"], [1, 2.5, True, "u"], [3, "-", False, "v"], [4, 4, True, "v"]])
        assert values_of(source) == [[1, 2.5, 1], [4, 4, 1]]
        assert "'b' ('-' in 1 rows)" in source.caveats[0]
        assert source.class_names == ("u", "v")

    def test_a_dash_among_words_is_missing(self) -> None:
        rows = [["a", "b", "y"], [1, "red", "u"], [2, "-", "v"], [3, "blue", "v"]]
        source = self.written(rows, categorical="one-hot")
        assert values_of(source) == [[1, 0, 1], [3, 1, 0]]
        assert "among words" in source.caveats[0]

    def test_other_sheets_and_empty_rows(self) -> None:
        source = self.written([["a", "y"], [1, 1], [None, None], [2, 2]], "old")
        assert values_of(source) == [[1], [2]]
        assert "of the workbook's 2 sheets the first is read, 'Sheet'" in source.caveats[0]

    def test_a_sheet_is_named(self) -> None:
        workbook = openpyxl.Workbook()
        workbook.active.append(["about", "nothing"])
        sheet = workbook.create_sheet("data")
        for row in (["a", "y"], [1, 1], [2, 2]):
            sheet.append(row)
        workbook.save("mine.xlsx")
        source = opened_as(file="mine.xlsx", target="y", sheet="data")
        assert values_of(source) == [[1], [2]]
        assert not source.caveats
        with pytest.raises(UsageError, match=r"has no sheet 'date'; did you mean 'data'\?"):
            opened_as(file="mine.xlsx", target="y", sheet="date")

    def test_decimal_commas_as_text(self) -> None:
        source = self.written([["a", "y"], ["1,5", 1], ["2,5", 2]])
        assert values_of(source) == [[1.5], [2.5]]

    def test_what_is_no_workbook_is_refused(self) -> None:
        for content in (b"a,y\n1,2\n", b"PK\x03\x04 no archive"):
            Path("mine.xlsx").write_bytes(content)
            with pytest.raises(DataError, match=r"mine\.xlsx: not a workbook of Excel"):
                opened_as(file="mine.xlsx", target="y")

    def test_the_extra_is_named_where_it_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(*_: Any, **__: Any) -> None:
            raise ImportError("openpyxl")

        monkeypatch.setattr(pd, "ExcelFile", missing)
        zipfile.ZipFile("mine.xlsx", "w").close()
        with pytest.raises(UsageError, match="pip install openpyxl, or save the sheet as CSV"):
            opened_as(file="mine.xlsx", target="y")


@given(st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=2, max_size=6))
def test_numbers_are_the_same_whatever_the_mark(numbers: list[Any]) -> None:
    lines = [f"{number};{row % 2}\n" for row, number in enumerate(numbers)]
    points = opened("a;y\n" + "".join(lines))
    commas = opened("a;y\n" + "".join(lines).replace(".", ","))
    assert values_of(points) == values_of(commas)


@pytest.mark.parametrize("word", ["1_000", "0x10", "1,2,3,", "12 34", "inf", "one", "1.2.3", "5 mg", "<0.1", ""])
def test_what_is_no_number_is_left_a_word(word: str) -> None:
    assert not reads_as_number(word)
