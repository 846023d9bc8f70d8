"""Floor 8: the click commands; each parses, calls one function and prints."""
