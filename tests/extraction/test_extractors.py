"""What every extractor promises, and each against scikit-learn or brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsvm_cli.extraction.lda import LinearDiscriminants
from fsvm_cli.extraction.pca import PrincipalComponents
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.extraction.smife import SeparatedInformation, joint_information
from fsvm_cli.ranking.quantise import quantise
from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from fsvm_cli.extraction.base import Extractor

METHODS = list(extraction_methods().values())
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method)


def mixed_classes(y: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(len(y), 5)) @ rng.normal(size=(5, 5))
    X[:, :3] += np.eye(3)[y] @ rng.normal(size=(3, 3)) * 3
    return X


Y = np.arange(120) % 3
X = mixed_classes(Y)


@parametrize_with_checks([method() for method in METHODS])
def test_it_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_name_means_one_thing() -> None:
    assert not extraction_methods().keys() & ranking_methods().keys()


@every_method
def test_components_are_projections_of_centred_samples(method: type[Extractor]) -> None:
    fitted = method(n_components=2).fit(X, Y)
    assert fitted.directions_.shape == (5, 2)
    np.testing.assert_allclose(fitted.transform(X[:7]), (X[:7] - X.mean(axis=0)) @ fitted.directions_)
    assert fitted.get_feature_names_out().tolist() == [f"{method.__name__.lower()}{k}" for k in range(2)]


@every_method
def test_fewer_components_are_the_first_ones(method: type[Extractor]) -> None:
    np.testing.assert_allclose(method(n_components=1).fit_transform(X, Y), method().fit_transform(X, Y)[:, :1])


@every_method
def test_fitting_again_gives_the_same(method: type[Extractor]) -> None:
    extractor = method()
    np.testing.assert_array_equal(extractor.fit_transform(X, Y), extractor.fit_transform(X, Y))


@every_method
def test_a_constant_feature_gives_finite_components(method: type[Extractor]) -> None:
    with_constant = np.column_stack([X, np.full(len(X), 7.0)])
    assert np.isfinite(method().fit(with_constant, Y).transform(with_constant)).all()


@every_method
def test_one_class_is_refused(method: type[Extractor]) -> None:
    with pytest.raises(ValueError, match="one class"):
        method().fit(X, np.zeros(len(X)))


@every_method
def test_sparse_matrices_are_refused(method: type[Extractor]) -> None:
    with pytest.raises(TypeError, match="Sparse data was passed"):
        method().fit(sp.csr_array(X), Y)


@every_method
@pytest.mark.parametrize("n_components", [0, 6])
def test_impossible_numbers_of_components_are_refused(method: type[Extractor], n_components: int) -> None:
    with pytest.raises(ValueError, match=f"n_components is {n_components}; X has 5 features"):
        method(n_components=n_components).fit(X, Y)


@every_method
def test_parameters_are_checked_and_documented(method: type[Extractor]) -> None:
    for name in method._get_param_names():
        assert f"{name} : " in (method.__doc__ or "")
    for name in method.parameters_model().model_fields:
        assert name not in method.passed_down | method.outside_configs
        with pytest.raises(ValueError, match=f"{method.method}: ({name} is 'nonsense'|'nonsense' is no {name})"):
            method(**{name: "nonsense"}).fit(X, Y)


def test_pca_is_scikit_learns() -> None:
    np.testing.assert_allclose(PrincipalComponents().fit_transform(X, Y), PCA().fit_transform(X), atol=1e-12)
    assert PrincipalComponents().fit(X[:3], Y[:3]).n_components_ == 3


def test_lda_is_scikit_learns_and_has_no_more_components_than_classes() -> None:
    found = LinearDiscriminants().fit_transform(X, Y)
    expected = LinearDiscriminantAnalysis().fit_transform(X, Y)
    assert found.shape == (120, 2)
    np.testing.assert_allclose(found - found.mean(axis=0), expected - expected.mean(axis=0), atol=1e-10)


def test_joint_information_is_that_of_tables_of_counts() -> None:
    codes = quantise(X, 3)
    found = joint_information(codes, Y)
    for i in range(5):
        for j in range(5):
            pair = codes[:, i] * 3 + codes[:, j]
            assert found[i, j] == pytest.approx(mutual_info_score(Y, pair) / np.log(2), abs=1e-9)


def test_smife_finds_eigenvectors_the_largest_first() -> None:
    directions = SeparatedInformation(n_bins=3).fit(X, Y).directions_
    matrix = joint_information(quantise(X - X.mean(axis=0), 3), Y)
    values = np.diag(directions.T @ matrix @ directions)
    np.testing.assert_allclose(matrix @ directions, directions * values, atol=1e-10)
    assert (np.diff(np.abs(values)) <= 1e-12).all()
