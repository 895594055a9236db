"""`python -m bnmtl`: the command `bnmtl` if scripts are not on the path."""

from bnmtl.cli.main import main

if __name__ == "__main__":
    main()
