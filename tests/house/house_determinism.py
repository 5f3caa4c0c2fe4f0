"""The rules of determinism, as readers of syntax trees; `test_house_determinism` runs them.

They read text, so they are honest about what they see: a set is what is written as one, is
annotated as one, or was assigned from one in the same scope.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from house_reading import Finding, Module, dotted, imports

SETS = "a set has no order that two processes share: sort it before anything is made of it"
SET_METHODS = ("union", "intersection", "difference", "symmetric_difference", "copy")
SET_NAMES = ("set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet")
# What does not care in which order it is fed.
UNORDERED = ("sorted", "set", "frozenset", "any", "all", "len", "min", "max", "by_utf8", "bool")
# What makes a sequence, a text or a number out of the order it is fed in.
ORDERING = (
    *("list", "tuple", "iter", "enumerate", "map", "filter", "zip", "sum", "str", "repr"),
    *("bytes", "bytearray", "next", "reversed", "dict", "deque", "OrderedDict", "reduce", "array"),
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def set_iteration(module: Module) -> Iterator[Finding]:
    """Nothing walks over a set in the order the interpreter happens to hold it."""
    sets = _Sets(module)
    for node in ast.walk(module.tree):
        bad: ast.AST | None = None
        if isinstance(node, ast.For | ast.AsyncFor) and sets.is_set(node.iter):
            bad = node.iter
        elif isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp | ast.SetComp):
            walked = [part.iter for part in node.generators if sets.is_set(part.iter)]
            parent = module.parents.get(node)
            absorbed = isinstance(node, ast.SetComp) or (
                isinstance(parent, ast.Call) and _order_free(parent)
            )
            bad = walked[0] if walked and not absorbed else None
        elif isinstance(node, ast.Call):
            name = dotted(node.func).rpartition(".")[2]
            first = node.args[0] if node.args else None
            is_join = isinstance(node.func, ast.Attribute) and node.func.attr in (
                *("join", "extend", "writelines", "fromkeys"),
            )
            feeds = name in ORDERING or is_join or (name in ("min", "max") and node.keywords)
            if feeds:
                bad = next((each for each in node.args if sets.is_set(each)), None)
            elif isinstance(node.func, ast.Attribute) and name == "pop" and first is None:
                bad = node if sets.is_set(node.func.value) else None
        elif isinstance(node, ast.Starred | ast.YieldFrom | ast.FormattedValue):
            bad = node if node.value is not None and sets.is_set(node.value) else None
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.List):
            bad = node if sets.is_set(node.value) else None
        if bad is not None:
            yield Finding("set order", module, bad.lineno, SETS)


def _order_free(call: ast.Call) -> bool:
    name = dotted(call.func).rpartition(".")[2]
    if name in ("min", "max") and call.keywords:
        return False  # equal keys: the first one wins
    return name in (*UNORDERED, "update", "isdisjoint", "issubset", "issuperset")


class _Sets:
    """Which expressions of a module are sets, as far as its text says so."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.names: set[tuple[ast.AST | None, str]] = set()
        self.attributes: set[str] = set()
        # Twice: a name may be assigned from one that is found further down.
        for _ in range(2):
            for node in ast.walk(module.tree):
                self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.AnnAssign) and _says_set(node.annotation):
            self._add(node.target, node)
            in_class = isinstance(self.module.parents.get(node), ast.ClassDef)
            if in_class and isinstance(node.target, ast.Name):
                self.attributes.add(node.target.id)
        elif isinstance(node, ast.Assign) and self.is_set(node.value):
            for target in node.targets:
                self._add(target, node)
        elif isinstance(node, ast.arg) and node.annotation and _says_set(node.annotation):
            self.names.add((self._scope(node), node.arg))
        elif isinstance(node, ast.FunctionDef) and node.returns and _says_set(node.returns):
            self.attributes.add(f"{node.name}()")
            self.names.add((None, f"{node.name}()"))
            decorated = [dotted(each).rpartition(".")[2] for each in node.decorator_list]
            if "property" in decorated or "cached_property" in decorated:
                self.attributes.add(node.name)

    def _add(self, target: ast.AST, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self.names.add((self._scope(node), target.id))
        elif isinstance(target, ast.Attribute):
            self.attributes.add(target.attr)

    def _scope(self, node: ast.AST) -> ast.AST | None:
        climb: ast.AST | None = self.module.parents.get(node)
        while climb is not None:
            if isinstance(climb, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return climb
            climb = self.module.parents.get(climb)
        return None

    def is_set(self, node: ast.AST) -> bool:
        """Tell whether the text says that `node` is a set."""
        if isinstance(node, ast.Set | ast.SetComp):
            return True
        if isinstance(node, ast.Name):
            scope = self._scope(node)
            while True:
                if (scope, node.id) in self.names:
                    return True
                if scope is None:
                    return False
                scope = self._scope(scope)
        if isinstance(node, ast.Attribute):
            return node.attr in self.attributes
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            if name in ("set", "frozenset") or (None, f"{name}()") in self.names:
                return True
            if isinstance(node.func, ast.Attribute):
                inner = node.func.value
                known = f"{node.func.attr}()" in self.attributes
                return known or (node.func.attr in SET_METHODS and self.is_set(inner))
            return False
        if isinstance(node, ast.BinOp) and isinstance(
            node.op, ast.Sub | ast.BitAnd | ast.BitOr | ast.BitXor
        ):
            return any(self.is_set(side) or _is_view(side) for side in (node.left, node.right))
        if isinstance(node, ast.IfExp):
            return self.is_set(node.body) or self.is_set(node.orelse)
        if isinstance(node, ast.NamedExpr):
            return self.is_set(node.value)
        return False


def _is_view(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("keys", "items")
    )


def _says_set(annotation: ast.AST) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return False
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.BinOp):  # `set[str] | None`
        return _says_set(annotation.left) or _says_set(annotation.right)
    return dotted(annotation).rpartition(".")[2] in SET_NAMES


def hash_and_id(module: Module) -> Iterator[Finding]:
    """`hash()` changes with the hash seed, `id()` with the address."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and dotted(node.func) in ("hash", "id", "builtins.hash"):
            if _inside_hash_method(module, node):
                continue  # what a dictionary asks of a key never leaves the process
            name = dotted(node.func)
            why = f"`{name}()` differs between two runs: name things by their digests"
            yield Finding("hash and id", module, node.lineno, why)
        elif isinstance(node, ast.keyword) and dotted(node.value) in ("hash", "id"):
            why = f"`{dotted(node.value)}` as a key differs between two runs: sort by a digest"
            yield Finding("hash and id", module, node.value.lineno, why)


def _inside_hash_method(module: Module, node: ast.AST) -> bool:
    climb: ast.AST | None = node
    while climb is not None:
        if isinstance(climb, ast.FunctionDef) and climb.name == "__hash__":
            return True
        climb = module.parents.get(climb)
    return False


SURROUNDINGS = {
    "random": "randomness comes in as a seed that the report records",
    "secrets": "randomness comes in as a seed that the report records",
    "uuid": "a name that nobody can derive again is no name",
    "time": "no time is an input: the clock is read above, and told to the user only",
    "datetime": "no time is an input: the clock is read above, and told to the user only",
    "calendar": "no time is an input, and its names follow the locale",
    "locale": "no locale reaches an output",
    "getpass": "no user reaches an output",
    "socket": "no host reaches an output",
    "tempfile": "a random name; whoever owns the folder names the file",
}
ENVIRONMENT = ("os.environ", "os.getenv", "os.urandom", "os.getlogin", "os.times", "os.getrandom")


def surroundings(module: Module) -> Iterator[Finding]:
    """Neither chance nor clock nor locale nor environment is an input."""
    for name, node in imports(module):
        top = name.partition(".")[0]
        if top in SURROUNDINGS:
            why = f"`{top}`: {SURROUNDINGS[top]}"
            yield Finding("surroundings", module, node.lineno, why)
        if name == "os" and isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"os.{alias.name}" in ENVIRONMENT:
                    why = f"`{alias.name}`: no environment variable and no chance is an input"
                    yield Finding("surroundings", module, node.lineno, why)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and dotted(node) in ENVIRONMENT:
            why = f"`{dotted(node)}`: no environment variable and no chance is an input"
            yield Finding("surroundings", module, node.lineno, why)


LISTINGS = ("listdir", "scandir", "walk", "fwalk", "iterdir", "glob", "rglob", "iglob")


def directory_order(module: Module) -> Iterator[Finding]:
    """A directory is listed in the order its file system likes: it is sorted on the spot."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func).rpartition(".")[2]
        if not name and isinstance(node.func, ast.Attribute):
            name = node.func.attr
        if name not in LISTINGS:
            continue
        if name in ("walk", "fwalk") and dotted(node.func) not in (name, f"os.{name}"):
            continue  # a tree's own `walk` goes in the tree's order
        climb: ast.AST | None = module.parents.get(node)
        while isinstance(climb, ast.GeneratorExp | ast.ListComp | ast.comprehension | ast.Starred):
            climb = module.parents.get(climb)
        if isinstance(climb, ast.Call) and dotted(climb.func) in UNORDERED:
            continue
        if isinstance(climb, ast.withitem) and _only_sorted(module, climb):
            continue
        why = f"`{name}` gives names in the file system's order: wrap it in `sorted(...)` here"
        yield Finding("directory order", module, node.lineno, why)


def _only_sorted(module: Module, item: ast.withitem) -> bool:
    # `with os.scandir(folder) as found:` whose `found` goes into `sorted` and nowhere else.
    if not isinstance(item.optional_vars, ast.Name):
        return False
    block = module.parents[item]
    uses = [
        module.parents[node]
        for node in ast.walk(block)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id == item.optional_vars.id
    ]
    return bool(uses) and all(
        isinstance(use, ast.Call) and dotted(use.func) in UNORDERED for use in uses
    )


COMPLETION = ("as_completed", "imap_unordered", "FIRST_COMPLETED", "asyncio")


def completion_order(module: Module) -> Iterator[Finding]:
    """Nothing canonical is made in the order in which workers finish."""
    for node in ast.walk(module.tree):
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Name):
            name = node.id
        elif isinstance(node, ast.alias):
            name = node.name.rpartition(".")[2]
        if name in COMPLETION:
            why = f"`{name}` gives results in the order of their completion: merge in key order"
            yield Finding("completion order", module, node.lineno, why)


