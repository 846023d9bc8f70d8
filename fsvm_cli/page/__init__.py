"""One page in HTML that holds all results of a folder, and needs nothing beside itself."""
