"""The user's own tables: what is read, and what is refused with a remedy."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from sklearn.utils import Bunch

from fsvm_cli.data.opening import open_source
from fsvm_cli.data.readers import arff, libsvm
from fsvm_cli.data.readers.numbers import Reading
from fsvm_cli.data.source_spec import DatasetSpec, TableSpec
from fsvm_cli.data.tables import dataset_from_table
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.own_data.rank import rank
from tests.helpers.plain_words import REMEDY

if TYPE_CHECKING:
    from fsvm_cli.data.dataset import Dataset

TABLE = "a,b,y\n1,2.5,yes\n3,4,no\n-1e3,0,yes\n"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))


def opened(**written: Any) -> Dataset:
    spec = TypeAdapter(DatasetSpec).validate_python(written)
    return open_source(spec, base_folder=Path(), announce=lambda line: None).draw(np.random.default_rng(0))


def csv(text: str | bytes, **options: Any) -> Dataset:
    Path("mine.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return opened(file="mine.csv", **({"target": "y"} | options))


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        TABLE.rstrip("\n"),
        TABLE.replace("\n", "\r\n"),
        "\ufeff" + TABLE,
        TABLE.replace(",", ";"),
        TABLE.replace(",", "\t"),
        'a,"b",y\n"1",2.5,"yes"\n3,4,no\n-1e3,0,yes\n',
    ],
    ids=["plain", "no last line end", "CRLF", "BOM", "semicolons", "tabs", "quotes"],
)
def test_variants_of_csv(text: str) -> None:
    dataset = csv(text)
    assert dataset.name == "mine.csv"
    assert dataset.feature_names == ("a", "b")
    assert dataset.class_names == ("no", "yes")
    np.testing.assert_array_equal(dataset.X, [[1, 2.5], [3, 4], [-1000, 0]])
    np.testing.assert_array_equal(dataset.y, [1, 0, 1])


def test_numeric_classes_are_in_the_order_of_their_numbers() -> None:
    assert csv("x,y\n1,10\n2,9\n3,-1\n").class_names == ("-1", "9", "10")
    assert csv("x,y\n1,1.5\n2,1.0\n").class_names == ("1", "1.5")
    assert csv("x,y\n1,TRUE\n2,FALSE\n").class_names == ("FALSE", "TRUE")


def test_truth_values_and_dropped_columns() -> None:
    dataset = csv("id,x,y\nq7,true,1\nq8,false,2\n", drop=("id", "id"))
    assert dataset.feature_names == ("x",)
    np.testing.assert_array_equal(dataset.X, [[1], [0]])


def test_words_become_features_when_asked() -> None:
    text = "colour,x,y\nred,1,0\nblue,2,1\nred,3,1\n"
    with pytest.raises(DataError, match=r"columns of words: 'colour' \(blue, red\)\n.*one-hot"):
        csv(text)
    dataset = csv(text, categorical="one-hot")
    assert dataset.feature_names == ("colour=blue", "colour=red", "x")
    np.testing.assert_array_equal(dataset.X, [[0, 1, 1], [1, 0, 2], [0, 1, 3]])


class TestMissing:
    TEXT = "a,b,y\n1,,yes\n3,?,no\nNA,6,yes\n5,8,\n7,10,no\n"

    def test_are_refused_with_counts_and_remedy(self) -> None:
        with pytest.raises(DataError, match=r"in 4 of 5 rows; by column: 'y' \(1\), 'a' \(1\), 'b' \(2\)\n.*drop"):
            csv(self.TEXT)

    def test_rows_are_dropped(self) -> None:
        dataset = csv(self.TEXT + "8,12,yes\n", missing="drop")
        np.testing.assert_array_equal(dataset.X, [[7, 10], [8, 12]])
        np.testing.assert_array_equal(dataset.y, [0, 1])

    def test_means_are_put(self) -> None:
        dataset = csv(self.TEXT.replace("5,8,\n", "5,8,no\n"), missing="mean")
        np.testing.assert_array_equal(dataset.X, [[1, 8], [3, 8], [4, 6], [5, 8], [7, 10]])

    @pytest.mark.parametrize(
        ("text", "missing", "message"),
        [
            (TEXT, "mean", "class is missing in 1 rows"),
            ("a,y\n,1\n,2\n", "mean", "all values are missing in 'a'; drop what is empty"),
            ("a,b,y\n,1,1\n,2,2\n", "drop", "every row"),
            ("a,b,y\nred,1,1\n,2,2\n", "mean", "columns of words"),
        ],
    )
    def test_no_remedy_helps(self, text: str, missing: str, message: str) -> None:
        with pytest.raises(DataError, match=message):
            csv(text, missing=missing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,y\n", "holds no rows"),
        ("\n\n", "not a CSV table|no column"),
        ("a,y\n1,2\n3\n", r"mine\.csv:3: not a CSV table.*1 fields, where the header has 2"),
        ("a,y\n1,2\n3,4,5\n", r"mine\.csv:3: not a CSV table.*3 fields, where the header has 2"),
        ('a,y\r\n"1\n2",2\r\n\r\n3,4,5\r\n', r"mine\.csv:5: not a CSV table.*3 fields"),
        ('a,y\n"1,2\n', "not a CSV table"),
        (",y\n0,1\n1,2\n", "column 1 has no name.*--drop ''"),
        ("a,y\n1,1\noops,2\n3,1\n", r"column 'a' holds numbers and, in 1 rows, words: 'oops'; correct.*one-hot"),
        ("a,a,y\n1,2,1\n3,4,2\n", "column names occur more than once: 'a'"),
        ("a,y\n1,1\n2,1\n", r"only one class \(1\)"),
        ("a,y\n1,1\ninf,2\n", r"infinite values in 1 of 2 rows; by feature: 'a' \(1\)"),
        ("y\n1\n2\n", "no columns are left beside the target 'y'"),
        ("a,y\n2024-01-01,1\n2024-01-02,2\n", "column 'a' holds date32.*drop it"),
        (b"a,y\n\xff\xfe,1\n2,2\n", "column 'a' is not in UTF-8"),
        ("a,y\n" + "".join(f"{row},{row * 0.37}\n" for row in range(200)), "looks like a measurement"),
        ("a,y\n" + "".join(f"w{row},{row % 2}\n" for row in range(200)), "200 different words, such as 'w0'"),
        ("a,y\n1,2024-01-01\n2,2024-01-02\n", "target 'y' holds date32"),
    ],
)
def test_bad_tables_are_refused(text: str | bytes, message: str) -> None:
    with pytest.raises((DataError, UsageError), match=message):
        csv(text)


def test_a_word_far_down_is_named() -> None:
    rows = "".join(f"{row},{row % 2}\n" for row in range(130_000))
    assert len(rows) > 1 << 20, "pyarrow reads such blocks"
    with pytest.raises(DataError, match=r"in 1 rows, words: 'oops'; correct .*drop the column$"):
        csv("a,y\n" + rows + "oops,1\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "Y"}, "no column 'Y'; did you mean 'y'"),
        ({"target": None}, "say which column holds the class.*a, b, y"),
        ({"drop": ("c",)}, "no column 'c'"),
        ({"drop": ("y",)}, "cannot be dropped as well"),
    ],
)
def test_wrong_columns_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        csv(TABLE.replace("y\n", "wy\n", 1).replace("wy", "y"), **options)


def test_many_columns() -> None:
    names = [f"c{column}" for column in range(5_000)]
    row = ",".join("1" for _ in names)
    dataset = csv(",".join([*names, "y"]) + f"\n{row},0\n{row},1\n")
    assert dataset.X.shape == (2, 5_000)


def test_files_that_are_not_there_or_not_known() -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv: cannot be read"):
        opened(file="nowhere.csv", target="y")
    with pytest.raises(UsageError, match=r"the ending does not tell .* one of \.csv, .*config"):
        opened(file="mine.docx", target="y")
    Path("folder.csv").mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        opened(file="folder.csv", target="y")


@pytest.mark.parametrize(
    "name", ["nowhere.csv", "folder.csv", "zero\0byte.csv", "empty.csv", "~nobody/a.csv", "a.docx"]
)
def test_a_file_that_cannot_be_read_is_refused_in_two_lines_with_a_remedy(name: str) -> None:
    Path("folder.csv").mkdir()
    Path("empty.csv").touch()
    Path("mine.csv").write_text("y,a\n0,1\n1,2\n")
    for written in ({"file": name}, {"file": "mine.csv", "split": {"indices": name}}):
        with pytest.raises((DataError, UsageError)) as refused:
            opened(target="y", **written)
        assert len(str(refused.value).splitlines()) <= 2
        assert REMEDY.search(str(refused.value))


def test_parquet() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "y": pd.Categorical(["u", "v", "u"])})
    frame.to_parquet("mine.parquet")
    dataset = opened(file="mine.parquet", target="y")
    np.testing.assert_array_equal(dataset.X, [[1, 1], [2, 0], [3, 1]])
    assert dataset.class_names == ("u", "v")
    whole = Path("mine.parquet").read_bytes()
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"PAR1" + whole[10:]):
        Path("mine.parquet").write_bytes(damaged)
        with pytest.raises(DataError, match="not a Parquet file, or damaged"):
            opened(file="mine.parquet", target="y")


def test_parquet_with_lists_is_refused() -> None:
    pyarrow.parquet.write_table(pa.table({"a": [[1], [2]], "y": [0, 1]}), "mine.parquet")
    with pytest.raises(DataError, match="column 'a' holds list"):
        opened(file="mine.parquet", target="y")


ARFF = """% a comment
@RELATION toy
@ATTRIBUTE a NUMERIC
@ATTRIBUTE 'bit' {0,1}
@ATTRIBUTE class {neg,pos}
@DATA
1.5,0,pos
2,1,neg
"""


def test_arff() -> None:
    Path("mine.arff").write_text(ARFF)
    dataset = opened(file="mine.arff")
    assert dataset.feature_names == ("a", "bit")
    assert dataset.class_names == ("neg", "pos")
    np.testing.assert_array_equal(dataset.X, [[1.5, 0], [2, 1]])
    Path("mine.arff").write_text(ARFF.replace("1.5,0", "?,?"))
    with pytest.raises(DataError, match=r"by column: 'a' \(1\), 'bit' \(1\)"):
        opened(file="mine.arff")


@pytest.mark.parametrize(
    "text",
    [
        "@RELATION toy\n",
        ARFF.replace("NUMERIC", "STRING"),
        ARFF.replace("NUMERIC", "DATE 'yyyy-MM-dd'"),
        ARFF.partition("1.5")[0],
        "no arff at all",
    ],
)
def test_bad_arff_is_refused(text: str) -> None:
    Path("mine.arff").write_text(text)
    with pytest.raises(DataError, match=r"mine\.arff: (not an ARFF|holds no rows)"):
        opened(file="mine.arff")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{0 1.5, 2 pos}", ":8: not a row of values with commas"),
        ("1.5,0", ":8: 2 values, where 3 attributes are declared"),
        ("1.5,0,pos,", ":8: 3 values, where 3 attributes"),
        ("1.5,,pos", ":8: not a row of values"),
        ("1.5,7,pos", ":8: '7' is no value of the attribute 'bit'"),
        ("big,0,pos", ":8: 'big' is no number, which the attribute 'a' holds"),
    ],
)
def test_bad_rows_of_arff_are_refused_with_their_line(row: str, message: str) -> None:
    Path("mine.arff").write_text(ARFF.replace("2,1,neg", row))
    with pytest.raises(DataError, match=r"mine\.arff" + message):
        opened(file="mine.arff")


SPARSE_ARFF = """@RELATION toy
@ATTRIBUTE a NUMERIC
@ATTRIBUTE bit {0,1}
@ATTRIBUTE 'some words' {red, 'light blue', green}
@ATTRIBUTE class {neg,pos}
@DATA
% a comment
{0 1.5, 3 pos}
{ 1 1 , 2 "light blue" }

