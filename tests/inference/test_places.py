"""What an argument brings along is looked at once, however many ways lead to it."""

from __future__ import annotations

from samedevice.inference.contents import places
from samedevice.inference.nodes import PlaceVar
from samedevice.inference.values import DEEP, Seq, Tensor


def test_what_holds_each_other_is_looked_into_once_for_each_depth() -> None:
    tensors = [Tensor(PlaceVar()) for _ in range(30)]
    held = [Seq("list", []) for _ in tensors]
    for one, tensor in zip(held, tensors, strict=True):
        one.items = [tensor, *held]
    found = list(places(held[0], {}))
    assert {*found} == {tensor.node for tensor in tensors}
    assert len(found) <= len(tensors) * DEEP  # 30 to the sixth power, one way after the other


def test_what_is_first_met_too_deep_is_found_by_the_shorter_way() -> None:
    last = Seq("list", [Tensor(PlaceVar())])
    inner = last
    for _ in range(DEEP - 1):
        inner = Seq("list", [inner])
    assert list(places(Seq("list", [inner]), {})) == []
    assert len(list(places(Seq("list", [inner, last]), {}))) == 1
