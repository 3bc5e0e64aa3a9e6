"""The old ``gym``, played by gymnasium.

``REAL_PROGRAMS_GYM=old`` gives the interface before 0.26 (``reset`` returns the observation,
``step`` four values); otherwise the newer one.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

import gymnasium
from gymnasium import (  # noqa: F401  (programs read them from here)
    ActionWrapper,
    Env,
    ObservationWrapper,
    RewardWrapper,
    Wrapper,
    spaces,
    wrappers,
)
from gymnasium.envs import classic_control, registration

_RENAMED = {
    "Pendulum-v0": "Pendulum-v1",
    "CartPole-v0": "CartPole-v1",
    "Acrobot-v0": "Acrobot-v1",
    "MountainCarContinuous-v1": "MountainCarContinuous-v0",
    # What needs Box2D or MuJoCo is played by what needs neither.
    "LunarLander-v2": "CartPole-v1",
    "BipedalWalker-v3": "Pendulum-v1",
    "HalfCheetah-v2": "Pendulum-v1",
    "Hopper-v2": "Pendulum-v1",
}


class _OldInterface:
    """An environment as programs before gym 0.26 know it."""

    def __init__(self, environment) -> None:
        self.environment = environment

    def __getattr__(self, name: str):
        return getattr(self.environment.unwrapped, name)

    @property
    def unwrapped(self):
        return self

    def seed(self, seed: int | None = None) -> list[int | None]:
        self.environment.reset(seed=seed)
        return [seed]

    def reset(self):
        return self.environment.reset()[0]

    def step(self, action):
        observation, reward, terminated, truncated, info = self.environment.step(action)
        return observation, reward, terminated or truncated, info

    def render(self, *args, **kwargs) -> None:
        """Show nothing."""


class _OldWrapper(_OldInterface):
    """A wrapper as programs before gym 0.26 write it."""

    def __init__(self, env) -> None:
        self.environment = self.env = env

    def __getattr__(self, name: str):
        return getattr(self.environment, name)

    def reset(self):
        return self.observation(self.env.reset())

    def step(self, action):
        observation, reward, *rest = self.env.step(self.action(action))
        return self.observation(observation), self.reward(reward), *rest

    def action(self, action):
        return action

    observation = reward = action


def _monitor(env, *args, **kwargs):
    return env  # nothing is filmed


def make(name: str, **kwargs):
    """The environment of that name; it is never drawn."""
    environment = gymnasium.make(_RENAMED.get(name, name), **kwargs)
    environment.unwrapped._max_episode_steps = environment.spec.max_episode_steps
    if os.environ.get("REAL_PROGRAMS_GYM") == "old":
        return _OldInterface(environment)
    return environment


if os.environ.get("REAL_PROGRAMS_GYM") == "old":
    Wrapper = ActionWrapper = ObservationWrapper = RewardWrapper = _OldWrapper
wrappers.Monitor = _monitor

envs = ModuleType("gym.envs")
envs.make, envs.registration, envs.classic_control = make, registration, classic_control
logger = ModuleType("gym.logger")
logger.set_level, logger.INFO, logger.ERROR = (lambda level: None), 20, 40

for _module in (envs, logger):
    sys.modules[_module.__name__] = _module
for _name, _module in {
    "spaces": spaces,
    "wrappers": wrappers,
    "envs.registration": registration,
    "envs.classic_control": classic_control,
}.items():
    sys.modules[f"gym.{_name}"] = _module
