"""A cache that lies: hostile records and blobs are refused, or found by redraw and audit."""

from __future__ import annotations

import pickle
import shutil
import struct
import zlib

import pytest
from cache_space import DISTINCT, blobs, good, product, project, report, tier_of

from nfbuild.digests import blob_digest, derive_raw
from nfbuild.pixels.digest import frame_digest
from nfbuild.pixels.png import decode_own, encode
from nfbuild.store.base import FRAME, PIXELS
from nfbuild.store.directory import open_directory
from nfbuild.store.local import open_cache
from nfbuild.store.scrub import scrub


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """What a colleague has built, and the tier that was filled by it."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "tier").mkdir()
    colleague = project(folder / "colleague", (folder / "tier").as_uri())
    good(colleague.root, "build", "-j", "1")
    return folder


@pytest.fixture
def warm(tmp_path, filled):
    """A copy of that tier, and what is right."""
    tier = tmp_path / "tier"
    shutil.copytree(filled / "tier", tier)
    shutil.copytree(filled / "colleague", tmp_path / "colleague")
    return tier, product(tmp_path / "colleague")


@pytest.fixture
def mine(tmp_path, warm):
    """A project with a cold cache in front of that tier, and without entries."""
    return project(tmp_path / "mine", warm[0].as_uri())


def store_of(tier):
    return open_directory(str(tier), read_only=False)


def records(tier, kind):
    return sorted((tier / "records" / kind).rglob("*.rec"))


def other_picture(tier):
    """Return a picture that is none of the film's: its bytes and its frame digest."""
    rows, width, height = decode_own(next(blobs(tier)).read_bytes())
    wrong = bytearray(rows)
    wrong[:40] = bytes(255 - value for value in wrong[:36]) + b"\xff\xff\xff\xff"
    return encode(wrong, width, height), frame_digest(wrong, width, height)


def place(digest, data):
    return bytes.fromhex(digest) + len(data).to_bytes(8, "big")


# --- self-consistent lies ---------------------------------------------------------------------


def test_a_consistent_lie_is_found_by_the_redraw(mine, warm):
    """Wrong pictures under right keys: one is drawn, none is believed, all is drawn afresh."""
    tier, right = warm
    store = store_of(tier)
    data, digest = other_picture(tier)
    blob = store.put_blob(data)
    store.put_record(PIXELS, digest, place(blob, data))
    for path in records(tier, FRAME):
        store.put_record(FRAME, path.stem, bytes.fromhex(digest), replace=True)
    done = report(mine.root, "build", "-j", "1")

    assert done["exit"] == 0
    assert product(mine.root) == right
    assert done["totals"]["rendered"] == DISTINCT
    assert done["totals"]["cache_lied"] == DISTINCT
    warnings = [warning for warning in done["warnings"] if warning["code"] == "cache.shared-lied"]
    assert {warning["composition"] for warning in warnings} == {"long", "short"}


def test_a_lie_does_not_turn_a_right_entry(mine, warm):
    """An entry that differs from what a tier says is judged by drawing: no alarm, the tier lied."""
    tier, right = warm
    shutil.copytree(mine.root.parent / "colleague" / "ledger", mine.root / "ledger")
    store = store_of(tier)
    data, digest = other_picture(tier)
    store.put_record(PIXELS, digest, place(store.put_blob(data), data))
    store.put_record(FRAME, records(tier, FRAME)[0].stem, bytes.fromhex(digest), replace=True)
    done = good(mine.root, "build", "-j", "1")

    assert done["totals"]["cache_lied"] == 1
    assert [row["verdict"] for row in done["compositions"]] == ["match", "match"]
    assert product(mine.root) == right


def test_a_picture_of_another_frame_is_found_before_it_is_given_out(mine, warm):
    """A right digest whose blob shows something else: seen when the pixels are first looked at."""
    tier, right = warm
    store = store_of(tier)
    data, _ = other_picture(tier)
    blob = store.put_blob(data)
    for path in records(tier, PIXELS)[:3]:
        store.put_record(PIXELS, path.stem, place(blob, data), replace=True)
    done = good(mine.root, "build", "-j", "1")

    assert product(mine.root) == right
    assert done["totals"]["cache_lied"] == 3
    assert tier_of(done, "local")["corrupt"] == 3
    again = good(mine.root, "build", "--rehash")
    assert (again["totals"]["rendered"], again["totals"]["cache_lied"]) == (0, 0)


