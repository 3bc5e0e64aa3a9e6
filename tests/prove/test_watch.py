"""What a run did to places, and how its tensors got theirs: on the virtual accelerator."""

import textwrap
import warnings
from pathlib import Path

import pytest

from samedevice.prove.process import Limits
from samedevice.prove.record import Record, Transfer
from samedevice.prove.run import RunResult, Settings, run_program

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("warm")

VIRTUAL = Settings(on="virtual", limits=Limits(seconds=120), seed=0)


@pytest.fixture
def run(tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(source: str, settings: Settings = VIRTUAL) -> RunResult:
        Path(tmp_path, "main.py").write_text(textwrap.dedent(source), "utf-8")
        return run_program("main.py", cwd=tmp_path, settings=settings)

    return run


def transfer(result: RunResult, text: str, how: str = "copy") -> Transfer:
    assert result.record is not None
    found = [one for one in result.record.transfers if text in one.text and one.how == how]
    assert len(found) == 1, result.record.transfers
    return found[0]


def test_operations_by_device(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        x = torch.ones(3)
        y = x + x
        z = torch.ones(3, device="cuda")
        for i in range(5):
            z = z * 2
        """
    )
    assert result.passed, result
    assert (result.on, result.device) == ("virtual", "cuda")
    operations = result.record.operations
    assert operations["cpu"]["add"] == 1
    assert operations["cuda:0"]["mul"] == 5
    assert result.record.count("cuda") == result.record.count("cuda:0") >= 6
    assert result.record.count("cuda:1") == 0


def test_transfers_by_line(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        data = torch.ones(1000)
        total = 0.0
        for i in range(20):
            x = data.to("cuda")                      # the same tensor
            y = torch.full((250,), i).to("cuda", non_blocking=True)
            total += x.sum().item()
            back = x.cpu()
            nonzero = x.nonzero()
            made = torch.tensor([1.0, 2.0], device="cuda")
        inside = torch.ones(1000, device="cuda")
        inside.copy_(data)
        picked = inside[torch.tensor([1, 2])]
        """
    )
    assert result.passed, result
    same = transfer(result, "data.to(")
    assert (same.source, same.target, same.count, same.nbytes) == ("cpu", "cuda:0", 20, 80_000)
    assert (same.waits, same.again) == (20, 19)
    assert "move it once" in same.advice
    fresh = transfer(result, "torch.full")
    assert (fresh.count, fresh.waits, fresh.again) == (20, 0, 0)
    value = transfer(result, "total +=", "value")
    assert (value.source, value.target, value.count, value.waits) == ("cuda:0", "cpu", 20, 20)
    assert "one value at a time" in value.advice
    back = transfer(result, "x.cpu()")
    assert (back.source, back.target, back.nbytes) == ("cuda:0", "cpu", 80_000)
    assert transfer(result, "x.nonzero()", "size").count == 20
    made = transfer(result, "made =", "data")
    assert (made.target, made.count, made.nbytes) == ("cuda:0", 20, 160)
    assert transfer(result, "inside.copy_").nbytes == 4000
    assert transfer(result, "picked =", "index").count == 1
    line = Path(same.file).read_text("utf-8").splitlines()[same.line - 1]
    assert "data.to(" in line


def test_on_one_device_nothing_is_transferred(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        x = torch.ones(3)
        y = x.to("cpu").double()
        print(y.sum().item(), y.numpy(), x.copy_(y))
        z = torch.ones(3, device="cuda").double().contiguous().clone()
        """
    )
    assert result.passed, result
    assert result.record.transfers == []


def test_optimizers_and_losses(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        model = torch.nn.Linear(2, 1).cuda()
        frozen = torch.nn.Linear(2, 1)
        one = torch.optim.Adam([*model.parameters(), *frozen.parameters()])
        two = torch.optim.SGD(frozen.parameters(), lr=0.1)
        for i in range(3):
            one.zero_grad()
            model(torch.ones(4, 2, device="cuda")).mean().backward()
            one.step()
        frozen(torch.ones(1, 2)).sum().backward()
        two.step()
        (model.weight.sum() * float("nan")).backward()
        """
    )
    assert result.passed, result
    adam, sgd = result.record.optimizers
    assert (adam.name, adam.steps, adam.devices) == ("Adam", 3, {"cuda:0": 2})
    assert (sgd.name, sgd.steps, sgd.devices) == ("SGD", 1, {"cpu": 2})
    losses = result.record.losses
    assert (losses.count, losses.infinite) == (5, 1)
    assert losses.values[-1] is None and len(losses.values) == 5
    assert losses.devices == {"cuda:0": 4, "cpu": 1}


def test_watching_changes_no_value(run) -> None:  # type: ignore[no-untyped-def]
    source = """
        import torch
        from torch import nn
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        for i in range(5):
            loss = model(torch.randn(3, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item())
    """
    watched = run(source, Settings(on="cpu", seed=1))
    plain = run(source, Settings(on="cpu", seed=1, record=False))
    assert watched.passed and watched.stdout.text == plain.stdout.text
    assert plain.record is None


def test_the_compiler_does_not_compile_the_watcher(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        double = torch.compile(lambda x: x * 2, backend="eager")
        print(double(torch.ones(2)).sum().item())
        """,
        Settings(on="cpu"),
    )
    assert result.passed, result
    assert result.stdout.text == "4.0\n"
    assert "sys._getframe" not in result.stderr.text
    assert result.record.operations["cpu"]["mul"] == 1


CLASH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)
        self.mask = torch.ones(2)

    def forward(self, x):
        hidden = self.linear(x)
        return hidden.relu() * self.mask.view(1, 2)

def load():
    return torch.zeros(3, 4)

model = Net().to("cuda")
batch = load()
moved = batch.to("cuda")
out = model(moved)
"""


def test_a_clash_tells_every_operand(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    result = run(CLASH)
    assert (result.status, result.exit_code) == ("clash", 1)
    clash = result.clash
    assert clash is not None
    assert (clash.kind, clash.exception, clash.function) == ("mismatch", "RuntimeError", "forward")
    assert clash.message.startswith("Expected all tensors to be on the same device")
    assert clash.text == "return hidden.relu() * self.mask.view(1, 2)"
    assert Path(clash.file) == tmp_path / "main.py"
    lines = CLASH.splitlines()
    assert lines[clash.line - 1].strip() == clash.text
    if clash.column is not None:
        expression = lines[clash.line - 1][clash.column : clash.end_column]
        assert expression == "hidden.relu() * self.mask.view(1, 2)"
    hidden, mask = clash.operands
    assert (hidden.expression, hidden.device) == ("hidden", "cuda:0")
    assert (mask.expression, mask.device) == ("self.mask", "cpu")
    assert [(step.how, step.device, step.text) for step in mask.steps] == [
        ("created", "cpu", "self.mask = torch.ones(2)")
    ]
    assert [(step.how, step.device, step.text) for step in hidden.steps] == [
        ("created", "cpu", "return torch.zeros(3, 4)"),
        ("moved", "cuda:0", 'moved = batch.to("cuda")'),
        ("computed", "cuda:0", "hidden = self.linear(x)"),
    ]
    assert [frame.text for frame in clash.frames] == ["out = model(moved)", clash.text]


@pytest.mark.parametrize(
    ("statement", "kind", "operands"),
    [
        ("model(x)", "mismatch", {"model": "cuda:0", "x": "cpu"}),
        ("y.numpy()", "numpy", {"y": "cuda:0"}),
        ("torch.cat([x, y])", "mismatch", {"x": "cpu", "y": "cuda:0"}),
        ("torch.cat(both)", "mismatch", {"both[0]": "cpu", "both[1]": "cuda:0"}),
        ("x[index]", "indices", {"x": "cpu", "index": "cuda:0"}),
        ("batch['x'] + y", "mismatch", {"batch['x']": "cpu", "y": "cuda:0"}),
        (
            "torch.randn(2, generator=generator, device='cuda')",
            "generator",
            {"generator": "cpu"},
        ),
    ],
)
def test_operands_of_every_kind(  # type: ignore[no-untyped-def]
    run, statement: str, kind: str, operands: dict[str, str]
) -> None:
    result = run(
        f"""
        import torch
        model = torch.nn.Linear(2, 2).cuda()
        x, y = torch.ones(2, 2), torch.ones(2, 2, device="cuda")
        index = torch.tensor([0], device="cuda")
        both, batch = [x, y], {{"x": x}}
        generator = torch.Generator()
        {statement}
        """
    )
    assert result.clash is not None, result
    assert result.clash.kind == kind
    named = {party.expression: party.device for party in result.clash.operands if party.expression}
    assert named == operands


def test_a_clash_in_a_notebook(tmp_path: Path) -> None:
    import json

    sources = [
        "%matplotlib inline\nimport torch\nx = torch.ones(2)",
        "!ls\nx + torch.ones(2, device='cuda')",
    ]
    cells = [{"cell_type": "code", "source": source, "metadata": {}} for source in sources]
    Path(tmp_path, "a.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    clash = run_program("a.ipynb", cwd=tmp_path, settings=VIRTUAL).clash
    assert clash is not None
    party, other = clash.operands
    assert (party.expression, [step.text for step in party.steps]) == ("x", ["x = torch.ones(2)"])
    assert (other.expression, other.device) == ("torch.ones(2, device='cuda')", "cuda:0")


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_tells_where_it_comes_from(run, workers: int) -> None:  # type: ignore[no-untyped-def]
    result = run(
        f"""
        import torch
        from torch.utils.data import DataLoader, Dataset
        class Data(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return torch.ones(2)
        model = torch.nn.Linear(2, 2).cuda()
        for batch in DataLoader(Data(), batch_size=2, num_workers={workers}):
            model(batch)
        """
    )
    assert result.clash is not None, result
    batch = result.clash.operands[1]
    assert (batch.expression, batch.device) == ("batch", "cpu")
    steps = [(step.how, step.text.split("(")[0]) for step in batch.steps]
    loop = "for batch in DataLoader"
    if workers:
        assert steps == [("loaded", loop)]
    else:
        assert steps == [("created", "return torch.ones"), ("computed", loop)]


def test_a_checkpoint_tells_where_it_was_loaded(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import copy, torch
        torch.save({"mean": torch.ones(2)}, "a.pt")
        for _ in range(20):
            torch.ones(2, device="cuda") * 2
        state = torch.load("a.pt")
        mean = copy.deepcopy(state["mean"])
        torch.ones(2, device="cuda") + state["mean"]
        """
    )
    assert result.clash is not None, result
    party = result.clash.operands[0]
    assert [(step.how, step.text) for step in party.steps] == [
        ("loaded", 'state = torch.load("a.pt")')
    ]


def test_a_module_in_two_places_names_its_tensors(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
        model[0].cuda()
        model(torch.ones(1, 2, device="cuda"))
        """
    )
    assert result.clash is not None, result
    places = {party.expression: party.device for party in result.clash.operands}
    assert places == {"model.0.weight": "cuda:0", "model.1.weight": "cpu"}


def test_operands_without_a_name(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        def host():
            return torch.zeros(2)
        torch.ones(2, device="cuda") + host()
        """
    )
    assert result.clash is not None
    told = [
        (party.expression, party.device, party.steps[-1].text) for party in result.clash.operands
    ]
    assert told == [
        ("torch.ones(2, device='cuda')", "cuda:0", 'torch.ones(2, device="cuda") + host()'),
        ("host()", "cpu", "return torch.zeros(2)"),
    ]


def test_looking_at_operands_runs_nothing_of_the_program(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        class Box:
            def __init__(self):
                self.calls = 0
            @property
            def x(self):
                self.calls += 1
                print("called", self.calls)
                return torch.ones(2)
        box = Box()
        box.x + torch.ones(2, device="cuda")
        """
    )
    assert result.clash is not None
    assert result.stdout.text == "called 1\n"
    assert [party.expression for party in result.clash.operands] == ["", ""]


def test_the_clash_under_another_exception(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        try:
            torch.ones(2) + torch.ones(2, device="cuda")
        except RuntimeError as error:
            raise ValueError("training failed") from error
        """
    )
    assert result.clash is not None
    assert "torch.ones(2) + torch.ones(2" in result.clash.text
    assert result.message == "ValueError: training failed"


def test_a_forked_worker(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        from torch.utils.data import DataLoader, Dataset
        class Data(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return torch.ones(2).cuda()
        torch.ones(1, device="cuda")
        for batch in DataLoader(Data(), num_workers=1, multiprocessing_context="fork"):
            pass
        """
    )
    assert result.clash is not None, result
    assert result.clash.kind == "fork"
    assert result.clash.text == "return torch.ones(2).cuda()"
    assert result.clash.function == "__getitem__"


def test_spawned_processes_are_virtual_too(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch, torch.multiprocessing as mp
        def work(queue):
            queue.put(str(torch.ones(1, device="cuda").device))
        if __name__ == "__main__":
            context = mp.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=work, args=(queue,))
            process.start()
            print(queue.get(timeout=60))
            process.join()
        """
    )
    assert result.stdout.text == "cuda:0\n", result.stderr.text


def test_two_devices(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        torch.ones(2, device="cuda:1") + torch.ones(2, device="cuda:0")
        """,
        Settings(on="virtual", devices=2),
    )
    assert result.clash is not None
    assert "cuda:1" in result.clash.message and "cuda:0" in result.clash.message


def test_cuda_is_refused_where_there_is_none(run) -> None:  # type: ignore[no-untyped-def]
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    result = run("print(1)", Settings(on="cuda"))
    assert (result.status, result.exit_code) == ("refused", 2)
    assert "no CUDA device" in result.message
    assert run("import torch; print(torch.ones(1).cuda().device)", Settings(on="auto")).passed


def test_the_report_survives_json(run) -> None:  # type: ignore[no-untyped-def]
    import json

    record = run(CLASH).record
    assert Record.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_the_traceback_shows_nothing_of_ours(run) -> None:  # type: ignore[no-untyped-def]
    stderr = run(CLASH).stderr.text
    assert "samedevice" not in stderr
    assert "return hidden.relu() * self.mask.view(1, 2)" in stderr


def test_a_storage_takes_its_life_with_it() -> None:
    import torch

    from samedevice.prove.watch import watching

    with watching(timed=False) as watch:
        kept = torch.ones(3)
        for _ in range(100):
            other = torch.ones(3) * 2
        assert watch.lives.knows(kept.view(3)) and watch.lives.knows(other)
        assert len(watch.lives._lives) == 2
        del other
        assert len(watch.lives._lives) == 1


def test_traced_functions_run_while_they_are_watched() -> None:
    """Their interpreter hands 0-dim tensors to Python as numbers."""
    import torch

    from samedevice.prove.watch import watching

    layer = torch.nn.Linear(1, 1, bias=False)
    with watching(timed=False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(layer, torch.ones(1))
        x = torch.full((1,), 2.0)
        assert torch.equal(traced(x), layer(x))


@pytest.mark.parametrize("bits", ["int64", "int32"])
def test_a_watched_ctc_loss_ends_as_one_that_nobody_watches(run, bits: str) -> None:  # type: ignore[no-untyped-def]
    """Under a mode torch hands on the lengths as tensors, and its kernel refuses the host's."""
    result = run(
        f"""
        import torch
        torch.manual_seed(0)
        probabilities = torch.rand(5, 2, 4).cuda().requires_grad_()
        targets = torch.tensor([[1, 2], [1, 3]], dtype=torch.{bits}).cuda()
        five, two = (torch.tensor([n, n], dtype=torch.{bits}) for n in (5, 2))
        loss = torch.nn.CTCLoss()(probabilities.log_softmax(2), targets, five, two.cuda())
        loss.backward()
        """
    )
    assert result.passed, result
    assert result.record.operations["cuda:0"]["_ctc_loss_backward"] == 1
    (read,) = [one for one in result.record.transfers if one.target == "cpu"]
    assert "CTCLoss" in read.text and read.nbytes >= 16  # the lengths that are on the device


def test_a_watched_ctc_loss_is_refused_where_cudnn_serves(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import torch
        probabilities = torch.rand(5, 2, 4).cuda()
        targets = torch.tensor([1, 2, 1, 3]).int().cuda()
        lengths = torch.tensor([5, 5]).int(), torch.tensor([2, 2]).int()
        torch.nn.CTCLoss()(probabilities.log_softmax(2), targets, *lengths)
        """
    )
    assert not result.passed
    assert "found at least two devices, cuda:0 and cpu!" in str(result)
