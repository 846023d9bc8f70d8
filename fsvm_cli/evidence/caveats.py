"""What is said of an ascent on the evidence, whoever ran it."""

from __future__ import annotations

AT_BOUNDS, WITHIN_ERROR = "hyperparameters at bounds", "steps within their error"
"""What tables call the number of hyperparameters that ascents kept from running away, and that of steps whose gradient
is smaller than its Monte Carlo error."""
CAVEATS = {
    AT_BOUNDS: "hyperparameters ran a factor of e^10 from where the ascent began, and were kept there",
    WITHIN_ERROR: "steps of the ascent had a gradient smaller than its Monte Carlo error",
}
"""The same in words, where there are any."""
