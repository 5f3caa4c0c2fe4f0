"""One wrong pixel: a rasterizer that draws otherwise in a worker than in the parent."""

from __future__ import annotations

from nfbuild.ops.run import session


def draw_wrong_in_a_pool() -> None:
    """Let workers of a pool perform with `Wrong`; the inline executor keeps the real one."""
    plain = session.Session._make_executor

    def make(self: session.Session) -> object:
        if self.settings.jobs:
            object.__setattr__(self.settings, "target", "planted_worker:Wrong")
            object.__setattr__(self.settings, "audited", False)
        return plain(self)

    session.Session._make_executor = make