def test_pixels_that_were_looked_at_are_not_looked_at_again(mine, warm):
    """What has been decoded here and was right is knowledge of this cache's own."""
    good(mine.root, "build", "-j", "1")
    shutil.rmtree(mine.root / "out")
    # Were they hearsay still, the tier would be asked for records once more.
    shutil.rmtree(warm[0])
    again = report(mine.root, "build", "-j", "1", "--rehash")

    assert (again["exit"], again["totals"]["rendered"]) == (0, 0)
    assert product(mine.root) == warm[1]


def test_recache_replaces_what_is_wrong_upstream(mine, warm, tmp_path):
    """After `--recache` the next developer gets right answers from the tier, and draws nothing."""
    tier, right = warm
    store = store_of(tier)
    data, digest = other_picture(tier)
    store.put_record(PIXELS, digest, place(store.put_blob(data), data))
    for path in records(tier, FRAME):
        store.put_record(FRAME, path.stem, bytes.fromhex(digest), replace=True)
    assert good(mine.root, "build", "-j", "1", "--recache")["totals"]["rendered"] == DISTINCT
    third = project(tmp_path / "third", tier.as_uri())
    shutil.copytree(mine.root / "ledger", third.root / "ledger")
    done = good(third.root, "build", "-j", "1")

    assert (done["totals"]["rendered"], done["totals"]["cache_lied"]) == (0, 0)
    assert product(third.root) == right


def test_a_film_of_another_film_is_not_believed(mine, warm):
    """A composition record of a tier names the frames of any film it likes: it decides nothing."""
    tier, right = warm
    films = records(tier, "composition")
    store = store_of(tier)
    payloads = [store.get_record("composition", path.stem) for path in films]
    for path, payload in zip(films, reversed(payloads), strict=True):
        store.put_record("composition", path.stem, payload, replace=True)
    good(mine.root, "build", "-j", "1")

    assert product(mine.root) == right


def test_a_measurement_of_a_tier_is_not_believed(tmp_path):
    """A measurement decides what is drawn, so no redraw would find a lie: none is asked for."""
    tier = tmp_path / "tier"
    tier.mkdir()
    laid = '<text x="4" y="12" font-size="9" fill="#fff" data-bg="#e00">Wide</text>'
    spaces = [project(tmp_path / name, tier.as_uri()) for name in ("colleague", "mine")]
    for space in spaces:
        space.edit("compositions/short.nf.svg", "  <script", f"  {laid}\n  <script")
    good(spaces[0].root, "build", "-j", "1")
    store = store_of(tier)
    for path in records(tier, "answer"):
        store.put_record("answer", path.stem, b"[0,0,0,7,7]", replace=True)
    good(spaces[1].root, "build", "-j", "1")

    assert product(spaces[1].root) == product(spaces[0].root)


def test_verify_asks_no_tier_at_all(mine, warm):
    """The gate draws everything; a tier full of lies, and one that is away, are all the same."""
    tier, _ = warm
    good(mine.root, "build", "-j", "1")
    before = [path for path in tier.rglob("*") if path.is_file()]
    for path in before:
        path.chmod(0o644)
        path.write_bytes(b"lies")
    done = good(mine.root, "verify")

    assert done["totals"]["match"] == 2
    assert done["cache_lied"] == []
    assert {path.read_bytes() for path in before} == {b"lies"}


def test_verify_finds_hearsay_that_lies(mine, warm):
    """What a tier told, and no redraw happened to meet, is compared by the gate."""
    tier, _ = warm
    shutil.copytree(mine.root.parent / "colleague" / "ledger", mine.root / "ledger")
    mine.write("nfbuild.toml", mine.read("nfbuild.toml").partition("[[export]]")[0])
    good(mine.root, "build", "-j", "1")
    _, digest = other_picture(tier)
    local = open_cache(str(mine.root / "cache"))
    key = records(tier, FRAME)[0].stem
    local.put_records(FRAME, {key: bytes.fromhex(digest)}, own=False, replace=True)
    local.close()
    done = report(mine.root, "verify")

    assert done["exit"] == 1
    assert [lie["key"] for lie in done["cache_lied"]] == [f"blake3:{key}"]


# --- what is no record and no blob ------------------------------------------------------------


