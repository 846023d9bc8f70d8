from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.errors import DataError

X = np.array([[0.0, 1.0], [2.0, 0.0], [3.0, 4.0]])
Y = np.array([0, 1, 0])


def small(**changes: object) -> Dataset:
    dataset = Dataset(name="small", X=X, y=Y, feature_names=("a", "b"), class_names=("no", "yes"), sha256="0" * 64)
    return replace(dataset, **changes)


def test_sizes_and_counts() -> None:
    dataset = small()
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (3, 2, 2)
    assert dataset.class_counts() == {"no": 2, "yes": 1}


@pytest.mark.parametrize("convert", [np.array, sp.csr_array])
def test_missing_and_infinite_values_are_named_with_their_counts(convert: type) -> None:
    bad = convert([[np.nan, 1.0], [np.inf, 0.0], [3.0, np.nan]])
    with pytest.raises(DataError, match=r"in 3 of 3 rows; by feature: 'a' \(2\), 'b' \(1\)"):
        small(X=bad)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": X.astype(np.float32)}, "float64"),
        ({"X": sp.csc_array(X)}, "csc_array"),
        ({"X": np.empty((0, 2)), "y": np.array([], dtype=np.int64)}, "0 rows"),
        ({"y": Y.astype(np.int32)}, "int64"),
        ({"y": Y[:2]}, "3 rows"),
        ({"y": np.array([0, 1, 2])}, "codes must be 0..1"),
        ({"class_names": ("no",)}, "only one class"),
        ({"class_names": ("no\nyes",)}, r"only one class \(no\\nyes\)"),
        ({"name": "a\nb", "class_names": ("no",)}, r"data set 'a\\nb'"),
        ({"class_names": ("no", "no")}, "class names occur more than once: 'no'"),
        ({"feature_names": ("a", "a")}, "feature names occur more than once: 'a'"),
        ({"feature_names": ("a",)}, "1 feature names for 2 features"),
        ({"train_indices": np.array([0])}, "both training and test"),
        ({"train_indices": np.array([0, 1]), "test_indices": np.array([1, 2])}, "distinct"),
        ({"train_indices": np.array([0]), "test_indices": np.array([3])}, "within the data"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        small(**changes)


def test_hash_sees_values_and_nothing_else() -> None:
    split = (np.array([0, 1]), np.array([2]))
    plain = hash_values(X, Y)
    assert plain == hash_values(np.asfortranarray(X), Y) == hash_values(np.where(X == 0, -0.0, X), Y)
    others = [
        hash_values(X + 1e-12, Y),
        hash_values(X, 1 - Y),
        hash_values(X, Y, split),
        hash_values(X, Y, split[::-1]),
        hash_values(X.reshape(2, 3), Y),
        hash_values(sp.csr_array(X), Y),
    ]
    assert len({plain, *others}) == 7


def test_hash_of_a_sparse_matrix_does_not_depend_on_its_storage() -> None:
    untidy = sp.csr_array((np.array([1.0, 0.5, 0.5, 0.0]), np.array([2, 0, 0, 1]), np.array([0, 4])), shape=(1, 3))
    tidy = sp.csr_array(np.array([[1.0, 0.0, 1.0]]))
    assert hash_values(untidy, Y[:1]) == hash_values(tidy, Y[:1])
    assert untidy.nnz == 4
