"""What documents claim, and the rules, fixed before a run, by which the claims are judged."""
