"""`pytest --virtual-device`: a project's own tests on the virtual accelerator.

The accelerator is there before the first conftest.py is imported, so `torch.cuda.is_available()`
holds for all of the suite. A test that a clash ends gets a section that says where each operand got
its place: its function runs once more for that, recorded, for recording all tests would take longer
than the tests. Without the option nothing happens, and torch is not imported.
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from samedevice.prove.clash import Clash
    from samedevice.prove.watch import Watch

_TYPES = "cuda", "mps", "xpu"
_RECORDED = "clash", "last", "always", "never"
_WATCH: pytest.StashKey[Watch] = pytest.StashKey()
_CONTEXT: pytest.StashKey[contextlib.ExitStack] = pytest.StashKey()
_CLASHES: pytest.StashKey[list[str]] = pytest.StashKey()
_MADE: pytest.StashKey[int] = pytest.StashKey()  # tensors in the processes of pytest-xdist
_SENT = "samedevice"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--virtual-device` and `--virtual-devices`."""
    group = parser.getgroup("samedevice", "a virtual accelerator")
    group.addoption(
        "--virtual-device",
        nargs="?",
        const="cuda",
        metavar="TYPE",
        help=f"run the tests with a virtual accelerator: {', '.join(_TYPES)} (default: cuda)",
    )
    group.addoption(
        "--virtual-record",
        choices=_RECORDED,
        default="clash",
        help="what is recorded for reports: a test that a clash ended, which runs again (clash), "
        "each test while it runs, for its last clash alone (last), all that tests do (always), "
        "nothing (never); default: clash",
    )
    group.addoption(
        "--virtual-memory",
        metavar="SIZE",
        help="how much memory each virtual accelerator has, such as 8G (default: no limit)",
    )
    group.addoption(
        "--virtual-compiled",
        action="store_true",
        help="kernels in C++, built on first use where there is a compiler: several times quicker",
    )
    group.addoption(
        "--virtual-asserts",
        action="store_true",
        help="an index out of bounds ends all use of the accelerator, as it does on a GPU",
    )
    group.addoption(
        "--virtual-devices",
        type=int,
        default=1,
        metavar="N",
        help="how many virtual accelerators there are (default: 1)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """Install the accelerator before any of the project's code is imported."""
    _keep_paths(early_config, parser, args)
    options = early_config.known_args_namespace
    device_type = getattr(options, "virtual_device", None)
    if not device_type:
        return
    try:
        from samedevice.prove import virtual
        from samedevice.prove.device import bring_up

        if options.virtual_memory:
            os.environ[virtual.MEMORY] = options.virtual_memory
        if options.virtual_compiled:
            os.environ[virtual.COMPILED] = "1"
        if options.virtual_asserts:
            os.environ[virtual.ASSERTS] = "1"
        bring_up(device_type, options.virtual_devices)
    except (ImportError, RuntimeError, ValueError) as error:
        raise pytest.UsageError(f"--virtual-device={device_type}: {error}") from None
    early_config.stash[_CLASHES] = []
    if options.virtual_record in ("always", "last"):
        from samedevice.prove.watch import watching

        stack = contextlib.ExitStack()
        watched = watching(timed=False, places=options.virtual_record == "last")
        early_config.stash[_WATCH] = stack.enter_context(watched)
        early_config.stash[_CONTEXT] = stack


def _keep_paths(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Let `--virtual-device tests/` be the option and a path: argparse takes that for its value."""
    followed = [at for at, word in enumerate(args[:-1]) if word == "--virtual-device"]
    taken = [at for at in followed if args[at + 1] not in _TYPES and args[at + 1][0] != "-"]
    for at in taken:
        args[at] = f"--virtual-device={_TYPES[0]}"
    if taken:
        known = parser.parse_known_args(args, namespace=copy.copy(config.option))
        config.known_args_namespace = known


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop watching."""
    if _CONTEXT in config.stash:
        config.stash[_CONTEXT].close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add to a test's report what the clash that ended it was about."""
    is_ours = _CLASHES in item.config.stash and call.excinfo is not None
    if is_ours and call.excinfo is not None:
        from samedevice.prove.failure import without_ours

        without_ours(call.excinfo.value)
    outcome: Any = yield
    report = outcome.get_result()
    if not is_ours or call.excinfo is None or not report.failed:
        _forget(item.config, call.when)
        return
    clash = _clash(item, call.when, call.excinfo.value)
    _forget(item.config, call.when)
    if clash is not None:
        from samedevice.prove.display import as_text, render_clash

        item.config.stash[_CLASHES].append(f"{item.nodeid}: {clash.kind}")
        report.sections.append(("Device clash", as_text(render_clash(clash))))


def _forget(config: pytest.Config, when: str) -> None:
    """Let the tensors of a test's last clash go when the test is over."""
    if when == "teardown" and _WATCH in config.stash:
        config.stash[_WATCH].lives.refused = []


def _clash(item: pytest.Item, when: str, error: BaseException) -> Clash | None:
    """Return the clash that ended a phase of a test, from a recorded run of it if there is one."""
    from samedevice.prove.failure import find_clash
    from samedevice.prove.lives import Lives

    watch = item.config.stash.get(_WATCH, None)
    clash = find_clash(error, watch.lives if watch is not None else Lives())
    if clash is None or when != "call" or item.config.option.virtual_record != "clash":
        return clash
    from samedevice.prove.watch import watching

    with watching(timed=False) as watch:
        try:
            item.runtest()
        except Exception as again:
            return find_clash(again, watch.lives) or clash
    return clash


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what the end of the run says to the process that says it, from one of pytest-xdist's."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and _CLASHES in session.config.stash:
        from samedevice.prove.virtual.memory import MEMORY

        output[_SENT] = MEMORY.made(), session.config.stash[_CLASHES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take what a process of pytest-xdist sent."""
    stash = node.config.stash
    made, clashes = getattr(node, "workeroutput", {}).get(_SENT, (0, ()))
    if _CLASHES in stash:
        stash[_MADE] = stash.get(_MADE, 0) + made
        stash[_CLASHES] += clashes


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that the accelerator is virtual."""
    if _CLASHES not in config.stash:
        return None
    import torch

    name, count = config.option.virtual_device, config.option.virtual_devices
    return f"samedevice: {count} virtual {name} device(s) on torch {torch.__version__}"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how much ran on the accelerator, and how many tests a clash ended."""
    if _CLASHES not in config.stash:
        return
    from samedevice.prove.virtual.memory import MEMORY

    name, made = config.option.virtual_device, MEMORY.made() + config.stash.get(_MADE, 0)
    terminalreporter.section("samedevice")
    if config.option.virtual_record == "always":
        record = config.stash[_WATCH].record()
        total = sum(sum(names.values()) for names in record.operations.values())
        terminalreporter.line(
            f"{record.count(name):,} of {total:,} operations ran on virtual {name}"
        )
    else:
        terminalreporter.line(f"{made:,} tensors were made on virtual {name}")
    clashes = config.stash[_CLASHES]
    if clashes:
        terminalreporter.line(f"{len(clashes)} test(s) ended by a device clash:")
        for clash in clashes:
            terminalreporter.line(f"  {clash}")
    if not made:
        terminalreporter.line(f"no test used {name}: do they choose their device themselves?")
