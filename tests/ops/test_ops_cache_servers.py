"""Builds with real servers behind them: warm, killed, stalled, cut short."""

from __future__ import annotations

import shutil
import threading
import time

import pytest
from cache_space import DISTINCT, good, product, project, report, tier_of
from store_servers import nginx, rclone, s3_environment
from test_store_servers import _stall, bad

assert bad  # a fixture: a server that behaves as it is told

pytestmark = pytest.mark.process

KINDS = ["nginx", "s3"]


@pytest.fixture
def server(request, tmp_path):
    """A server that listens, and what a build needs to know of it."""
    folder = tmp_path / "server"
    folder.mkdir()
    made = nginx(folder) if request.param == "nginx" else rclone(folder, "s3")
    environment = s3_environment(made) if request.param == "s3" else {}
    made.start()
    yield made, environment
    made.kill()


def objects(server):
    """Return the blobs that lie on a server's disk."""
    return sorted(server.data.rglob("v1/blobs/*/*.png"))


def beside(space, root, url):
    """Return another developer's project with the same entries and a cold cache."""
    other = project(root, url)
    shutil.copytree(space.root / "ledger", other.root / "ledger")
    return other


@pytest.mark.parametrize("server", KINDS, indirect=True)
def test_a_cold_cache_and_a_warm_server_draw_nothing(tmp_path, server):
    """What one has drawn, the next one fetches; without entries one frame of each film is drawn."""
    served, env = server
    mine = project(tmp_path / "mine", served.url)
    first = good(mine.root, "build", "-j", "1", **env)
    assert (first["totals"]["rendered"], first["cache"]["lost"]) == (DISTINCT, [])
    assert len(objects(served)) == DISTINCT
    right = product(mine.root)

    yours = beside(mine, tmp_path / "yours", served.url)
    second = good(yours.root, "build", "-j", "1", **env)
    assert second["totals"]["rendered"] == 0
    assert second["cache"]["shared"] == DISTINCT
    assert product(yours.root) == right

    third = project(tmp_path / "third", served.url)
    assert good(third.root, "build", "-j", "1", **env)["totals"]["rendered"] == 2
    assert product(third.root) == right


@pytest.mark.parametrize("server", KINDS, indirect=True)
def test_a_server_killed_in_the_middle_costs_what_is_left(tmp_path, server):
    """The build goes on with one warning; when the server is back, nothing on it is half."""
    served, env = server
    mine = project(tmp_path / "mine", served.url)
    good(mine.root, "build", "-j", "1", **env)
    right = product(mine.root)
    for path in objects(served)[::2]:
        path.unlink()
    for number, delay in enumerate((0.35, 0.6)):
        yours = beside(mine, tmp_path / f"yours-{number}", served.url)
        timer = threading.Timer(delay, served.kill)
        timer.start()
        done = good(yours.root, "build", "-j", "1", **env)
        timer.join()
        assert product(yours.root) == right
        told = [one for one in done["warnings"] if one["code"] == "shared-cache"]
        assert len(told) <= 1
        assert done["cache"]["corrupt"] == 0
        served.start()
    last = beside(mine, tmp_path / "last", served.url)
    done = good(last.root, "build", "-j", "1", **env)
    assert product(last.root) == right
    assert done["cache"]["corrupt"] == 0


@pytest.mark.parametrize("server", ["nginx"], indirect=True)
def test_blobs_cut_short_on_a_server_are_counted_and_replaced(tmp_path, server):
    """Cut with the length that the server then says: damage, drawn again, put right upstream."""
    served, env = server
    mine = project(tmp_path / "mine", served.url)
    good(mine.root, "build", "-j", "1", **env)
    right = product(mine.root)
    for path in objects(served)[:4]:
        path.write_bytes(path.read_bytes()[:300])
    yours = beside(mine, tmp_path / "yours", served.url)
    done = good(yours.root, "build", "-j", "1", **env)

    there = tier_of(done, served.url)
    assert product(yours.root) == right
    assert done["totals"]["rendered"] == 4
    assert (there["corrupt"], there["healed"]) == (4, 4)
    third = beside(mine, tmp_path / "third", served.url)
    assert good(third.root, "build", "-j", "1", **env)["totals"]["rendered"] == 0


def test_a_server_that_stalls_costs_a_bounded_delay_once(tmp_path, bad):
    """Ten seconds, one warning, the right product; then the tier is off for the run."""
    cold = project(tmp_path / "cold")
    usual = good(cold.root, "build", "-j", "1")["totals"]["seconds"]
    mine = project(tmp_path / "mine", bad(_stall).url)
    began = time.monotonic()
    done = report(mine.root, "build", "-j", "1")

    assert time.monotonic() - began < 18 + 3 * usual
    assert done["exit"] == 0
    assert product(mine.root) == product(cold.root)
    assert [one["code"] for one in done["warnings"]].count("shared-cache") == 1
