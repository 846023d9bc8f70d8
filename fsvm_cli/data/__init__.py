"""Floor 2: data sets, from their source to arrays."""