{}
{0 -2,1 1,2 green,3 'pos'}
"""
DENSE_ARFF = SPARSE_ARFF.partition("%")[0] + "1.5,0,red,pos\n0,1,'light blue',neg\n0,0,red,neg\n-2,1,green,pos\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_sparse_arff_is_what_its_dense_form_is(line_end: str) -> None:
    Path("mine.arff").write_bytes(SPARSE_ARFF.replace("\n", line_end).encode())
    sparse = opened(file="mine.arff", categorical="one-hot")
    Path("mine.arff").write_text(DENSE_ARFF)
    dense = opened(file="mine.arff", categorical="one-hot")
    assert sparse.sha256 == dense.sha256
    assert sparse.feature_names == dense.feature_names
    assert sparse.class_names == dense.class_names
    np.testing.assert_array_equal(sparse.X[:, 0], [1.5, 0, 0, -2])


HEADER_OF_WEKA = r"""@relation 'a \'toy\''
@attribute 'it\'s' real % {0, 1}
@attribute w{'?', "say \"no\"", 'a\\b, c', 5%}
@attribute class {neg , pos} % {low, high}
@data
"""


def test_arff_with_escapes_comments_and_declared_question_marks() -> None:
    rows = ["1.5,'?',pos % first", '2,"say \\"no\\"",neg', "3,'a\\\\b, c',neg", "4,5%,pos"]
    Path("mine.arff").write_text(HEADER_OF_WEKA + "\n".join(rows) + "\n")
    dataset = opened(file="mine.arff", categorical="one-hot")
    assert dataset.feature_names == ("it's", "w=5%", "w=?", "w=a\\b, c", 'w=say "no"')
    np.testing.assert_array_equal(dataset.X[:, 1:] @ [5, 1, 3, 2], [1, 2, 3, 5])
    assert dataset.class_names == ("neg", "pos")
    Path("mine.arff").write_text(HEADER_OF_WEKA + "\n".join([*rows, "5,?,pos", "'?',5%,neg"]) + "\n")
    with pytest.raises(DataError, match=r"by column: 'it's' \(1\), 'w' \(1\)"):
        opened(file="mine.arff", categorical="one-hot")


@pytest.mark.parametrize("rows", ["1.5,0,pos,{2}\n2,1,neg , { 0.5 }\n", "{0 1.5, 2 pos}, {2}\n{0 2, 1 1},{0.5}\n"])
def test_weights_of_the_rows_of_arff_weigh_them(rows: str) -> None:
    Path("mine.arff").write_text(ARFF.partition("1.5")[0] + rows)
    dataset = opened(file="mine.arff")
    assert (dataset.feature_names, dataset.class_names) == (("a", "bit"), ("neg", "pos"))
    np.testing.assert_array_equal(dataset.X, [[1.5, 0], [2, 1]])
    assert dataset.sample_weight is not None
    assert dataset.sample_weight.tolist() == [2, 0.5]
    Path("mine.arff").write_text(ARFF.partition("1.5")[0] + rows.replace("0.5", "1").replace("{2}", "{1}"))
    assert opened(file="mine.arff").sample_weight is None


@pytest.mark.parametrize("line", ["@attribute a real", "@attribute b {}", "@attribute {a} real", "b real"])
def test_bad_attributes_of_arff_are_refused(line: str) -> None:
    Path("mine.arff").write_text(ARFF.replace("@ATTRIBUTE class", f"{line}\n@ATTRIBUTE class"))
    with pytest.raises(DataError, match=r"mine\.arff: not an ARFF file of numbers and names"):
        opened(file="mine.arff")


def test_words_of_every_type_of_parquet_and_categories_of_numbers_are_words() -> None:
    words = pa.array(["u", "v", "u", "v"], pa.string_view())
    codes = pa.array([3, 1, 3, 2]).dictionary_encode()
    pyarrow.parquet.write_table(pa.table({"w": words, "code": codes, "y": words}), "mine.parquet")
    dataset = opened(file="mine.parquet", target="y", categorical="one-hot")
    assert dataset.feature_names == ("w=u", "w=v", "code=1", "code=2", "code=3")
    assert dataset.class_names == ("u", "v")
    np.testing.assert_array_equal(dataset.X[:, 2:] @ [1, 2, 3], [3, 1, 3, 2])


class OfPolars:
    """A data frame of a library that only speaks Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def test_frames_of_other_libraries_and_categories_of_pandas_are_ranked() -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "c": pd.cut([1, 2, 11, 12], [0, 5, 20]), "y": ["u", "u", "v", "v"]})
    with pytest.warns(UserWarning, match=r"order of their categories: 'c' \(\(0, 5\] < \(5, 20\]\)"):
        found = rank(frame, "y", method="fisher", categorical="ordinal")
    assert [*found["feature"]] == ["c", "a"]
    with pytest.raises(DataError, match=r"columns of words: 'c' \(5, 7\)"):
        rank(frame.assign(c=pd.Categorical([7, 7, 5, 5])), "y", method="fisher")
    words = pa.array(["u", "u", "v", "v"], pa.string_view())
    found = rank(OfPolars(pa.table({"a": [1.0, 2, 3, 4], "y": words})), "y", method="fisher")
    assert [*found["feature"]] == ["a"]


