"""Tracebacks as people paste them."""

import textwrap

import pytest

from samedevice.prove.tracebacks import Traceback, read, statement

MISMATCH = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
)

CPYTHON = f"""\
Traceback (most recent call last):
  File "/home/me/project/train.py", line 40, in <module>
    main()
  File "/home/me/project/train.py", line 31, in main
    loss = step(model, batch)
           ^^^^^^^^^^^^^^^^^^
  File "/opt/lib/site-packages/torch/nn/modules/module.py", line 1501, in _call_impl
    return forward_call(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/home/me/project/model.py", line 12, in forward
    return x + self.position[:, : x.size(1)]
           ~~^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
RuntimeError: {MISMATCH}
"""

PLAIN = f"""\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[7], line 3
      1 for batch in loader:
      2     x, y = batch
----> 3     loss = criterion(model(x), y)
      4     loss.backward()

File ~/env/site-packages/torch/nn/modules/module.py:1130, in Module._call_impl(self, *input)
   1126 # If we don't have any hooks, we want to skip the rest of the logic in
   1127 # this function, and just call forward.
   1128 if not (self._backward_hooks or self._forward_hooks):
-> 1130     return forward_call(*input, **kwargs)
   1131 # Do not call functions when jit is used

File /content/model.py:9, in Net.forward(self, x)
      7 def forward(self, x):
      8     mask = torch.ones(3)
----> 9     return x * mask

RuntimeError: {MISMATCH}
"""

OLD_IPYTHON = f"""\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-12-3f1d1a3a6f1e> in <module>()
      1 model = Net()
----> 2 train(model)

<ipython-input-9-aaaaaaaaaaaa> in train(model)
     10     for x in loader:
---> 11         out = model(x)

/usr/lib/dist-packages/torch/nn/modules/module.py in __call__(self, *input, **kwargs)
    487             result = self._slow_forward(*input, **kwargs)
    488         else:
--> 489             result = self.forward(*input, **kwargs)

RuntimeError: {MISMATCH}
"""


def places(found: Traceback | None) -> list[tuple[str, int, str]]:
    assert found is not None
    return [(frame.file, frame.line, frame.function) for frame in found.frames]


def test_cpython() -> None:
    found = read(CPYTHON)
    assert found is not None
    assert places(found) == [
        ("/home/me/project/train.py", 40, "<module>"),
        ("/home/me/project/train.py", 31, "main"),
        (
            "/opt/lib/site-packages/torch/nn/modules/module.py",
            1501,
            "_call_impl",
        ),
        ("/home/me/project/model.py", 12, "forward"),
    ]
    assert found.frames[-1].text == "return x + self.position[:, : x.size(1)]"
    assert (found.exception, found.text) == ("RuntimeError", MISMATCH)
    assert found.message is not None
    assert [one.device for one in found.message.operands] == ["cuda:0", "cpu"]


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-05-01 12:00:01,123 - ERROR - ",
        "2024-05-01T12:00:01.123Z ",
        "[2024-05-01 12:00:01] ",
        "12:00:01 | ERROR | ",
        "[rank0]: ",
        "> ",
        "ERROR: ",
        "0: ",
        "> > [rank3]:  ",
    ],
)
def test_a_log_before_every_line(prefix: str) -> None:
    logged = "\n".join(prefix + line for line in CPYTHON.splitlines())
    plain, found = read(CPYTHON), read(f"epoch 1: loss 0.3\n{logged}\n{prefix}done")
    assert plain is not None and found is not None
    assert places(found) == places(plain)
    assert [frame.text for frame in found.frames] == [frame.text for frame in plain.frames]
    assert found.message == plain.message
    assert found.exception == "RuntimeError"


def test_cut_off_at_the_head() -> None:
    found = read("\n".join(CPYTHON.splitlines()[9:]))
    assert places(found) == [("/home/me/project/model.py", 12, "forward")]
    assert found is not None and found.message is not None


def test_cut_off_at_the_end() -> None:
    found = read("\n".join(CPYTHON.splitlines()[:-1]))
    assert found is not None
    assert places(found)[-1] == ("/home/me/project/model.py", 12, "forward")
    assert (found.exception, found.message) == ("", None)


def test_without_indentation() -> None:
    found = read("\n".join(line.strip() for line in CPYTHON.splitlines()))
    assert places(found) == places(read(CPYTHON))
    assert found is not None and found.frames[1].text == "loss = step(model, batch)"


def test_only_the_message() -> None:
    found = read(f"RuntimeError: {MISMATCH}")
    assert found is not None
    assert (found.frames, found.exception) == ((), "RuntimeError")
    found = read(MISMATCH)
    assert found is not None and found.message is not None


def test_ipython() -> None:
    found = read(PLAIN)
    assert found is not None
    assert [(frame.file, frame.line, frame.cell) for frame in found.frames] == [
        ("", 3, 7),
        ("~/env/site-packages/torch/nn/modules/module.py", 1130, None),
        ("/content/model.py", 9, None),
    ]
    assert found.frames[0].text == "loss = criterion(model(x), y)"
    assert found.frames[-1].text == "return x * mask"
    assert found.frames[-1].function == "Net.forward"
    assert found.exception == "RuntimeError"
    assert found.message is not None


def test_old_ipython() -> None:
    found = read(OLD_IPYTHON)
    assert found is not None
    assert [(frame.line, frame.cell) for frame in found.frames] == [(2, 12), (11, 9), (489, None)]
    assert found.frames[1].text == "out = model(x)"
    assert found.message is not None


