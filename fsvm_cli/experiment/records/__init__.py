"""What an experiment keeps of its first split beside figures of merit, one kind of record per file.

A file of this folder defines one subclass of :class:`~fsvm_cli.experiment.records.base.Record`; a config names it in
`record`, by the name of the file with hyphens.
"""
