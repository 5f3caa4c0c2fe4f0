"""`python -m nfbuild`."""

from nfbuild.cli.entry import main

if __name__ == "__main__":
    main()
