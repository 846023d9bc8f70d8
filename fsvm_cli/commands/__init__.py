"""Floor 6: the click commands; each parses, calls one function and prints."""
