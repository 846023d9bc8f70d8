"""The language of configs; what an experiment may say, and how it is read."""
