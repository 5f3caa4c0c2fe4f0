"""One run: the project, its files, what draws, the cache and the workers, made when needed.

A session is a context: leaving it ends every worker, removes the staging folder and waits for
uploads, whatever happened. Nothing heavy is loaded before something asks for it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, Self

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import BlobDigest
from nfbuild.errors import StoreError, UsageError
from nfbuild.ops.run.answers import Answers
from nfbuild.ops.run.faces import FaceShelf
from nfbuild.ops.run.inputs import ProjectFiles
from nfbuild.ops.run.staging import Staging
from nfbuild.ops.run.standing import standing_folder
from nfbuild.ops.run.state import filesystem_now
from nfbuild.ops.run.toolchain import Toolchain, hash_files, read_toolchain
from nfbuild.store.files import HOST_FILES
from nfbuild.store.local import write_blob

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from nfbuild.events import Warned
    from nfbuild.execute.base import Executor, Job, Outcome, WorkerSetup
    from nfbuild.execute.trace import Profile
    from nfbuild.ops.run.state import Witness
    from nfbuild.pixels.decoder import Decoder
    from nfbuild.project import Project
    from nfbuild.render.tasks import Setup
    from nfbuild.store.stack import Caches

WORKER = "nfbuild.render.worker:Worker"

Trust = Literal["kept", "fresh"]


@dataclass(frozen=True)
class Settings:
    """How a run goes about it; nothing here may change a byte of what it makes.

    With `observe` nothing is written that outlives the run. `jobs` None is one worker per core, 0
    draws in this process. `fresh` reads no record and no blob; `keep_rasters` lets a worker keep a
    static bottom and top, `on_ground` draw opaque frames in the rasterizer's own colours;
    `shuffle` is the seed of the dispatch order (`reproduce`). `target` names what performs tasks
    (tests give a double).
    """

    jobs: int | None = None
    observe: bool = False
    fresh: bool = False
    replace_shared: bool = False
    require_shared: bool = False
    rehash: bool = False
    keep_rasters: bool = True
    on_ground: bool = True
    shuffle: int | None = None
    audited: bool = True
    target: str = WORKER
    environment: dict[str, str] = field(default_factory=dict)


class Session:
    """What one run has at hand."""

    def __init__(self, project: Project, settings: Settings | None = None) -> None:
        self.project = project
        self.settings = settings or Settings()
        self.files = ProjectFiles(project.root, project.outside)
        self._stack = contextlib.ExitStack()
        self._executor: Executor | None = None
        self.profile: Profile | None = None
        self.decoder_witnesses: dict[str, Witness] = {}
        self.began = 0
        self.started = time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What ends the run is handed on: who interrupts does not wait for uploads.
        self._stack.__exit__(kind, error, trace)

    def measured(self, name: str, **facts: str | int) -> contextlib.AbstractContextManager[None]:
        """Note in the profile, where one is made, how long a block takes."""
        if self.profile is None:
            return contextlib.nullcontext()
        return self.profile.measured(name, **facts)

    def note_start(self) -> None:
        """Note the file system's time before anything is read, for the state that a build leaves.

        Where nothing can be written no state is kept either.
        """
        with contextlib.suppress(OSError):
            os.makedirs(self.project.cache.folder, exist_ok=True)
            self.began = filesystem_now(self.project.cache.folder)

    @cached_property
    def toolchain(self) -> Toolchain:
        """What draws here."""
        return read_toolchain()

    @cached_property
    def faces(self) -> FaceShelf:
        """The configured faces."""
        return FaceShelf.of_project(self.project)

    @cached_property
    def caches(self) -> Caches:
        """The local cache and the shared tiers behind it."""
        from nfbuild.store.stack import open_caches  # noqa: PLC0415  not for a run without frames

        folder = self.project.cache.folder
        if self.settings.observe and not os.path.isdir(folder):
            folder = self.staging.folder
        caches = open_caches(
            folder,
            [(tier.url, tier.mode) for tier in self.project.cache.shared],
            require=self.settings.require_shared,
            replace=self.settings.replace_shared,
            observe=self.settings.observe,
        )
        return self._stack.enter_context(caches)

    @cached_property
    def staging(self) -> Staging:
        """The folder that workers stand in."""
        staging = Staging(self._make_staging)
        for face in self.faces.faces:
            staging.offer(f"{face.digest}.ttf", partial(bytes, face.data))
        return staging

    def _make_staging(self) -> str:
        keeps = not self.settings.observe
        parent = os.path.join(self.project.cache.folder, "staging") if keeps else None
        return self._stack.enter_context(standing_folder(parent))

    @cached_property
    def answers(self) -> Answers:
        """Measurements and decoded pictures."""
        return Answers(
            toolchain=self.toolchain.part({}).digest,
            decoder=lambda: self.decoder_digests,
            film_decoder=lambda: self.film_decoder_digests,
            executor=lambda: self.executor,
            staging=lambda: self.staging,
            # No tier is asked: what an answer decides is drawn by every later check as well, so
            # that no redraw would find a lie.
            store=self.caches.local,
            fresh=self.settings.fresh,
        )

    @cached_property
    def decoder_digests(self) -> dict[str, str]:
        """What decodes pictures that the rasterizer cannot: name to digest, for the toolchain."""
        from nfbuild.pixels.decoder import PICTURES  # noqa: PLC0415  few compositions need one

        return self._libraries_of(PICTURES)

    @cached_property
    def film_decoder_digests(self) -> dict[str, str]:
        """What decodes films, likewise."""
        from nfbuild.pixels.decoder import FILMS  # noqa: PLC0415  fewer still

        return self._libraries_of(FILMS)

    def _libraries_of(self, decoder: Decoder) -> dict[str, str]:
        from nfbuild.pixels.decoder import files  # noqa: PLC0415  as above

        paths = files(decoder)
        witnesses = hash_files(paths)
        self.decoder_witnesses.update({paths[name]: found for name, found in witnesses.items()})
        return {name: found.digest for name, found in witnesses.items()}

    def perform(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Run jobs on the workers, in the dispatch order that the settings ask for."""
        if self.settings.shuffle is not None:
            from nfbuild.execute.order import shuffled  # noqa: PLC0415  for `reproduce` only

            jobs = shuffled(jobs, self.settings.shuffle)
        return self.executor.run(jobs)

    def take_warnings(self) -> list[Warned]:
        """Return what the stores have to say since the last call."""
        if "caches" not in self.__dict__:
            return []
        return self.caches.warnings()

    @property
    def executor(self) -> Executor:
        """The workers; they are started when first asked for."""
        if self._executor is None:
            self._executor = self._make_executor()
            self._stack.callback(self._executor.close)
            self._executor.start()
        return self._executor

    def retire(self) -> None:
        """Let workers go if there are any; more are started when they are asked for."""
        if self._executor is not None:
            self._executor.retire()

    @property
    def cores(self) -> int:
        """How many things this run does at a time, at least one."""
        from nfbuild.execute.ahead import cores  # noqa: PLC0415  not for a null build

        return self.settings.jobs or (1 if self.settings.jobs == 0 else cores())

    @contextlib.contextmanager
    def another_worker(self) -> Iterator[Executor]:
        """Give a worker that has drawn nothing, in a process of its own."""
        from nfbuild.execute.pool import ProcessPool  # noqa: PLC0415  few runs need one

        with ProcessPool(self._executor_setup(), workers=1) as worker:
            worker.start()
            yield worker

    def tidy(self) -> None:
        """Remove what workers left half written that were ended in the middle of it."""
        if self._executor is not None and not self.settings.observe:
            from nfbuild.store.blobs import remove_orphans  # noqa: PLC0415  after an error alone

            remove_orphans(self.project.cache.folder)

    def _make_executor(self) -> Executor:
        setup = self._executor_setup()
        if self.settings.jobs == 0:
            from nfbuild.execute.inline import InlineExecutor  # noqa: PLC0415  the reference only

            return InlineExecutor(setup)
        from nfbuild.execute.pool import ProcessPool  # noqa: PLC0415  not for a null build

        return ProcessPool(setup, workers=self.cores)

    def _executor_setup(self) -> WorkerSetup:
        from nfbuild.execute.base import Limits, WorkerSetup  # noqa: PLC0415  not for a null build

        limits = self.project.limits
        return WorkerSetup(
            target=self.settings.target,
            value=self._worker_setup(),
            limits=Limits(
                processor_seconds=limits.frame_deadline, memory_bytes=limits.worker_memory
            ),
            audited=self.settings.audited,
            readable=(self.staging.folder, *self.faces.files.values(), *HOST_FILES),
            writable=(self.staging.folder, self.project.cache.folder),
            environment=self.settings.environment,
        )

    def _worker_setup(self) -> Setup:
        from nfbuild.render.tasks import Setup  # noqa: PLC0415  with the workers

        return Setup(
            staging=self.staging.folder,
            faces=self.faces.paths(),
            write=BlobKeeper(self.project.cache.folder),
            keep_rasters=self.settings.keep_rasters,
        )


@dataclass(frozen=True)
class BlobKeeper:
    """Writes blobs into a cache folder; a cache that cannot take one is no reason to fail."""

    folder: str

    def __call__(self, digest: BlobDigest, data: bytes, /) -> None:
        """Write the blob, unless it is there."""
        with contextlib.suppress(StoreError):
            write_blob(self.folder, digest, data)


@contextlib.contextmanager
def open_session(start: str, settings: Settings | None = None) -> Iterator[Session]:
    """Find and read the project from `start` and open a session on it."""
    from nfbuild.project import load  # noqa: PLC0415  the project room reads TOML

    if not os.path.isdir(start):
        raise UsageError(f"`{start}` is not a folder", hint="`-C` takes an existing folder")
    session = Session(load(start), settings)
    try:
        with session:
            yield session
    except BaseException:
        session.tidy()
        raise
