"""What asks for CUDA and no rule can judge is told, and what a program asks for itself is not."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from samedevice import inference
from samedevice.finding import Edit, Finding, Fix, Span
from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project
from samedevice.rules import cuda_not_judged

HEAD = "import argparse\nimport torch\nimport library\n\nparser = argparse.ArgumentParser()\n"


def told(**files: str) -> list[str]:
    """Return the code of the lines that are told of as asking for CUDA."""
    sources = [source.from_text(HEAD + dedent(text), f"{name}.py") for name, text in files.items()]
    project = Project(sources)
    found = check(project, Config())
    return [
        project.sources[one.path].line(one.span.line).strip()
        for one in found
        if one.rule == "cuda-not-judged"
    ]


@pytest.mark.parametrize(
    "text, lines",
    [
        # a flag that is on by default
        ("FLAGS = {'cuda': True}\nif library.flags.cuda: library.x.cuda()", 1),
        ("FLAGS = {'cuda': False}\nif library.flags.cuda: library.x.cuda()", 0),
        ("parser.add_argument('--use_cuda', default=True)\nargs = parser.parse_args()\n"
         "if args.use_cuda: library.x.cuda()", 1),
        ("parser.add_argument('--use_cuda', action='store_true')\nargs = parser.parse_args()\n"
         "if args.use_cuda: library.x.cuda()", 0),
        ("parser.add_argument('--cpu', action='store_true')\nargs = parser.parse_args()\n"
         "if not args.cpu: library.x.cuda()", 1),
        ("parser.add_argument('--no-gpu', dest='gpu', action='store_false')\n"
         "args = parser.parse_args()\nif args.gpu: library.x.cuda()", 1),
        ("def run(x, use_cuda=True):\n    if use_cuda: library.x.cuda()", 1),
        ("def run(x, use_cuda=False):\n    if use_cuda: library.x.cuda()", 0),
        # one that says whether there is a GPU
        ("def run(x, use_cuda=True):\n    if use_cuda and torch.cuda.is_available(): "
         "library.x.cuda()", 0),
        ("use_cuda = torch.cuda.is_available()\ndef run(x, use_cuda=True):\n"
         "    if use_cuda: library.x.cuda()", 0),
        # the arm that a user chooses
        ("def run(x, use_cuda=True):\n    if use_cuda: print()\n    else: library.x.cuda()", 0),
        # a device that is chosen, and not asked
        ("def run(other_device=None):\n    if other_device is not None: library.x.to('cuda')", 1),
        ("def run(x, gpu=None):\n    if gpu is not None: library.x.cuda(gpu)", 0),
    ],
)  # fmt: skip
def test_a_flag_that_is_on_by_default_decides_nothing(text: str, lines: int) -> None:
    assert len(told(main=text)) == lines


def test_a_flag_of_another_file() -> None:
    helper = "def fit(x, cuda):\n    if cuda: library.x.cuda()\n"
    main = "from helper import fit\nCuda = {}\nfit(library.x, Cuda)\n"
    assert told(main=main.format(True), helper=helper) == ["if cuda: library.x.cuda()"]
    assert told(main=main.format(False), helper=helper) == []


@pytest.mark.parametrize(
    "code", ["f'cuda:{args.gpu}'", "'cuda:' + str(args.gpu)", "'cuda:%d' % args.gpu",
             "'cuda:{}'.format(args.gpu)"],
)  # fmt: skip
def test_the_number_of_a_gpu_by_default(code: str) -> None:
    program = """
        parser.add_argument('--gpu', type=int, default={})
        args = parser.parse_args()
        if args.gpu <= -1:
            device = torch.device('cpu')
        else:
            device = torch.device({})
        library.x.to(device)
    """
    assert len(told(main=dedent(program).format(0, code))) == 1
    assert not told(main=dedent(program).format(-1, code))


def test_nccl_by_its_attribute() -> None:
    line = "torch.distributed.init_process_group(torch.distributed.Backend.NCCL)"
    assert told(main=f"def main():\n    {line}\n") == [line]
    assert not told(main=f"if torch.cuda.is_available():\n    {line}\n")
    assert not told(main="print(torch.distributed.Backend.NCCL == library.backend)\n")


def test_cuda_as_an_argument_of_the_file_s_own() -> None:
    run = "def run(mode):\n    if mode == 'cuda': library.x.cuda()\n"
    assert told(main=f"{run}run('cuda')\n") == ["run('cuda')"]
    assert told(main=f"{run}run('cpu')\nprint('cuda')\nlibrary.log('cuda')\n") == []


def test_what_is_loaded_and_moved_or_kept_as_weights() -> None:
    device = "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    load = "x = torch.load(library.path)"
    assert told(main=f"{device}{load}\nlibrary.made(x)\n") == []
    doubt = "if not torch.is_tensor(x):\n    x = torch.tensor(x)\n"
    assert told(main=f"{device}{load}\n{doubt}x = x.to(device)\n") == [load]
    weights = "def build(cuda_idx):\n    x = torch.load(library.path)\n    return x['state_dict']\n"
    assert told(main=weights) == [load]
    assert told(main="def build(index):\n    return torch.load(library.path)\n") == []


def test_an_edit_at_a_function_says_nothing_of_its_lines() -> None:
    text = "import library\ndef fit():\n    library.x.cuda()\n"
    project = Project([source.from_text(text, "main.py")])
    solution = inference.infer(project)
    whole = Span(2, 0, 3, 20)
    for verb, number in (("parameter", 1), ("replace_statement", 0)):
        fix = Fix((Edit("main.py", whole, verb, ()),))  # type: ignore[arg-type]
        said = Finding("main.py", Span(2, 0, 2, 9), "other", "x", fix=fix)
        assert len(list(cuda_not_judged.rest(solution, [said]))) == number


def test_beside_a_model_that_is_split_what_names_one_device_is_told() -> None:
    program = """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.one = torch.nn.Linear(2, 2).to("cuda:0")
                self.two = torch.nn.Linear(2, 2).to("cuda:1")
            def forward(self, x):
                return self.two(self.one(x.to("cuda:0")).to("cuda:1"))
        def mean_of(x, device="cuda:0"):
            return x.to(device).mean()
        print(Net()(torch.ones(1, 2)), mean_of(torch.ones(3)))
    """
    assert told(main=program) == ['def mean_of(x, device="cuda:0"):']


def test_what_a_test_asserts_of_its_tensors() -> None:
    test = "def test_sum(x=library.x):\n    assert x.is_cuda\n"
    assert told(main=test) == ["assert x.is_cuda"]
    assert told(main=test.replace("x.is_cuda", "x.device.type == 'cuda'"))
    assert not told(main=f"if torch.cuda.is_available():\n{indent(test, '    ')}")
    assert not told(main=test.replace("test_sum", "fast_sum"))  # it says what it is for


def test_a_loop_over_the_gpus_that_are_there() -> None:
    loop = "devices = [torch.device('cuda', i) for i in range({})]\n"
    assert not told(main=loop.format("torch.cuda.device_count()"))
    assert told(main=loop.format("2"))
    body = "for i in range({}):\n    library.x.cuda(i)\n"
    assert not told(main=body.format("torch.cuda.device_count()"))
    assert told(main=body.format("2"))
