"""Expressions and plain statements: operators, containers, comprehensions, unpacking, f-strings."""

PROGRAMS = {
    **{
        f"operator {name}": f"""
            x = torch.ones(3, 3, AT)
            x {name} torch.ones(3, 3, device=device)
        """
        for name in ("+", "-", "*", "/", "//", "%", "**", "@", "<", "<=", ">", ">=", "==", "!=")
    },
    **{
        f"operator {name} of whole numbers": f"""
            x = torch.ones(3, dtype=torch.int64, AT)
            x {name} torch.ones(3, dtype=torch.int64, device=device)
        """
        for name in ("&", "|", "^", "<<", ">>")
    },
    **{
        f"operator {name}": f"""
            x = torch.ones(3, 3, AT)
            x {name} torch.ones(3, 3, device=device)
        """
        for name in ("+=", "-=", "*=", "/=", "//=", "%=", "**=")
    },
    **{
        f"operator {name} before": f"""
            x = {name} torch.ones(1, 3, {extra}AT)
            model({use})
        """
        for name, extra, use in (
            ("-", "", "x"),
            ("+", "", "x"),
            ("~", "dtype=torch.bool, ", "x.float()"),
        )
    },
    "operands the other way": """
        torch.ones(1, 3, device=device) + torch.ones(1, 3, AT)
    """,
    "a chain of operators": """
        x = torch.ones(1, 3, AT)
        model((x + 1) * 2 - 3)
    """,
    "is and in": """
        x = torch.ones(1, 3, AT)
        if x is not None and 1 in (1, 2):
            model(x)
    """,
    "tuple": """
        pair = (1, torch.ones(1, 3, AT))
        model(pair[1])
    """,
    "list": """
        rows = [torch.ones(1, 3, AT)]
        model(rows[0])
    """,
    "list with a negative index": """
        rows = [torch.zeros(1, 3, device=device), torch.ones(1, 3, AT)]
        model(rows[-1])
    """,
    "a slice of a list": """
        rows = [torch.zeros(1, 3, device=device), torch.ones(1, 3, AT)]
        for row in rows[1:]:
            model(row)
    """,
    "list plus list": """
        rows = [torch.zeros(1, 3, device=device)] + [torch.ones(1, 3, AT)]
        model(rows[1])
    """,
    "list times a number": """
        rows = [torch.ones(1, 3, AT)] * 2
        model(rows[1])
    """,
    "dict": """
        s = {"x": torch.ones(1, 3, AT)}
        model(s["x"])
    """,
    "dict entry set later": """
        s = {}
        s["x"] = torch.ones(1, 3, AT)
        model(s["x"])
    """,
    "dict entry set again": """
        s = {"x": torch.zeros(1, 3, device=device)}
        s["x"] = torch.ones(1, 3, AT)
        model(s["x"])
    """,
    "dict in dict": """
        s = {"y": {"x": torch.ones(1, 3, AT)}}
        model(s["y"]["x"])
    """,
    "dict with a computed key": """
        key = sys.argv[0]
        s = {key: torch.ones(1, 3, AT)}
        model(s[key])
    """,
    "dict with another entry on the device": """
        s = {"x": torch.zeros(1, 3, device=device), "y": torch.ones(1, 3, AT)}
        for name in ("x", "y"):
            model(s[name])
    """,
    "dict.get": """
        s = {"x": torch.ones(1, 3, AT)}
        model(s.get("x"))
    """,
    "dict.pop": """
        s = {"x": torch.ones(1, 3, AT)}
        model(s.pop("x"))
    """,
    "dict.setdefault": """
        s = {}
        model(s.setdefault("x", torch.ones(1, 3, AT)))
    """,
    "dict.update": """
        s = {}
        s.update({"x": torch.ones(1, 3, AT)})
        model(s["x"])
    """,
    "dict.update by keyword": """
        s = {}
        s.update(x=torch.ones(1, 3, AT))
        model(s["x"])
    """,
    "dict |": """
        s = {"n": 1} | {"x": torch.ones(1, 3, AT)}
        model(s["x"])
    """,
    "dict |=": """
        s = {"n": 1}
        s |= {"x": torch.ones(1, 3, AT)}
        model(s["x"])
    """,
    "dict with two stars": """
        s = {**{"n": 1}, **{"x": torch.ones(1, 3, AT)}}
        model(s["x"])
    """,
    "dict()": """
        s = dict(x=torch.ones(1, 3, AT))
        model(s["x"])
    """,
    "dict(zip)": """
        s = dict(zip(["x"], [torch.ones(1, 3, AT)]))
        model(s["x"])
    """,
    "dict.values": """
        s = {"x": torch.ones(1, 3, AT)}
        for x in s.values():
            model(x)
    """,
    "dict.items": """
        s = {"x": torch.ones(1, 3, AT)}
        for name, x in s.items():
            model(x)
    """,
    "dict copied": """
        s = {"x": torch.ones(1, 3, AT)}
        model(s.copy()["x"])
    """,
    "defaultdict": """
        from collections import defaultdict
        s = defaultdict(list)
        s["x"].append(torch.ones(1, 3, AT))
        model(s["x"][0])
    """,
    "OrderedDict": """
        from collections import OrderedDict
        s = OrderedDict()
        s["x"] = torch.ones(1, 3, AT)
        model(s["x"])
    """,
    "list.append": """
        rows = []
        rows.append(torch.ones(1, 3, AT))
        model(rows[0])
    """,
    "list.extend": """
        rows = []
        rows.extend([torch.ones(1, 3, AT)])
        model(rows[0])
    """,
    "list.insert": """
        rows = []
        rows.insert(0, torch.ones(1, 3, AT))
        model(rows[0])
    """,
    "list +=": """
        rows = []
        rows += [torch.ones(1, 3, AT)]
        model(rows[0])
    """,
    "list.pop": """
        rows = [torch.ones(1, 3, AT)]
        model(rows.pop())
    """,
    "list element set": """
        rows = [torch.zeros(1, 3, device=device)]
        rows[0] = torch.ones(1, 3, AT)
        model(rows[0])
    """,
    "two names for one list": """
        rows = []
        other = rows
        other.append(torch.ones(1, 3, AT))
        model(rows[0])
    """,
    "a list changed in a function": """
        def fill(rows):
            rows.append(torch.ones(1, 3, AT))
        rows = []
        fill(rows)
        model(rows[0])
    """,
    "a dict changed in a function": """
        def fill(s):
            s["x"] = torch.ones(1, 3, AT)
        s = {}
        fill(s)
        model(s["x"])
    """,
    "a dict changed in a function it was there before": """
        def fill(s):
            s["x"] = torch.ones(1, 3, AT)
        s = {"x": torch.zeros(1, 3, device=device)}
        fill(s)
        model(s["x"])
    """,
    "dicts in a list changed in a loop": """
        rows = [{"x": torch.zeros(1, 3, device=device)}]
        for row in rows:
            row["x"] = torch.ones(1, 3, AT)
        model(rows[0]["x"])
    """,
    "set": """
        for x in {torch.ones(1, 3, AT)}:
            model(x)
    """,
    "list()": """
        model(list((torch.ones(1, 3, AT),))[0])
    """,
    "tuple()": """
        model(tuple([torch.ones(1, 3, AT)])[0])
    """,
    "starred list": """
        model([1, *[torch.ones(1, 3, AT)]][1])
    """,
    "unpacking": """
        n, x = 1, torch.ones(1, 3, AT)
        model(x)
    """,
    "unpacking in depth": """
        n, (m, x) = 1, (2, torch.ones(1, 3, AT))
        model(x)
    """,
    "unpacking with a star": """
        first, *rest = 1, torch.ones(1, 3, AT), 2
        model(rest[0])
    """,
    "unpacking behind a star": """
        *rest, x = 1, 2, torch.ones(1, 3, AT)
        model(x)
    """,
    "unpacking a tensor": """
        x, y = torch.ones(2, 3, AT)
        model(x)
    """,
    "swap": """
        x, y = torch.zeros(1, 3, device=device), torch.ones(1, 3, AT)
        x, y = y, x
        model(x)
    """,
    "several targets": """
        x = y = torch.ones(1, 3, AT)
        model(y)
    """,
    "annotated assignment": """
        x: torch.Tensor = torch.ones(1, 3, AT)
        model(x)
    """,
    "annotation before the assignment": """
        x: torch.Tensor
        x = torch.ones(1, 3, AT)
        model(x)
    """,
    "augmented assignment": """
        x = torch.ones(1, 3, AT)
        x += 1
        model(x)
    """,
    "augmented assignment of an attribute": """
        class State:
            pass
        s = State()
        s.x = torch.ones(1, 3, AT)
        s.x *= 2
        model(s.x)
    """,
    "del of a name": """
        x = torch.zeros(1, 3, device=device)
        del x
        x = torch.ones(1, 3, AT)
        model(x)
    """,
    "del of an entry": """
        s = {"x": torch.zeros(1, 3, device=device)}
        del s["x"]
        model(s.get("x", torch.ones(1, 3, AT)))
    """,
    "del of an attribute": """
        class State:
            x = torch.ones(1, 3, AT)
        s = State()
        s.x = torch.zeros(1, 3, device=device)
        del s.x
        model(s.x)
    """,
    "list comprehension": """
        rows = [torch.ones(1, 3, AT) for _ in range(2)]
        model(rows[0])
    """,
    "comprehension that calls": """
        rows = [torch.ones(1, 3, AT)]
        out = [model(row) for row in rows]
    """,
    "dict comprehension": """
        s = {name: torch.ones(1, 3, AT) for name in "xy"}
        model(s["x"])
    """,
    "dict comprehension over items": """
        s = {"x": torch.ones(1, 3, AT)}
        s = {name: value * 2 for name, value in s.items()}
        model(s["x"])
    """,
    "set comprehension": """
        for x in {torch.ones(1, 3, AT) for _ in range(1)}:
            model(x)
    """,
    "comprehension in comprehension": """
        rows = [[torch.ones(1, 3, AT) for _ in range(2)] for _ in range(2)]
        model(rows[0][0])
    """,
    "comprehension with two loops": """
        rows = [x for rows in [[torch.ones(1, 3, AT)]] for x in rows]
        model(rows[0])
    """,
    "comprehension with a condition": """
        rows = [x for x in [torch.ones(1, 3, AT)] if x.ndim == 2]
        model(rows[0])
    """,
    "a comprehension has a scope of its own": """
        x = torch.ones(1, 3, AT)
        y = [x for x in [torch.zeros(1, 3, device=device)]]
        model(x)
    """,
    "a walrus in a comprehension leaves it": """
        x = torch.zeros(1, 3, device=device)
        y = [(x := torch.ones(1, 3, AT)) for _ in range(1)]
        model(x)
    """,
    "a generator in sum": """
        sum(torch.ones(3, AT) for _ in range(2)) + torch.ones(3, device=device)
    """,
    "f-string": """
        x = torch.ones(1, 3, AT)
        print(f"{model(x)}")
    """,
    "f-string with a format": """
        x = torch.ones(1, 3, AT)
        print(f"{float(model(x).sum()):.3f} {1!r}")
    """,
    "f-string with a walrus": """
        print(f"{(x := torch.ones(1, 3, AT))}")
        model(x)
    """,
    "percent format": """
        x = torch.ones(1, 3, AT)
        print("%s" % model(x))
    """,
    "subscript of a tensor": """
        x = torch.ones(2, 3, AT)
        model(x[0])
    """,
    "slice of a tensor": """
        x = torch.ones(4, 3, AT)
        model(x[1:3])
    """,
    "ellipsis and None": """
        x = torch.ones(4, 3, AT)
        model(x[None, ...])
    """,
    "mask of a tensor": """
        x = torch.ones(4, 3, AT)
        model(x[x.sum(1) > 0])
    """,
    "an index on the device into the host": """
        table = torch.ones(4, 3, AT)
        table[torch.tensor([0, 1], device=device)]
    """,
    "method": """
        x = torch.ones(3, AT)
        model(x.view(1, 3))
    """,
    "method chain": """
        x = torch.ones(6, AT)
        model(x.view(2, 3).float().clone().contiguous())
    """,
    "attribute T": """
        x = torch.ones(3, 1, AT)
        model(x.T)
    """,
    "attribute data": """
        x = torch.ones(1, 3, AT)
        model(x.data)
    """,
    "max gives two": """
        values, indices = torch.ones(2, 3, AT).max(0)
        model(values)
    """,
    "max by attribute": """
        model(torch.ones(2, 3, AT).max(0).values)
    """,
    "split": """
        x, y = torch.ones(2, 3, AT).split(1)
        model(x)
    """,
    "cat": """
        torch.cat([torch.ones(1, 3, AT), torch.ones(1, 3, device=device)])
    """,
    "stack of a list with a star": """
        rows = [torch.ones(3, AT)]
        torch.stack([*rows, torch.ones(3, device=device)])
    """,
    "where": """
        y = torch.ones(3, device=device)
        torch.where(y > 0, y, torch.zeros(3, AT))
    """,
    "numpy": """
        x = model(torch.ones(1, 3, device=device)).detach()
        x.HOST.numpy()
    """,
    "from_numpy": """
        import numpy as np
        model(torch.from_numpy(np.ones((1, 3), dtype="float32")).AT)
    """,
    "tensor of a list": """
        model(torch.tensor([[1.0, 2.0, 3.0]], AT))
    """,
    "a random generator": """
        g = torch.Generator(device=device)
        torch.rand(3, generator=g, AT)
    """,
    "a copy": """
        import copy
        model(copy.deepcopy(torch.ones(1, 3, AT)))
    """,
    "pass and expression statements": """
        x = torch.ones(1, 3, AT)
        pass
        ...
        "text"
        model(x)
    """,
    "import in a function": """
        def run():
            import torch.nn.functional as F
            return F.linear(torch.ones(1, 3, AT), model.weight)
        run()
    """,
    "import as": """
        import torch as t
        model(t.ones(1, 3, AT))
    """,
    "from import": """
        from torch import ones
        model(ones(1, 3, AT))
    """,
    "a name for torch.ones": """
        make = torch.ones
        model(make(1, 3, AT))
    """,
    "getattr with a literal": """
        model(getattr(torch, "ones")(1, 3, AT))
    """,
    "3.12: f-string in f-string": """
        x = torch.ones(1, 3, AT)
        print(f"{f"{model(x)}"}")
    """,
    "3.12: type statement and type parameters": """
        type Row = torch.Tensor
        def run[T](x: T) -> T:
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "3.12: class with type parameters": """
        class Box[T]:
            def __init__(self, x: T):
                self.x = x
        model(Box(torch.ones(1, 3, AT)).x)
    """,
    "3.13: type parameter with a default": """
        def run[T = torch.Tensor](x: T) -> T:
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "3.14: template string": """
        x = torch.ones(1, 3, AT)
        print(t"{model(x)}")
    """,
}