def test_several_labels_in_a_row_of_libsvm_are_named() -> None:
    Path("mine.svm").write_text("1 1:2 2:1\n1,2 1:1\n2 2:5\n")
    with pytest.raises(DataError, match=r"mine\.svm:2: several labels in a row \(1,2\)"):
        opened(file="mine.svm")


def test_that_qid_is_ignored_is_said() -> None:
    Path("mine.svm").write_text("# made\n1 qid:1 1:2 2:1\n-1 qid:1 1:1\n")
    assert "qid, which" in opened(file="mine.svm").remarks[-1]
    Path("mine.svm").write_text("1 1:2 2:1 # qid:1\n-1 1:1\n")
    assert not opened(file="mine.svm").remarks


def test_holes_in_sparse_arff_are_holes() -> None:
    Path("mine.arff").write_text(SPARSE_ARFF.replace("{}", "{0 ?, 2 ?}"))
    with pytest.raises(DataError, match=r"in 1 of 4 rows; by column: 'a' \(1\), 'some words' \(1\)"):
        opened(file="mine.arff", categorical="one-hot")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{4 1}", r":11: the index 4 is not one that rises from 0 to 3"),
        ("{1 1, 0 2}", r":11: the index 0 is not one that rises"),
        ("{0 1, 0 2}", r":11: the index 0 is not one that rises"),
        ("{0 red}", r":11: 'red' is no number"),
        ("{2 pink}", r":11: 'pink' is no value of the attribute 'some words'"),
        ("{0}", r":11: not a sparse row .*: '0'"),
        ("{0 1 2}", r":11: '1 2' is no number"),
        ("{0 1", r":11: not a sparse row"),
        ("{0 1}, {five}", r":11: not a sparse row"),
        ("1,0,red,pos", r":11: not a sparse row .* as the rows before it"),
    ],
)
def test_bad_sparse_arff_is_refused_with_its_line(row: str, message: str) -> None:
    Path("mine.arff").write_text(SPARSE_ARFF.replace("{}", row))
    with pytest.raises(DataError, match=r"mine\.arff" + message):
        opened(file="mine.arff")