# Exact by IEEE 754, or integer: every C library gives the same bits.
EXACT = (
    *("floor", "ceil", "trunc", "sqrt", "isqrt", "fabs", "fmod", "copysign", "frexp", "ldexp"),
    *("modf", "isfinite", "isinf", "isnan", "gcd", "lcm", "comb", "perm", "inf", "nan", "pi"),
    *("tau", "e", "nextafter", "ulp", "factorial", "prod"),
)
INEXACT = _words(
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 "
    "log10 log1p pow power float_power hypot cbrt degrees radians deg2rad rad2deg arcsin arccos "
    "arctan arctan2 sinc interp"
)
REDUCTIONS = _words("mean average std var dot vdot matmul einsum cumprod nansum trapz")
LIBM = "the last digits come from the C library: use the core's own fixed-order series"


def libm(module: Module) -> Iterator[Finding]:
    """Only + - * / `sqrt` and comparisons decide pixels: the rest differs between C libraries."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("math", "numpy"):
            for alias in node.names:
                allowed = EXACT if node.module == "math" else ()
                wrong = alias.name not in allowed if allowed else alias.name in INEXACT
                if wrong:
                    yield Finding("libm", module, node.lineno, f"`{alias.name}`: {LIBM}")
        elif isinstance(node, ast.Import) and any(a.name == "cmath" for a in node.names):
            yield Finding("libm", module, node.lineno, f"`cmath`: {LIBM}")
        elif isinstance(node, ast.Attribute):
            base = dotted(node.value)
            if base == "math" and node.attr not in EXACT:
                yield Finding("libm", module, node.lineno, f"`math.{node.attr}`: {LIBM}")
            elif base in ("np", "numpy") and node.attr in INEXACT:
                yield Finding("libm", module, node.lineno, f"`{base}.{node.attr}`: {LIBM}")


def reductions(module: Module) -> Iterator[Finding]:
    """No vectorised reduction of floats: its order follows the width of the processor's lanes."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            why = "`@` adds in an order of its own: write the sum in a fixed order"
            yield Finding("reductions", module, node.lineno, why)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            typed = any(each.arg == "dtype" and "int" in ast.dump(each) for each in node.keywords)
            if name in REDUCTIONS or (name in ("sum", "cumsum") and not typed):
                why = f"`{name}` adds in an order of its own: add integers and say so by `dtype`"
                yield Finding("reductions", module, node.lineno, why)