def coloured(text: str) -> str:
    """Colour a traceback somewhat as IPython does: words, numbers and arrows, in between."""
    lines = []
    for line in text.splitlines():
        line = line.replace("RuntimeError", "\x1b[0;31mRuntimeError\x1b[0m")
        line = line.replace("return", "\x1b[38;5;28;01mreturn\x1b[39;00m")
        line = line.replace("----> ", "\x1b[0;32m----> \x1b[0;31m").replace(
            "(", "\x1b[1;33m(\x1b[0m"
        )
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("text", [CPYTHON, PLAIN, OLD_IPYTHON])
def test_colours(text: str) -> None:
    assert read(coloured(text)) == read(text)


@pytest.mark.parametrize("text", [CPYTHON, PLAIN, OLD_IPYTHON])
def test_colours_spelled_out(text: str) -> None:
    spelled = coloured(text).replace("\x1b", "\\u001b")
    assert places(read(spelled)) == places(read(text))


def test_windows_lines_and_paths() -> None:
    text = (
        "Traceback (most recent call last):\r\n"
        '  File "C:\\work\\train.py", line 5, in <module>\r\n'
        "    y = x + z\r\n"
        f"RuntimeError: {MISMATCH}\r\n"
    )
    assert places(read(text)) == [("C:\\work\\train.py", 5, "<module>")]


def test_windows_paths_in_a_notebook() -> None:
    text = (
        "C:\\Users\\me\\train.py in train(model, loader)\n"
        "      9     for x, y in loader:\n"
        "---> 10         out = model(x)\n"
        "\n"
        "RuntimeError: Expected all tensors to be on the same device"
    )
    assert places(read(text)) == [("C:\\Users\\me\\train.py", 10, "train")]


def test_chained_takes_the_one_about_devices() -> None:
    text = f"""\
{CPYTHON}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/project/train.py", line 44, in <module>
    save(model)
NameError: name 'save' is not defined
"""
    found = read(text)
    assert found is not None
    assert found.exception == "RuntimeError"
    assert len(found.frames) == 4


def test_a_loaders_worker() -> None:
    text = """\
Traceback (most recent call last):
  File "train.py", line 8, in <module>
    for x in loader:
  File "/lib/site-packages/torch/_utils.py", line 733, in reraise
    raise exception
RuntimeError: Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/lib/site-packages/torch/utils/data/_utils/worker.py", line 351, in _worker_loop
    data = fetcher.fetch(index)
  File "data.py", line 20, in __getitem__
    return self.x[i].cuda()
RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with
"""
    found = read(text)
    assert found is not None and found.message is not None
    assert found.message.kind == "fork"
    assert places(found)[-1] == ("data.py", 20, "__getitem__")


def test_message_over_several_lines() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in <module>\n'
        "    f()\n"
        "RuntimeError: Expected all tensors to be on the same\n"
        "device, but found at least two devices, cuda:0 and cpu!\n"
        "\n"
        "Process finished with exit code 1\n"
    )
    found = read(text)
    assert found is not None and found.message is not None
    assert [one.device for one in found.message.operands] == ["cuda:0", "cpu"]
    assert "Process finished" not in found.text


@pytest.mark.parametrize(
    "text", ["", "hello", "epoch 1: loss 0.3\nINFO: done\n", "Note: x", "\0\x1b["]
)
def test_no_traceback(text: str) -> None:
    assert read(text) is None


def test_long_texts_take_no_time() -> None:
    assert read("a" * 200_000) is None
    assert read("x: y\n" * 50_000) is None
    assert read(("[" * 50 + "\n") * 2_000) is None
    found = read('  File "a.py", line 1, in f\n    g()\n' * 20_000 + f"RuntimeError: {MISMATCH}")
    assert found is not None and len(found.frames) == 20_000


def test_statement() -> None:
    source = textwrap.dedent(
        """\
        import torch
        def f(x):
            y = g(
                x,
                1,
            )
            for i in range(
                3
            ):
                pass
            return y
        """
    )
    assert statement(source, 4, "x,") == (3, 6)
    assert statement(source, 3, "y = g(") == (3, 6)
    assert statement(source, 8, "3") == (7, 9)
    assert statement(source, 11, "return y") == (11, 11)
    assert statement(source, 9, "return  y") == (11, 11)  # the file has changed
    assert statement(source, 11, "") == (11, 11)
    assert statement(source, 11, "return z") is None
    assert statement(source, 99, "") is None
    assert statement("def f(:\n  x\n", 2, "x") == (2, 2)


def test_a_cell_as_run_tells_it() -> None:
    told = read(
        'Traceback (most recent call last):\n  File "/tmp/a b/n.ipynb:cell 3", line 7, in forward\n'
        "    return self.fc(x) * self.scale\nRuntimeError: Expected all tensors to be on the same "
        "device, but found at least two devices, cuda:0 and cpu!\n"
        "──────── n.ipynb · virtual cuda ────────\nclash: two operands are on two devices\n"
        "  RuntimeError: Expected all tensors to be on the same device, but found at least two\n"
    )
    assert told is not None
    frame = told.frames[-1]
    assert (frame.file, frame.cell, frame.line) == ("/tmp/a b/n.ipynb", 3, 7)
    assert told.text.endswith("cuda:0 and cpu!")