def test_sparse_arff_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arff, "MAX_CELLS", 15)
    Path("mine.arff").write_text(SPARSE_ARFF)
    with pytest.raises(DataError, match=r"4 rows of 4 attributes .* LIBSVM's sparse format"):
        opened(file="mine.arff")


def test_libsvm() -> None:
    Path("mine.svm").write_text("+1 1:0.5 3:2 # comment\n-1 2:1\n+1\n")
    dataset = opened(file="mine.svm")
    assert isinstance(dataset.X, sp.csr_array)
    np.testing.assert_array_equal(dataset.X.toarray(), [[0.5, 0, 2], [0, 1, 0], [0, 0, 0]])
    assert dataset.class_names == ("-1", "1")
    with pytest.raises(UsageError, match="marks its target"):
        opened(file="mine.svm", target="y")


@pytest.mark.parametrize(
    "text",
    [
        "1 0:1\n-1 1:1\n",
        "1 2:1 1:1\n-1 1:1\n",
        "1 1:1 1:2\n-1 1:1\n",
        "1 a:1\n",
        "yes 1:1\n",
        "1 1:x\n",
        "1 -1:2\n",
        "# none\n",
        "1\n-1\n",
    ],
)
def test_bad_libsvm_is_refused(text: str) -> None:
    Path("mine.svm").write_text(text)
    with pytest.raises(DataError, match=r"mine\.svm(:1: not in LIBSVM's format|: holds no)"):
        opened(file="mine.svm")


