"""Statements that choose: `if`, `match`, conditional expressions, short circuits."""

PROGRAMS = {
    "if": """
        x = torch.zeros(1, 3, device=device)
        if a:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "if and else": """
        if a:
            x = torch.ones(1, 3, AT)
        else:
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "else": """
        if not a:
            x = torch.zeros(1, 3, device=device)
        else:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "one arm only": """
        if a:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "if in if": """
        if a:
            if b:
                x = torch.ones(1, 3, AT)
        model(x)
    """,
    "if in if over a value on the device": """
        x = torch.zeros(1, 3, device=device)
        if a:
            if b:
                x = torch.ones(1, 3, AT)
        model(x)
    """,
    "three levels": """
        x = torch.zeros(1, 3, device=device)
        if a:
            if b:
                if a or b:
                    x = torch.ones(1, 3, AT)
        model(x)
    """,
    "two ifs in a row": """
        x = torch.zeros(1, 3, device=device)
        if a:
            x = torch.ones(1, 3, AT)
        if not b:
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "elif": """
        if not a:
            x = torch.zeros(1, 3, device=device)
        elif b:
            x = torch.ones(1, 3, AT)
        else:
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "elif chain": """
        n = len(sys.argv)
        if n > 100:
            x = torch.zeros(1, 3, device=device)
        elif n > 50:
            x = torch.zeros(2, 3, device=device)
        elif n > 40:
            x = torch.zeros(3, 3, device=device)
        elif n > 0:
            x = torch.ones(1, 3, AT)
        else:
            x = torch.zeros(4, 3, device=device)
        model(x)
    """,
    "if in a loop": """
        x = torch.zeros(1, 3, device=device)
        for i in range(3):
            if i == 1:
                x = torch.ones(1, 3, AT)
            model(x)
    """,
    "dict in two arms, the first": """
        if a:
            s = {"x": torch.ones(1, 3, AT)}
        else:
            s = {"x": torch.zeros(1, 3, device=device)}
        model(s["x"])
    """,
    "dict in two arms, the second": """
        if not a:
            s = {"x": torch.zeros(1, 3, device=device)}
        else:
            s = {"x": torch.ones(1, 3, AT)}
        model(s["x"])
    """,
    "list in two arms": """
        if a:
            s = [torch.ones(1, 3, AT)]
        else:
            s = [torch.zeros(1, 3, device=device), torch.zeros(1, 3, device=device)]
        model(s[0])
    """,
    "tuple in two arms": """
        if a:
            s = 1, torch.ones(1, 3, AT)
        else:
            s = 2, torch.zeros(1, 3, device=device)
        n, x = s
        model(x)
    """,
    "attribute in two arms": """
        class State:
            pass
        s = State()
        if a:
            s.x = torch.ones(1, 3, AT)
        else:
            s.x = torch.zeros(1, 3, device=device)
        model(s.x)
    """,
    "a model in two arms": """
        if a:
            net = nn.Linear(3, 2).AT
        else:
            net = nn.Linear(3, 4).to(device)
        net(torch.ones(1, 3, device=device))
    """,
    "None first": """
        x = None
        if a:
            x = torch.ones(1, 3, AT)
        if x is not None:
            model(x)
    """,
    "narrowed by isinstance": """
        x = torch.ones(1, 3, AT) if a else [1.0, 2.0, 3.0]
        if isinstance(x, torch.Tensor):
            model(x)
    """,
    "narrowed by an early return": """
        def run(x):
            if x is None:
                return None
            return model(x)
        run(torch.ones(1, 3, AT))
        run(None)
    """,
    "narrowed by an early raise": """
        def run(x=None):
            if x is None:
                raise ValueError("x")
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "narrowed by assert": """
        def run(x=None):
            assert x is not None
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "narrowed by a name that holds the test": """
        x = torch.ones(1, 3, AT) if a else "none"
        is_tensor = torch.is_tensor(x)
        if is_tensor:
            model(x)
    """,
    "a default that is filled in": """
        def run(x=None):
            if x is None:
                x = torch.ones(1, 3, AT)
            return model(x)
        run()
    """,
    "match with literals": """
        match len(sys.argv):
            case 0:
                x = torch.zeros(1, 3, device=device)
            case _:
                x = torch.ones(1, 3, AT)
        model(x)
    """,
    "match with a capture": """
        match torch.ones(1, 3, AT):
            case x:
                model(x)
    """,
    "match with a sequence": """
        match (1, torch.ones(1, 3, AT)):
            case (n, x):
                model(x)
    """,
    "match with a star": """
        match [torch.ones(1, 3, AT), 1, 2]:
            case [x, *rest]:
                model(x)
    """,
    "match with a mapping": """
        match {"x": torch.ones(1, 3, AT), "y": 1}:
            case {"x": x}:
                model(x)
    """,
    "match with a class": """
        class Point:
            __match_args__ = ("x",)
            def __init__(self, x):
                self.x = x
        match Point(torch.ones(1, 3, AT)):
            case Point(x=found):
                model(found)
    """,
    "match with a class by position": """
        class Point:
            __match_args__ = ("x",)
            def __init__(self, x):
                self.x = x
        match Point(torch.ones(1, 3, AT)):
            case Point(found):
                model(found)
    """,
    "match with as": """
        match torch.ones(1, 3, AT):
            case torch.Tensor() as x:
                model(x)
    """,
    "match with or": """
        match (1, torch.ones(1, 3, AT)):
            case (1, x) | (2, x):
                model(x)
    """,
    "match with a guard": """
        x = torch.zeros(1, 3, device=device)
        match len(sys.argv):
            case n if n > 0:
                x = torch.ones(1, 3, AT)
            case _:
                pass
        model(x)
    """,
    "match with a value": """
        class Kind:
            DENSE = 1
        kind = Kind.DENSE if a else 2
        match kind:
            case Kind.DENSE:
                x = torch.ones(1, 3, AT)
            case _:
                x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "match in a loop": """
        x = torch.zeros(1, 3, device=device)
        for kind in ("keep", "new"):
            match kind:
                case "new":
                    x = torch.ones(1, 3, AT)
            model(x)
    """,
    "conditional expression": """
        x = torch.ones(1, 3, AT) if a else torch.zeros(1, 3, device=device)
        model(x)
    """,
    "conditional expression, the second": """
        model(torch.zeros(1, 3, device=device) if not a else torch.ones(1, 3, AT))
    """,
    "conditional callee": """
        net = nn.Linear(3, 2).to(device)
        (net if a else model)(torch.ones(1, 3, AT))
    """,
    "or": """
        x = None
        model(x or torch.ones(1, 3, AT))
    """,
    "and": """
        model(a and torch.ones(1, 3, AT))
    """,
    "or of three": """
        given = {}
        x = given.get("x") or given.get("y") or torch.ones(1, 3, AT)
        model(x)
    """,
    "walrus in a test": """
        if (x := torch.ones(1, 3, AT)).sum() > 0:
            model(x)
    """,
    "walrus in an argument": """
        print(x := torch.ones(1, 3, AT))
        model(x)
    """,
    "chained comparison": """
        x = torch.ones(1, 3, AT)
        y = torch.zeros(1, 3, device=device)
        print((x > y).any())
    """,
    "comparison with equals": """
        x = torch.ones(1, 3, AT)
        print(x == model(torch.ones(1, 3, device=device)).sum(1, keepdim=True).expand(1, 3))
    """,
    "short circuit before a clash": """
        def usable(x):
            return x.ndim == 2 and bool((model(x) > 0).any() or True)
        usable(torch.ones(1, 3, AT))
    """,
}
