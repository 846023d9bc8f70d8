"""All results of a folder as one HTML page without external resources."""