class Bomb:
    """Unpickling this writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def _pickled(tmp_path):
    return pickle.dumps(Bomb(str(tmp_path / "pwned")))


def _plant_records(tier, tmp_path):
    """Put something else in the place of frame records; return how many were spoiled."""
    paths = records(tier, FRAME)
    spoilt = [
        _pickled(tmp_path),
        b"../../outside.png",
        b"C:\\outside.png",
        paths[-1].read_bytes(),
        b"nfbr" + b"/etc/passwd" * 20,
        b"",
    ]
    for path, data in zip(paths, spoilt, strict=False):
        path.chmod(0o644)
        path.write_bytes(data)
    # These are records, right in every way, whose payload is no digest.
    store = store_of(tier)
    names = [b"../../../outside.png", b"/tmp/outside.png" * 2, b"C:\\outside.png"]
    for path, payload in zip(paths[len(spoilt) :], names, strict=False):
        store.put_record(FRAME, path.stem, payload, replace=True)
    return len(spoilt), len(names)


def _plant_blobs(tier, outside):
    """Put something else in the place of blobs; return how many were spoiled."""
    there = list(blobs(tier))
    other = there[-1].read_bytes()
    for path in there[:4]:
        path.chmod(0o644)
    there[0].write_bytes(other)
    there[1].write_bytes(b"")
    with there[2].open("r+b") as file:
        # Longer than any blob may be, and costs no room on the disk.
        file.truncate(2**40)
    there[3].unlink()
    there[3].symlink_to(outside)
    there[4].unlink()
    return 5


def test_planted_things_are_refused_counted_and_harmless(mine, warm, filled, tmp_path):
    """Everything that a hostile hand can put into a tier costs renders, nothing else."""
    tier, right = warm
    shutil.copytree(mine.root.parent / "colleague" / "ledger", mine.root / "ledger")
    outside = tmp_path / "outside.png"
    outside.write_bytes(next(blobs(tier)).read_bytes())
    kept = outside.read_bytes()
    damaged, odd = _plant_records(tier, tmp_path)
    first = good(mine.root, "build", "-j", "1")

    assert product(mine.root) == right
    assert not (tmp_path / "pwned").exists()
    # Damage goes until the tier is given up as a liar: after that it is not asked any more.
    assert tier_of(first, tier.as_uri())["corrupt"] == damaged
    assert first["totals"]["rendered"] >= damaged + odd
    # What was found is gone upstream, or healed.
    assert scrub(store_of(tier)).damage == ()

    shutil.rmtree(tier)
    shutil.copytree(filled / "tier", tier)
    spoilt = _plant_blobs(tier, outside)
    shutil.rmtree(mine.root / "cache")
    second = good(mine.root, "build", "-j", "1")

    assert product(mine.root) == right
    assert second["totals"]["rendered"] == spoilt
    assert tier_of(second, tier.as_uri())["corrupt"] == spoilt - 1
    assert outside.read_bytes() == kept


def test_a_record_of_a_later_version_is_nobodys_damage(mine, warm):
    """A newer program shares the tier: its records are misses and stay as they are."""
    tier, _ = warm
    target = records(tier, FRAME)[0]
    data = bytearray(target.read_bytes())
    data[4] = 9
    body = bytes(data[:-32])
    later = body + bytes.fromhex(derive_raw("nfbuild 2026 store record v1", body))
    target.chmod(0o644)
    target.write_bytes(later)
    shutil.copytree(mine.root.parent / "colleague" / "ledger", mine.root / "ledger")
    done = good(mine.root, "build", "-j", "1")

    assert done["totals"]["rendered"] == 1
    assert tier_of(done, tier.as_uri())["misses"]["version"] == 1
    assert done["cache"]["corrupt"] == 0


def test_a_bomb_of_pixels_is_no_picture(mine, warm):
    """A small file that says it is a huge picture is not unpacked: it shows another frame."""
    tier, right = warm

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)
    packed = zlib.compress(bytes(50_000_000), 9)
    data = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )
    store = store_of(tier)
    blob = store.put_blob(data)
    assert blob == blob_digest(data)
    path = records(tier, PIXELS)[0]
    store.put_record(PIXELS, path.stem, place(blob, data), replace=True)
    done = good(mine.root, "build", "-j", "1")

    assert product(mine.root) == right
    assert done["totals"]["cache_lied"] == 1
