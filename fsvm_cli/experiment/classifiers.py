"""Classifiers other than the support vector machine that a config can name: scikit-learn's."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Literal

from pydantic import Field
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fsvm_cli.documents import StrictModel


class PlainClassifier(StrictModel):
    """A classifier of scikit-learn; several classes are its own affair, and it has no duality gap to reach."""

    type: str

    def handed(self) -> dict[str, Any]:
        """Hand itself to ranking methods that take any classifier; methods that train machines cannot be listed."""
        return {"estimator": self.estimator(random_state=0)}

    @abstractmethod
    def estimator(self, random_state: int) -> Any:
        """Build the estimator; `random_state` decides what it draws, if it draws anything."""


class NaiveBayes(PlainClassifier):
    """Features that are independent within each class, with Laplace's correction for features of 0 and 1."""

    type: Literal["naive-bayes"]
    likelihood: Literal["bernoulli", "gaussian"] = Field(
        description="Distribution of a feature in a class: bernoulli for features of 0 and 1, gaussian for others."
    )

    def estimator(self, random_state: int) -> Any:  # noqa: ARG002 - nothing is drawn
        """Build the estimator."""
        return BernoulliNB() if self.likelihood == "bernoulli" else GaussianNB()


class DecisionTree(PlainClassifier):
    """A decision tree that splits by entropy.

    It is not C4.5: it divides every feature in two, takes the gain of information, not its ratio, and prunes nothing.
    """

    type: Literal["decision-tree"]
    min_samples_leaf: Annotated[int, Field(ge=1)] = Field(default=2, description="Fewest training rows of a leaf.")

    def estimator(self, random_state: int) -> Any:
        """Build the estimator; splits that are equally good are drawn from."""
        return DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=self.min_samples_leaf, random_state=random_state
        )
