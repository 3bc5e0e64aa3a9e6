"""Whose token goes where: asked of the environment once for each forge, and never kept anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..reading.config import ConfigError
from . import forges
from .forge import ForgeError
from .git import Credentials
from .record import Repository


class Tokens:
    """The tokens that the environment holds. `variables` name those of hosts, by host."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._known: dict[tuple[str, str], str] = {}

    def credentials(self, repository: Repository) -> Credentials:
        """Return what git needs for a repository."""
        found = {}
        for host, variable in self._variables.items():
            if os.environ.get(variable):
                found[host] = ("oauth2", os.environ[variable].strip())
        token = self.token(repository)
        if token:
            user = forges.KINDS[repository.forge].user
            found[forges.git_host(repository.forge, repository.api)] = (user, token)
        return Credentials(found)

    def of_forge(self, repository: Repository) -> dict[str, str]:
        """Return what the forge of a repository needs, as `Job` has it."""
        token = self.token(repository)
        return {f"{repository.forge} {repository.api}": token} if token else {}

    def variable(self, repository: Repository) -> str:
        """Return the variable with the token for a repository's forge, "" for the usual ones."""
        return self._variables.get(forges.git_host(repository.forge, repository.api), "")

    def scrub(self, text: str) -> str:
        """Return `text` without any token that was asked for."""
        for token in filter(None, self._known.values()):
            text = text.replace(token, "***")
        return text

    def token(self, repository: Repository) -> str:
        """Return the token for a repository's forge, "" for none; raises `ConfigError`."""
        if not repository.forge:
            return ""
        key = (repository.forge, repository.api)
        if key not in self._known:
            try:
                self._known[key] = forges.token(*key, self.variable(repository))
            except ForgeError as error:
                raise ConfigError(f"{repository.name}: {error}") from None
        return self._known[key]
