"""Tables, statistics, verdicts and figures from stored outcomes."""
