"""A build under way: what its steps share, and the products that it has made."""

from __future__ import annotations

from collections.abc import Sequence

from nfbuild.dataclasses import dataclass, field
from nfbuild.events import Failed
from nfbuild.export.base import Audio
from nfbuild.export.plan import ExportPlan
from nfbuild.ledger.book import Page
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import Questions
from nfbuild.ops.run.options import BuildOptions
from nfbuild.ops.run.reports import BuildReport, failure
from nfbuild.ops.run.session import Session
from nfbuild.project import Discovery, Listed


@dataclass(frozen=True)
class Product:
    """An export that was made: for the state that a null build rests on, and for the graph."""

    folder: str
    name: str
    fingerprint: str
    plan: ExportPlan
    film: Film
    audio: Audio | None


@dataclass
class Build:
    """One build under way: what its steps share."""

    session: Session
    options: BuildOptions
    discovery: Discovery
    listed: Sequence[Listed]
    report: BuildReport
    questions: Questions = field(default_factory=Questions)
    films: list[Film] = field(default_factory=list)
    pages: dict[str, Page | None] = field(default_factory=dict)
    products: list[Product] = field(default_factory=list)
    watched: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Tell whether films are whole and at scale 1: only these enter the ledger."""
        return self.options.span is None and self.options.scale == 1

    def lists(self, film: Film) -> bool:
        """Tell whether a film is one of the build's own, not one drawn for an export's scale."""
        return film.index < len(self.films)

    def fail(self, film: Film) -> Failed:
        """Note that a film was given up; returns the event that says so, once for each film."""
        assert film.error is not None
        failed = failure(film.error, film.name)
        film.is_reported = True
        self.report.errors.append(failed)
        return failed