def power(module: Module) -> Iterator[Finding]:
    """`**` and `pow` are libm's `pow` as soon as one side is a float."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow):
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
            constant = isinstance(node, ast.BinOp) and all(
                isinstance(side, ast.Constant) and isinstance(side.value, int) for side in sides
            )
            if not constant:
                why = "`**` is the C library's `pow` on floats: multiply in a written order"
                yield Finding("power", module, node.lineno, why)
        elif isinstance(node, ast.Call) and dotted(node.func) == "pow" and len(node.args) == 2:
            why = "`pow` is the C library's on floats: multiply in a written order"
            yield Finding("power", module, node.lineno, why)


CHARACTER_TESTS = _words(
    "isalpha isalnum isdigit isdecimal isnumeric isspace isupper islower istitle isidentifier "
    "isprintable casefold swapcase title capitalize"
)
CLASSES = re.compile(r"(?<!\\)(?:\\\\)*\\[wWdDsSbB]")
RE_FUNCTIONS = (
    *("compile", "match", "search", "fullmatch", "split", "findall", "finditer", "sub", "subn"),
)


def characters(module: Module) -> Iterator[Finding]:
    """The core has its own character tables: the interpreter's follow its Unicode version."""
    for name, node in imports(module):
        if name == "unicodedata":
            why = "`unicodedata` differs between interpreters: use the core's own tables"
            yield Finding("characters", module, node.lineno, why)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr in CHARACTER_TESTS:
            why = f"`str.{node.attr}` differs between interpreters: use the core's own tables"
            yield Finding("characters", module, node.lineno, why)
        elif isinstance(node, ast.Call):
            yield from _pattern(module, node)


