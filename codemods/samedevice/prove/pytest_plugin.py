"""`pytest --virtual-device`: a project's own tests on the virtual accelerator.

The accelerator is there before the first conftest.py is imported, so `torch.cuda.is_available()`
holds for all of the suite. A test that a clash ends gets a section that says where each operand got
its place. Without the option nothing happens, and torch is not imported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from samedevice.prove.watch import Watch

_WATCH: pytest.StashKey[Watch] = pytest.StashKey()
_CONTEXT: pytest.StashKey[contextlib.ExitStack] = pytest.StashKey()
_CLASHES: pytest.StashKey[list[str]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--virtual-device` and `--virtual-devices`."""
    group = parser.getgroup("samedevice", "a virtual accelerator")
    group.addoption(
        "--virtual-device",
        nargs="?",
        const="cuda",
        metavar="TYPE",
        help="run the tests with a virtual accelerator (cuda unless told otherwise; "
        "write --virtual-device=TYPE)",
    )
    group.addoption(
        "--virtual-devices",
        type=int,
        default=1,
        metavar="N",
        help="how many virtual accelerators there are (default: 1)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the accelerator before any of the project's code is imported."""
    options = early_config.known_args_namespace
    device_type = getattr(options, "virtual_device", None)
    if not device_type:
        return
    if not device_type.isidentifier():
        # `--virtual-device tests/` took the path for the type
        raise pytest.UsageError(f"--virtual-device={device_type}: a device type such as cuda")
    try:
        from samedevice.prove.device import bring_up
        from samedevice.prove.watch import watching

        bring_up(device_type, options.virtual_devices)
    except (ImportError, RuntimeError, ValueError) as error:
        raise pytest.UsageError(f"--virtual-device={device_type}: {error}") from None
    stack = contextlib.ExitStack()
    early_config.stash[_WATCH] = stack.enter_context(watching(timed=False))
    early_config.stash[_CONTEXT] = stack
    early_config.stash[_CLASHES] = []


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop watching."""
    if _CONTEXT in config.stash:
        config.stash[_CONTEXT].close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add to a test's report what the clash that ended it was about."""
    if _WATCH in item.config.stash and call.excinfo is not None:
        from samedevice.prove.failure import without_ours

        without_ours(call.excinfo.value)
    outcome: Any = yield
    report = outcome.get_result()
    if _WATCH not in item.config.stash or call.excinfo is None or not report.failed:
        return
    from samedevice.prove.failure import find_clash

    clash = find_clash(call.excinfo.value, item.config.stash[_WATCH].lives)
    if clash is not None:
        from samedevice.prove.display import as_text, render_clash

        item.config.stash[_CLASHES].append(f"{item.nodeid}: {clash.kind}")
        report.sections.append(("Device clash", as_text(render_clash(clash))))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that the accelerator is virtual."""
    if _WATCH not in config.stash:
        return None
    import torch

    name, count = config.option.virtual_device, config.option.virtual_devices
    return f"samedevice: {count} virtual {name} device(s) on torch {torch.__version__}"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how much ran on the accelerator, and how many tests a clash ended."""
    if _WATCH not in config.stash:
        return
    record = config.stash[_WATCH].record()
    name = config.option.virtual_device
    there = record.count(name)
    total = sum(sum(names.values()) for names in record.operations.values())
    terminalreporter.section("samedevice")
    terminalreporter.line(f"{there:,} of {total:,} operations ran on virtual {name}")
    clashes = config.stash[_CLASHES]
    if clashes:
        terminalreporter.line(f"{len(clashes)} test(s) ended by a device clash:")
        for clash in clashes:
            terminalreporter.line(f"  {clash}")
    if not there:
        terminalreporter.line(f"no test used {name}: do they choose their device themselves?")
