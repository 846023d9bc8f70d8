"""Readers: from the files of a source to rows and labels, one format per module."""
