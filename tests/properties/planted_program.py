"""The program `nfbuild` with another worker planted: `planted_program.py CLASS WORDS...`."""

import sys


def main():
    from nfbuild import core

    # As the program itself does first: what is loaded before would be loaded anew.
    core.install()
    from nfbuild.cli.entry import main as program
    from nfbuild.ops.run.session import Session

    chosen = sys.argv.pop(1)
    plain = Session._make_executor

    def make(self):
        object.__setattr__(self.settings, "target", f"peeping_worker:{chosen}")
        return plain(self)

    Session._make_executor = make
    program()


if __name__ == "__main__":
    main()
