"""Floor 3: data sets, from their source to arrays."""
