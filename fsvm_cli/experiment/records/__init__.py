"""What an experiment keeps of its first split beside figures of merit.

A record is a subclass of :class:`~fsvm_cli.experiment.records.base.Record`; a config names it in `record`, by the
`name` of the class, and `fsvm_cli.spec.schema` lists the names. `fsvm_cli.report.diagnostics` draws it.
"""
