"""A quiet ``wandb``: nothing is sent anywhere."""

from __future__ import annotations

from types import SimpleNamespace


class Run:
    """What ``init`` returns; it takes every call."""

    def __init__(self) -> None:
        self.config = Config()
        self.summary: dict[str, object] = {}
        self.id = self.name = self.dir = "run"

    def __enter__(self):
        return self

    def __exit__(self, *exception) -> None:
        """Nothing to end."""

    def log(self, *args, **kwargs) -> None:
        """Log nothing."""

    watch = save = finish = log_artifact = define_metric = log


class Config(SimpleNamespace):
    """The settings of a run."""

    def update(self, values=(), **kwargs) -> None:
        """Take in the values of a dictionary or of parsed arguments."""
        vars(self).update(values if isinstance(values, dict) else vars(values or self))


def init(*args, config=None, **kwargs) -> Run:
    """Begin nothing."""
    run.config.update(config)
    return run


def Image(*args, **kwargs) -> None:  # noqa: N802  (the name of the library)
    """Show nothing."""


run = Run()
config = run.config
log, watch, save, finish = run.log, run.watch, run.save, run.finish
define_metric, log_artifact = run.define_metric, run.log_artifact
Video = Histogram = Table = Settings = Artifact = Image
