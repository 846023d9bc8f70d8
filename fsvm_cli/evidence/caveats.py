"""What is said of an ascent on the evidence, whoever ran it."""

from __future__ import annotations

AT_BOUNDS, WITHIN_ERROR = "hyperparameters at bounds", "steps within their error"
"""What tables call the number of hyperparameters that ascents kept from running away, and that of steps whose gradient
is smaller than its Monte Carlo error."""
ROUGH = "steps by rough draws"
"""What they call the number of steps whose draws are rough; see `SamplerReport`."""
UNMOVED = "ascents without a length scale moved"
"""What they call the number of ascents that left all length scales where they began."""
CAVEATS = {
    AT_BOUNDS: "hyperparameters ran a factor of e^10 from where the ascent began, and were kept there",
    WITHIN_ERROR: "steps of the ascent had a gradient smaller than its Monte Carlo error",
    ROUGH: "steps of the ascent had a gradient whose error is not known: R-hat above 1.05, or Pareto k-hat above 0.7",
    UNMOVED: "ascents ended with all length scales where they began, as where features are not scaled: "
    "they tell none apart",
}
"""The same in words, where there are any."""
