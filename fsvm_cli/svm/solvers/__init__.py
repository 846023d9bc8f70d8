"""The dual problem of a machine, its certified solvers, and the choice among them."""
