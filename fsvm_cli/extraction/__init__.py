"""Feature extractors, which make few new features of all, one per file; baselines of infoprop2001."""
