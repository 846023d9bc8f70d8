"""What a document claims of an experiment, and the rule, fixed before the run, by which the claim is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from fsvm_cli.documents import StrictModel
from fsvm_cli.evaluation.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

PositiveInt = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class Place(StrictModel):
    """A place on a curve, or the mean over a stretch of it."""

    ranking: Text = Field(
        default="all features", description="Label of the ranking; at all features every ranking has the same machine."
    )
    features: Literal["all"] | PositiveInt | Annotated[tuple[PositiveInt, ...], Field(min_length=2, max_length=2)] = (
        Field(default="all", description="Number of retained features; [low, high] for the mean over a range.")
    )
    metric: Literal[*METRICS] = "accuracy"  # type: ignore[valid-type]
    part: Literal["train", "test"] = "test"
    train_size: PositiveInt | None = Field(default=None, description="Training rows, where there are several sizes.")

    def __str__(self) -> str:
        if isinstance(self.features, tuple):
            where = f"{self.features[0]} to {self.features[1]} features"
        else:
            where = "all features" if self.features == "all" else f"{self.features} features"
        of_ranking = f"'{self.ranking}' at " if self.ranking != "all features" else ""
        return f"{self.part} {self.metric}, {of_ranking}{where}"


class Claim(StrictModel):
    """What every claim says."""

    id: Text = Field(description="Identifier of the published value or claim.")
    claim: Text = Field(description="The claim in one sentence.")
    where: Text = Field(description="Where the document prints it.")
    note: str = Field(default="", description="What a reader of the verdict should know.")

    def places(self) -> Iterator[Place]:
        """Yield the places on curves that the claim speaks of."""
        yield from ()

    def rankings(self) -> Iterator[str]:
        """Yield the labels of the rankings that the claim speaks of."""
        yield from (place.ranking for place in self.places())


class NumberClaim(Claim):
    """A printed number, in per cent where nothing else is said."""

    published: float = Field(description="The number as it is printed.")
    decimals: Annotated[int, Field(ge=0, le=6)] = Field(default=2, description="Decimals of the print.")
    print: Literal["rounded", "truncated"] = Field(default="rounded", description="How the print drops the rest.")


class TolerantClaim(NumberClaim):
    """A printed number that ours should come near to."""

    tolerance: Annotated[float, Field(gt=0)] = Field(
        description="Difference that still counts as agreement, in the unit of the number; points for per cents."
    )


class ValueClaim(TolerantClaim):
    """A printed number, in per cent."""

    kind: Literal["value"]
    at: Place
    published_sd: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Its printed spread.")
    published_n: PositiveInt = Field(default=1, description="Number of runs that it is the mean of.")

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at


class SingleRunClaim(NumberClaim):
    """A printed number, in per cent, that comes from one random run: it should be an ordinary one among ours."""

    kind: Literal["single-run"]
    at: Place

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at


class DifferenceClaim(Claim):
    """One place is higher than another, on the same splits."""

    kind: Literal["difference"]
    higher: Place
    lower: Place

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.higher
        yield self.lower


class MonotoneClaim(Claim):
    """A curve falls with every feature that is dropped."""

    kind: Literal["monotone"]
    ranking: Text
    part: Literal["train", "test"] = "test"
    metric: Literal[*METRICS] = "accuracy"  # type: ignore[valid-type]

    def places(self) -> Iterator[Place]:
        """Yield the curve's end."""
        yield Place(ranking=self.ranking, part=self.part, metric=self.metric)


class ScoreOrderClaim(Claim):
    """The scores fall in the order in which the data list the features."""

    kind: Literal["score-order"]
    ranking: Text
    at_least: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Rank correlation between the score and the claimed order that counts as the claimed order."
    )

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking


class CountClaim(Claim):
    """The size of the best subset: the smallest whose mean lies within one standard error of the best mean."""

    kind: Literal["count"]
    ranking: Text
    published: Annotated[tuple[PositiveInt, ...], Field(min_length=2, max_length=2)] = Field(
        description="Smallest and largest printed number of features."
    )
    tolerance: PositiveInt = Field(description="Difference, in features, that still counts as agreement.")
    metric: Literal[*METRICS] = "accuracy"  # type: ignore[valid-type]

    def places(self) -> Iterator[Place]:
        """Yield the curve's end."""
        yield Place(ranking=self.ranking, metric=self.metric)


class SmallestSubsetClaim(Claim):
    """The best subset of a ranking has no more features than that of any other; its size is that of a count."""

    kind: Literal["smallest-subset"]
    ranking: Text
    others: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Labels of the rankings beside it.")
    metric: Literal[*METRICS] = "accuracy"  # type: ignore[valid-type]

    def places(self) -> Iterator[Place]:
        """Yield the ends of the curves, the ranking's own first."""
        yield from (Place(ranking=label, metric=self.metric) for label in (self.ranking, *self.others))


class TopFeaturesClaim(Claim):
    """The best features are these."""

    kind: Literal["top-features"]
    ranking: Text
    features: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Names of the features.")
    at_least: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Mean share of them among as many best features of a trial that counts as agreement."
    )

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking


class SelectedFeaturesClaim(Claim):
    """Exactly these features are selected, in the one run of the document: it should be nothing unusual in ours."""

    kind: Literal["selected-features"]
    ranking: Text
    features: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Names of the features.")
    threshold: float | None = Field(
        default=None, description="Score from which on a feature is selected; as many best ones as named if left out."
    )
    at_least: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Share of our runs that selects exactly these and counts as nothing unusual."
    )

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking


class SelectedCountClaim(TolerantClaim):
    """A printed number of features that a method selects by itself."""

    kind: Literal["selected-count"]
    ranking: Text
    threshold: float = Field(description="Score from which on a feature is selected.")

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking


class BestOfClaim(TolerantClaim):
    """A printed number, in per cent, that is the best of several methods."""

    kind: Literal["best-of"]
    labels: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the methods.")
    features: Literal["all"] | PositiveInt = Field(default="all", description="Number of features or components.")
    metric: Literal[*METRICS] = "accuracy"  # type: ignore[valid-type]

    def places(self) -> Iterator[Place]:
        """Yield the place of each method."""
        yield from (Place(ranking=label, features=self.features, metric=self.metric) for label in self.labels)


Fact = Literal[
    "n_features", "n_classes", "n_train", "n_test", "major-class", "class-uncertainty", "classifier-information"
]


class ProblemClaim(TolerantClaim):
    """A printed fact of the problem: how large it is, how difficult, and how much of it the machine resolves.

    Of the test part: the major class in per cent, the uncertainty of the class and the information of the machine on
    all features in bits. Where there are many runs, the printed one should be an ordinary one among them.
    """

    kind: Literal["problem"]
    fact: Fact

    def places(self) -> Iterator[Place]:
        """Yield the machine on all features."""
        yield Place()


class StatementClaim(Claim):
    """A claim that this experiment alone cannot judge; the note says why."""

    kind: Literal["statement"]

    @model_validator(mode="after")
    def _says_why(self) -> StatementClaim:
        if not self.note:
            raise ValueError("a statement needs a 'note' that says why it is not judged here")
        return self


AnyClaim = Annotated[
    ValueClaim
    | SingleRunClaim
    | DifferenceClaim
    | MonotoneClaim
    | ScoreOrderClaim
    | CountClaim
    | SmallestSubsetClaim
    | TopFeaturesClaim
    | SelectedFeaturesClaim
    | SelectedCountClaim
    | BestOfClaim
    | ProblemClaim
    | StatementClaim,
    Field(discriminator="kind"),
]
