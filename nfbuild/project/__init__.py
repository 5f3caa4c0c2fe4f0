"""The project: everything one `nfbuild.toml` names.

`load` finds and reads it, `values` are what it says, `schema` is the list of its keys, `reading`
turns a parsed table into values and names the line where it cannot, `discover` finds the
compositions, `select` answers what NAME means, `faces` finds face files, `targets` the files that
exports write, `init` writes a new project.

Nothing here reads a composition. Importing it must stay cheap: every command pays for it.
"""

from nfbuild.project.discover import Discovery, Listed, discover
from nfbuild.project.load import load
from nfbuild.project.select import select
from nfbuild.project.values import Project

__all__ = ["Discovery", "Listed", "Project", "discover", "load", "select"]
