"""Reading the house: modules as syntax trees, findings with a reason, planted violations.

A rule is a function from a `Module` to findings. A test runs it over the package, and over a module
that was planted to break it: a rule that cannot find its own planted violation fails the suite.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "nfbuild"


@dataclass(frozen=True)
class Module:
    """One module: dotted name, place, text and tree; `parents` climbs the tree."""

    name: str
    path: str
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)
    parents: dict[ast.AST, ast.AST] = field(repr=False)
    is_package: bool = False

    @property
    def room(self) -> str:
        """The name's part after the package: `scene`, `digests`; nothing for the package."""
        return self.name.partition(".")[2].partition(".")[0]

    def line(self, number: int) -> str:
        """Return one line of the text, from 1; nothing for a line that is not there."""
        lines = self.text.splitlines()
        return lines[number - 1].strip() if number <= len(lines) else ""


@dataclass(frozen=True)
class Finding:
    """A broken rule: which, where, and the sentence a reviewer would have written."""

    rule: str
    module: Module
    number: int
    message: str

    def __str__(self) -> str:
        place = f"{self.module.path}:{self.number}"
        return f"{place}: [{self.rule}] {self.message}\n    {self.module.line(self.number)}"


Rule = Callable[[Module], Iterable[Finding]]


def parse(name: str, text: str, path: str | None = None, *, is_package: bool = False) -> Module:
    """Return the module `name` with the given text."""
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    where = path or name.replace(".", "/") + ".py"
    return Module(name, where, text, tree, parents, is_package)


def planted(name: str, text: str) -> Module:
    """Return a module that exists only in a test."""
    return parse(name, dedent(text).lstrip("\n"))


@lru_cache(maxsize=1)
def modules() -> tuple[Module, ...]:
    """Return every module of the package, sorted by name."""
    found = []
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        where = path.relative_to(ROOT).as_posix()
        found.append(parse(name, path.read_text("utf-8"), where, is_package=is_package))
    return tuple(found)


def imports(module: Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield every module that `module` names in an import, wherever the import stands.

    `from nfbuild import scene` names `nfbuild.scene`, as the import system would find it there.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            if base == PACKAGE:
                for alias in node.names:
                    yield f"{PACKAGE}.{alias.name}", node
            else:
                known = {each.name for each in modules()}
                inner = [f"{base}.{alias.name}" for alias in node.names]
                yield from ((name, node) for name in inner if name in known)
                if not known.issuperset(inner):
                    yield base, node
        elif isinstance(node, ast.Call) and node.args:
            called = dotted(node.func)
            first = node.args[0]
            if (
                called in ("importlib.import_module", "import_module", "__import__")
                and isinstance(first, ast.Constant)
                and isinstance(first.value, str)
            ):
                yield first.value, node


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    keep = len(parts) - node.level + (1 if module.is_package else 0)
    return ".".join([*parts[:keep], *([node.module] if node.module else [])])


def dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a chain of names, and nothing for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def is_lazy(module: Module, node: ast.AST) -> bool:
    """Tell whether `node` does not run when the module is imported."""
    climb: ast.AST | None = node
    while climb is not None:
        if isinstance(climb, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return True
        climb = module.parents.get(climb)
    return is_type_only(module, node)


def is_type_only(module: Module, node: ast.AST) -> bool:
    """Tell whether `node` stands under `if TYPE_CHECKING:`, where only the type checker looks."""
    climb: ast.AST | None = node
    while climb is not None:
        parent = module.parents.get(climb)
        if (
            isinstance(parent, ast.If)
            and climb in parent.body
            and dotted(parent.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        ):
            return True
        climb = parent
    return False


def report(findings: Iterable[Finding]) -> str:
    """Return the findings as a person reads them."""
    return "\n".join(["", *(str(each) for each in findings)])
