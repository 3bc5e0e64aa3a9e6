"""How a definition of the device is written that the inference only plans."""

from __future__ import annotations

from samedevice.inference.values import Choice, PlannedDefinition

_HOLDS = {"true": "{}", "false": "not {}", "given": "{} is not None", "positive": "{} >= 0"}


def written(planned: PlannedDefinition) -> str:
    """Return the statements that define the device after the user's choice."""
    test = _test(planned.choices, planned.torch if planned.asks else "")
    index = f"{planned.index} or 0" if planned.index_absent else planned.index
    device = f'f"cuda:{{{index}}}"' if index else '"cuda"'
    head = ""
    if planned.switch:
        head, test = f"{planned.switch} = {test}\n", planned.switch
    return f'{head}{planned.name} = {planned.torch}.device({device} if {test} else "cpu")'


def _test(choices: tuple[Choice, ...], torch: str) -> str:
    """Return the test whether to use the accelerator; with `torch` it asks for one, too."""
    tests = [_HOLDS[choice.holds].format(choice.code) for choice in choices]
    if torch:
        tests.append(f"{torch}.cuda.is_available()")
    return " and ".join(tests)
