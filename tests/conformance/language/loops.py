"""Statements that repeat: what a loop carries, leaves behind, and leaves with."""

PROGRAMS = {
    "for over range": """
        for _ in range(2):
            x = torch.ones(1, 3, AT)
            model(x)
    """,
    "behind the loop": """
        for _ in range(2):
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "zero rounds": """
        x = torch.ones(1, 3, AT)
        for name in sys.argv[100:]:
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "zero rounds of a move": """
        x = torch.ones(1, 3, AT)
        for name in sys.argv[100:]:
            x = x.to(device)
        model(x)
    """,
    "zero rounds of while": """
        x = torch.ones(1, 3, AT)
        while not a:
            x = x.to(device)
        model(x)
    """,
    "carried by a name": """
        x = torch.zeros(1, 3, device=device)
        for _ in range(2):
            model(x)
            x = torch.ones(1, 3, AT)
    """,
    "carried by a global name": """
        x = None
        def run():
            global x
            for _ in range(2):
                if x is not None:
                    model(x)
                x = torch.ones(1, 3, AT)
        run()
    """,
    "carried by an entry of the file's dict": """
        state = {}
        def run():
            for _ in range(2):
                if "x" in state:
                    model(state["x"])
                state["x"] = torch.ones(1, 3, AT)
        run()
    """,
    "carried by a list of the file": """
        rows = [torch.zeros(1, 3, device=device)]
        def run():
            for _ in range(2):
                for row in rows:
                    model(row)
                rows.append(torch.ones(1, 3, AT))
        run()
    """,
    "carried by a nonlocal name": """
        def outer():
            x = torch.zeros(1, 3, device=device)
            def run():
                nonlocal x
                for _ in range(2):
                    model(x)
                    x = torch.ones(1, 3, AT)
            run()
        outer()
    """,
    "carried by two names": """
        x = y = torch.zeros(1, 3, device=device)
        for _ in range(3):
            model(y)
            y = x
            x = torch.ones(1, 3, AT)
    """,
    "carried by three names": """
        x = y = z = torch.zeros(1, 3, device=device)
        for _ in range(4):
            model(z)
            z = y
            y = x
            x = torch.ones(1, 3, AT)
    """,
    "carried by a tuple": """
        state = (0, torch.zeros(1, 3, device=device))
        for i in range(2):
            n, x = state
            model(x)
            state = (i, torch.ones(1, 3, AT))
    """,
    "carried by a dict entry": """
        state = {"x": torch.zeros(1, 3, device=device)}
        for _ in range(2):
            model(state["x"])
            state["x"] = torch.ones(1, 3, AT)
    """,
    "carried by an attribute": """
        class State:
            def __init__(self):
                self.x = torch.zeros(1, 3, device=device)
        state = State()
        for _ in range(2):
            model(state.x)
            state.x = torch.ones(1, 3, AT)
    """,
    "carried by a list element": """
        state = [torch.zeros(1, 3, device=device)]
        for _ in range(2):
            model(state[0])
            state[0] = torch.ones(1, 3, AT)
    """,
    "carried by a function": """
        def step(x):
            model(x)
            return torch.ones(1, 3, AT)
        x = torch.zeros(1, 3, device=device)
        for _ in range(2):
            x = step(x)
    """,
    "break": """
        x = torch.zeros(1, 3, device=device)
        for _ in range(3):
            if a:
                x = torch.ones(1, 3, AT)
                break
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "continue": """
        x = torch.zeros(1, 3, device=device)
        for i in range(2):
            model(x)
            if i == 0:
                x = torch.ones(1, 3, AT)
                continue
            x = torch.zeros(1, 3, device=device)
    """,
    "return from a loop": """
        def make():
            for _ in range(3):
                if a:
                    return torch.ones(1, 3, AT)
            return torch.zeros(1, 3, device=device)
        model(make())
    """,
    "for and else": """
        x = torch.zeros(1, 3, device=device)
        for _ in range(2):
            pass
        else:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "for and else with break": """
        for _ in range(2):
            if a:
                x = torch.ones(1, 3, AT)
                break
        else:
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "while": """
        n = 0
        while n < 2:
            x = torch.ones(1, 3, AT)
            model(x)
            n += 1
    """,
    "while true with break": """
        while True:
            x = torch.ones(1, 3, AT)
            if a:
                break
        model(x)
    """,
    "while and else": """
        while not a:
            pass
        else:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "while with a walrus": """
        rows = [torch.ones(1, 3, AT)]
        while rows and (x := rows.pop()) is not None:
            model(x)
    """,
    "a queue that grows": """
        queue = [torch.zeros(1, 3, device=device)]
        n = 0
        while queue:
            x = queue.pop()
            model(x)
            if n < 1:
                queue.append(torch.ones(1, 3, AT))
            n += 1
    """,
    "a deque that grows": """
        from collections import deque
        queue = deque([torch.zeros(1, 3, device=device)])
        n = 0
        while queue:
            model(queue.popleft())
            if n < 1:
                queue.append(torch.ones(1, 3, AT))
            n += 1
    """,
    "nested loops": """
        x = torch.zeros(1, 3, device=device)
        for i in range(2):
            for j in range(2):
                model(x)
            x = torch.ones(1, 3, AT)
    """,
    "a list filled in a loop": """
        rows = []
        for _ in range(2):
            rows.append(torch.ones(3, AT))
        model(torch.stack(rows))
    """,
    "a list filled in a branch of a loop": """
        rows = [torch.zeros(3, device=device)]
        for i in range(2):
            if i == 1:
                rows.append(torch.ones(3, AT))
        model(torch.stack(rows))
    """,
    "a dict filled in a loop": """
        rows = {}
        for name in "xy":
            rows[name] = torch.ones(1, 3, AT)
        for name, row in rows.items():
            model(row)
    """,
    "enumerate": """
        for i, x in enumerate([torch.ones(1, 3, AT)]):
            model(x)
    """,
    "zip": """
        for n, x in zip([1, 2], [torch.ones(1, 3, AT), torch.ones(1, 3, AT)]):
            model(x)
    """,
    "reversed and sorted": """
        for x in reversed([torch.ones(1, 3, AT)]):
            model(x)
    """,
    "a target that is unpacked with a star": """
        for n, *rest in [(1, torch.ones(1, 3, AT), 2)]:
            model(rest[0])
    """,
    "a target that is an attribute": """
        class State:
            pass
        s = State()
        for s.x in [torch.ones(1, 3, AT)]:
            model(s.x)
    """,
    "a target that is a subscript": """
        s = {}
        for s["x"] in [torch.ones(1, 3, AT)]:
            model(s["x"])
    """,
    "a target that lives on": """
        for x in [torch.ones(1, 3, AT)]:
            pass
        model(x)
    """,
    "rows of a tensor": """
        for row in torch.ones(2, 3, AT):
            model(row)
    """,
    "a loader": """
        from torch.utils.data import DataLoader, TensorDataset
        for x, y in DataLoader(TensorDataset(torch.ones(4, 3), torch.ones(4)), batch_size=2):
            model(x.AT)
    """,
    "a loader twice": """
        from torch.utils.data import DataLoader, TensorDataset
        loader = DataLoader(TensorDataset(torch.ones(4, 3), torch.ones(4)), batch_size=2)
        for x, y in loader:
            x = x.to(device)
            model(x)
        for x, y in loader:
            model(x.AT)
    """,
    "a sum that starts on the host": """
        total = torch.zeros(1, 2, AT)
        for _ in range(2):
            total = total + model(torch.ones(1, 3, device=device))
    """,
    "a sum in place": """
        total = torch.zeros(1, 2, AT)
        for _ in range(2):
            total += model(torch.ones(1, 3, device=device))
    """,
    "iter and next": """
        rows = iter([torch.ones(1, 3, AT)])
        model(next(rows))
    """,
    "next with a default": """
        model(next(iter([]), torch.ones(1, 3, AT)))
    """,
    "itertools.chain": """
        import itertools
        for x in itertools.chain([torch.zeros(1, 3, device=device)], [torch.ones(1, 3, AT)]):
            model(x)
    """,
    "del in a loop": """
        x = torch.zeros(1, 3, device=device)
        for _ in range(2):
            model(x)
            del x
            x = torch.ones(1, 3, AT)
    """,
}