@pytest.mark.parametrize("n_before", [0, 1, 2, 7, 100])
def test_the_first_bad_line_of_libsvm_is_named(n_before: int) -> None:
    Path("mine.svm").write_text("1 1:2 # sound\n" * n_before + "1 3:1 2:1\n\n1 2:1\n1 0:1\n")
    with pytest.raises(DataError, match=rf"mine\.svm:{n_before + 1}: .*rise from 1"):
        opened(file="mine.svm")


def test_libsvm_becomes_a_full_matrix_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine.svm").write_text("+1 1:0.5 3:2\n-1 2:1\n")
    dataset = opened(file="mine.svm", dense=True)
    assert isinstance(dataset.X, np.ndarray)
    np.testing.assert_array_equal(dataset.X, [[0.5, 0, 2], [0, 1, 0]])
    monkeypatch.setattr(libsvm, "MAX_DENSE_CELLS", 5)
    with pytest.raises(DataError, match="2 x 3 is too large for a full matrix; leave 'dense' out"):
        opened(file="mine.svm", dense=True)
    with pytest.raises(UsageError, match="'dense' is for LIBSVM's format"):
        csv(TABLE, dense=True)


def test_an_unnamed_column_may_be_dropped() -> None:
    assert csv(",a,y\n0,5,1\n1,6,2\n", drop=("",)).feature_names == ("a",)


