"""The rankings of a table of one's own, its first config, and the export of what a run recommends."""
