"""One process of a crowd of whole programs: `cache_actor.py ROLE ROOT SECONDS`.

A builder makes its exports anew, again and again, and compares them with the truth in `truth.json`
beside its project; a collector collects; a scrubber reads everything. Each ends with one line of
JSON; a wrong answer ends it with exit code 3.
"""

import contextlib
import io
import json
import shutil
import sys
import time
from pathlib import Path

from cache_space import product

from nfbuild.cli.app import run
from nfbuild.cli.entry import arrange


def call(root, *words):
    """Run a verb of the program in this process; return its exit code and its document."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run(arrange([*words, "-C", str(root), "--json", "-q"]))
    return code, json.loads(out.getvalue())


def build(root):
    """Build from what the cache has, with every export to be made; return what was drawn."""
    shutil.rmtree(root / "out", ignore_errors=True)
    shutil.rmtree(root / "ledger", ignore_errors=True)
    code, document = call(root, "build", "-j", "1", "--rehash")
    if code != 0:
        print(json.dumps({"wrong": document}))
        sys.exit(3)
    truth = json.loads((root.parent / "truth.json").read_text())
    if product(root).files != truth:
        print(json.dumps({"wrong": "the product differs", "root": str(root)}))
        sys.exit(3)
    lied = document["totals"]["cache_lied"]
    corrupt = document["cache"]["corrupt"]
    return {"drawn": document["totals"]["rendered"], "bad": lied + corrupt}


def collect(root):
    """Collect; return how many files went."""
    code, document = call(root, "cache", "collect")
    assert code == 0, document
    done = [folder["done"] for folder in document["folders"] if folder["done"]]
    return {"gone": sum(one["files"] for one in done)}


def scrub(root):
    """Read everything; nothing may be damaged, whoever writes just now."""
    code, document = call(root, "cache", "verify")
    if code != 0:
        print(json.dumps({"wrong": document}))
        sys.exit(3)
    return {"read": document["blobs"]}


def main():
    """Act until the time is over, at least once."""
    role, root, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    act = {"build": build, "collect": collect, "scrub": scrub}[role]
    until = time.monotonic() + seconds
    total = {"rounds": 0}
    while True:
        for name, count in act(root).items():
            total[name] = total.get(name, 0) + count
        total["rounds"] += 1
        if time.monotonic() >= until:
            break
        if role != "build":
            time.sleep(0.3)
    print(json.dumps(total))


if __name__ == "__main__":
    main()
