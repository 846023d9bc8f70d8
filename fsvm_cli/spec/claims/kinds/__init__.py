"""The kinds of claims: each file holds one, what a config says of it and how it is judged."""