def _pattern(module: Module, node: ast.Call) -> Iterator[Finding]:
    base, _, name = dotted(node.func).rpartition(".")
    if base != "re" or name not in RE_FUNCTIONS or not node.args:
        return
    asked = " ".join(ast.dump(each) for each in (*node.args[1:], *node.keywords))
    if "'ASCII'" in asked or "'A'" in asked:
        return
    pattern = _constant(module, node.args[0])
    if isinstance(pattern, bytes) or (isinstance(pattern, str) and "(?a" in pattern):
        return
    if pattern is None:
        why = "a pattern that is put together at run time: give it `re.ASCII`"
        yield Finding("characters", module, node.lineno, why)
    elif CLASSES.search(pattern) or "IGNORECASE" in asked or "'I'" in asked:
        why = "`\\w \\d \\s \\b` and case follow the interpreter's Unicode: give it `re.ASCII`"
        yield Finding("characters", module, node.lineno, why)


def _constant(module: Module, node: ast.AST) -> str | bytes | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value
    if isinstance(node, ast.Name):
        for statement in module.tree.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if any(isinstance(each, ast.Name) and each.id == node.id for each in targets):
                return _constant(module, statement.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _constant(module, node.left), _constant(module, node.right)
        if isinstance(left, str) and isinstance(right, str):
            return left + right
        if isinstance(left, bytes) and isinstance(right, bytes):
            return left + right
    if isinstance(node, ast.JoinedStr):
        parts = [_constant(module, each) for each in node.values]
        return "".join(parts) if all(isinstance(part, str) for part in parts) else None
    if isinstance(node, ast.FormattedValue) and node.format_spec is None:
        return _constant(module, node.value)
    return None