def test_words_among_numbers_become_features_when_asked() -> None:
    dataset = csv("a,y\n1,1\noops,2\n3,1\n", categorical="one-hot")
    assert dataset.feature_names == ("a=1", "a=3", "a=oops")


class TestOpenml:
    FRAME = pd.DataFrame({"a": [1.0, 2.0], "class": pd.Categorical(["u", "v"])})

    def test_goes_through_scikit_learn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[dict[str, Any]] = []

        def fetch_openml(**options: Any) -> Bunch:
            asked.append(options)
            warnings.warn("version 1 was taken", stacklevel=2)
            return Bunch(frame=self.FRAME, target_names=["class"])

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
        assert opened(openml=40).class_names == ("u", "v")
        assert opened(openml="sonar", version=2, target="class").name == "openml-sonar"
        assert [(asks["data_id"], asks["name"], asks["version"]) for asks in asked] == [
            (40, None, "active"),
            (None, "sonar", 2),
        ]
        with pytest.raises(UsageError, match="one version"):
            opened(openml=40, version=2)

    def test_what_cannot_be_had_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(**_: Any) -> Bunch:
            raise OSError("no network")

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
        with pytest.raises(DataError, match=r"OpenML 40: is not available \(no network\)\nTry again later, or .*file:"):
            opened(openml=40)


@pytest.mark.parametrize(
    "written",
    [
        {"file": "a.csv", "targett": "y"},
        {"file": "a.csv", "missing": "guess"},
        {"openml": 40, "samples": 3},
        {"name": "wine", "target": "y"},
        {},
        7,
    ],
)
def test_wrong_keys_are_refused(written: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(DatasetSpec).validate_python(written)


@given(
    st.lists(
        st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.sampled_from(["u", "v w", "ü,"])),
        min_size=2,
        max_size=20,
    ).filter(lambda rows: len({row[2] for row in rows}) > 1)
)
def test_numbers_survive_csv_bit_by_bit(rows: list[tuple[float, float, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b", "y"])
    dataset = csv(frame.to_csv(index=False))
    np.testing.assert_array_equal(dataset.X, frame[["a", "b"]].to_numpy())
    assert [dataset.class_names[code] for code in dataset.y] == frame["y"].tolist()
    assert dataset.sha256 == dataset_from_table("t", Reading(pa.Table.from_pandas(frame)), TableSpec(target="y")).sha256


def test_integers_that_floats_cannot_tell_apart_stay_apart_or_are_refused() -> None:
    large = [2**53, 2**53 + 1, 2**53, 2**53 + 1]
    table = pa.table({"a": [1, 2, 3, 5], "y": large})
    assert dataset_from_table("t", Reading(table), TableSpec(target="y")).class_names == (str(2**53), str(2**53 + 1))
    table = pa.table({"a": large, "y": [0, 1, 0, 1]})
    with pytest.raises(DataError, match="column 'a' holds integers so large that"):
        dataset_from_table("t", Reading(table), TableSpec(target="y"))
    table = pa.table({"a": [2**60, 2**60 + 2**20, 0, 1], "y": [0, 1, 0, 1]})
    assert dataset_from_table("t", Reading(table), TableSpec(target="y")).X[1, 0] == 2.0**60 + 2.0**20


@pytest.mark.parametrize("unit", [1e308, 5e-324])
def test_the_mean_of_values_at_the_ends_of_the_doubles_is_between_them(unit: float) -> None:
    table = pa.table({"a": [unit, unit, unit, None], "y": [0, 1, 0, 1]})
    assert dataset_from_table("t", Reading(table), TableSpec(target="y", missing="mean")).X[3, 0] == unit
