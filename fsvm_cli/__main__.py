"""`python -m fsvm_cli`, where the console script is not on the path."""

from fsvm_cli.cli import main

if __name__ == "__main__":
    main()
