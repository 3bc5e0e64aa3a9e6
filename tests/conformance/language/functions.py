"""Functions: arguments, results, closures, generators, coroutines and decorators."""

PROGRAMS = {
    "argument": """
        def run(x):
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "result": """
        def make():
            return torch.ones(1, 3, AT)
        model(make())
    """,
    "keyword argument": """
        def run(*, x):
            return model(x)
        run(x=torch.ones(1, 3, AT))
    """,
    "position only": """
        def run(x, /, y=None):
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "default": """
        def run(x=torch.ones(1, 3, AT)):
            return model(x)
        run()
    """,
    "star": """
        def run(*rows):
            return model(rows[0])
        run(torch.ones(1, 3, AT))
    """,
    "star in a loop": """
        def run(*rows):
            for row in rows:
                model(row)
        run(torch.zeros(1, 3, device=device), torch.ones(1, 3, AT))
    """,
    "two stars": """
        def run(**given):
            return model(given["x"])
        run(x=torch.ones(1, 3, AT))
    """,
    "a call with a star": """
        def run(n, x):
            return model(x)
        run(*(1, torch.ones(1, 3, AT)))
    """,
    "a call with two stars": """
        def run(n, x):
            return model(x)
        run(**{"n": 1, "x": torch.ones(1, 3, AT)})
    """,
    "handed on": """
        def outer(*args, **kwargs):
            return inner(*args, **kwargs)
        def inner(n, x=None):
            return model(x)
        outer(1, x=torch.ones(1, 3, AT))
    """,
    "several results": """
        def make():
            return torch.zeros(1, 3, device=device), torch.ones(1, 3, AT)
        x, y = make()
        model(y)
    """,
    "a dict as a result": """
        def make():
            return {"x": torch.ones(1, 3, AT)}
        model(make()["x"])
    """,
    "one of two returns": """
        def make(n):
            if n > 100:
                return torch.zeros(1, 3, device=device)
            return torch.ones(1, 3, AT)
        model(make(len(sys.argv)))
    """,
    "recursion": """
        def make(n):
            if n == 0:
                return torch.ones(1, 3, AT)
            return make(n - 1)
        model(make(3))
    """,
    "recursion with an accumulator": """
        def total(n, x):
            if n == 0:
                return x
            return total(n - 1, x + 1)
        model(total(3, torch.ones(1, 3, AT)))
    """,
    "calls in circles": """
        def even(n):
            return torch.ones(1, 3, AT) if n == 0 else odd(n - 1)
        def odd(n):
            return torch.zeros(1, 3, device=device) if n == 0 else even(n - 1)
        model(even(2))
    """,
    "the 13th call of a long helper": """
        def helper(x):
            y = x * 1
            y = y + 1
            y = y * 2
            y = y + 3
            y = y * 4
            y = y + 5
            y = y * 6
            y = y + 7
            y = y * 8
            y = y + 9
            y = y * 10
            y = y + 11
            y = y * 12
            y = y + 13
            return y + 0
        for _ in range(1):
            model(helper(torch.zeros(1, 3, device=device)))
            model(helper(torch.zeros(2, 3, device=device)))
            model(helper(torch.zeros(3, 3, device=device)))
            model(helper(torch.zeros(4, 3, device=device)))
            model(helper(torch.zeros(5, 3, device=device)))
            model(helper(torch.zeros(6, 3, device=device)))
            model(helper(torch.zeros(7, 3, device=device)))
            model(helper(torch.zeros(8, 3, device=device)))
            model(helper(torch.zeros(9, 3, device=device)))
            model(helper(torch.zeros(10, 3, device=device)))
            model(helper(torch.zeros(11, 3, device=device)))
            model(helper(torch.zeros(12, 3, device=device)))
            model(helper(torch.ones(1, 3, AT)))
    """,
    "70 functions deep": "\n".join(
        [
            "def deep_0(x):",
            "    return model(x)",
            *(f"def deep_{n}(x):\n    return deep_{n - 1}(x)" for n in range(1, 70)),
            "deep_69(torch.ones(1, 3, AT))",
        ]
    ),
    "closure": """
        def outer():
            x = torch.ones(1, 3, AT)
            def inner():
                return model(x)
            return inner
        outer()()
    """,
    "closure over a later value": """
        def outer():
            def inner():
                return model(x)
            x = torch.ones(1, 3, AT)
            return inner()
        outer()
    """,
    "nonlocal": """
        def outer():
            x = torch.zeros(1, 3, device=device)
            def change():
                nonlocal x
                x = torch.ones(1, 3, AT)
            change()
            model(x)
        outer()
    """,
    "global": """
        x = torch.zeros(1, 3, device=device)
        def change():
            global x
            x = torch.ones(1, 3, AT)
        change()
        model(x)
    """,
    "global read in a function": """
        def run():
            return model(x)
        x = torch.ones(1, 3, AT)
        run()
    """,
    "global that is made in a function": """
        def setup():
            global x
            x = torch.ones(1, 3, AT)
        setup()
        model(x)
    """,
    "lambda": """
        run = lambda x: model(x)
        run(torch.ones(1, 3, AT))
    """,
    "lambda that makes": """
        make = lambda: torch.ones(1, 3, AT)
        model(make())
    """,
    "lambda in a dict": """
        makers = {
            "ones": lambda: torch.ones(1, 3, AT),
            "zeros": lambda: torch.zeros(1, 3, device=device),
        }
        model(makers["ones"]())
    """,
    "functions in a list": """
        def make():
            return torch.ones(1, 3, AT)
        for maker in [make]:
            model(maker())
    """,
    "function handed in": """
        def apply(f, x):
            return f(x)
        apply(model, torch.ones(1, 3, AT))
    """,
    "function returned": """
        def choose():
            return torch.ones
        model(choose()(1, 3, AT))
    """,
    "functools.partial": """
        from functools import partial
        run = partial(lambda n, x: model(x), 1)
        run(torch.ones(1, 3, AT))
    """,
    "functools.partial holds the value": """
        from functools import partial
        def run(n, x):
            return model(x)
        partial(run, x=torch.ones(1, 3, AT))(1)
    """,
    "functools.partial of torch": """
        from functools import partial
        make = partial(torch.ones, 1, AT)
        model(make(3))
    """,
    "functools.reduce": """
        from functools import reduce
        rows = [torch.zeros(1, 3, device=device), torch.ones(1, 3, AT)]
        reduce(lambda x, y: x + y, rows)
    """,
    "functools.lru_cache": """
        from functools import lru_cache
        @lru_cache(None)
        def make():
            return torch.ones(1, 3, AT)
        model(make())
    """,
    "functools.wraps": """
        from functools import wraps
        def noted(f):
            @wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner
        @noted
        def make():
            return torch.ones(1, 3, AT)
        model(make())
    """,
    "functools.singledispatch": """
        from functools import singledispatch
        @singledispatch
        def make(n):
            return torch.zeros(1, 3, device=device)
        @make.register
        def _(n: int):
            return torch.ones(1, 3, AT)
        model(make(1))
    """,
    "decorator with arguments": """
        def scaled(factor):
            def decorate(f):
                def inner(x):
                    return f(x) * factor
                return inner
            return decorate
        @scaled(torch.ones(1, 2, AT))
        def run(x):
            return model(x)
        run(torch.ones(1, 3, device=device))
    """,
    "decorator of torch": """
        @torch.no_grad()
        def run(x):
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "map": """
        for y in map(model, [torch.ones(1, 3, AT)]):
            pass
    """,
    "map with a lambda": """
        list(map(lambda x: model(x), [torch.ones(1, 3, AT)]))
    """,
    "filter": """
        for x in filter(None, [None, torch.ones(1, AT)]):
            model(x.expand(1, 3))
    """,
    "sorted with a key": """
        rows = [torch.ones(1, 3, AT), torch.zeros(1, 3, AT)]
        model(sorted(rows, key=lambda row: float(row.sum()))[0])
    """,
    "max with a key": """
        rows = {"x": torch.ones(1, 3, AT)}
        model(max(rows.values(), key=lambda row: float(row.sum())))
    """,
    "generator": """
        def rows():
            yield torch.ones(1, 3, AT)
        for x in rows():
            model(x)
    """,
    "generator, the second yield": """
        def rows():
            yield torch.zeros(1, 3, device=device)
            yield torch.ones(1, 3, AT)
        for x in rows():
            model(x)
    """,
    "yield from": """
        def inner():
            yield torch.ones(1, 3, AT)
        def rows():
            yield from inner()
        for x in rows():
            model(x)
    """,
    "the result of yield from": """
        def inner():
            yield 1
            return torch.ones(1, 3, AT)
        def rows():
            x = yield from inner()
            model(x)
        list(rows())
    """,
    "send": """
        def step():
            while True:
                x = yield
                model(x)
        steps = step()
        next(steps)
        steps.send(torch.ones(1, 3, AT))
    """,
    "what send gives": """
        def step():
            x = yield
            while True:
                x = yield x
        steps = step()
        next(steps)
        model(steps.send(torch.ones(1, 3, AT)))
    """,
    "next of a generator": """
        def rows():
            yield torch.ones(1, 3, AT)
        model(next(rows()))
    """,
    "generator expression": """
        for x in (torch.ones(1, 3, AT) for _ in range(2)):
            model(x)
    """,
    "await": """
        import asyncio
        async def make():
            return torch.ones(1, 3, AT)
        async def main():
            model(await make())
        asyncio.run(main())
    """,
    "a coroutine's argument": """
        import asyncio
        async def run(x):
            return model(x)
        asyncio.run(run(torch.ones(1, 3, AT)))
    """,
    "asyncio.run gives the result": """
        import asyncio
        async def make():
            return torch.ones(1, 3, AT)
        model(asyncio.run(make()))
    """,
    "asyncio.gather": """
        import asyncio
        async def make():
            return torch.ones(1, 3, AT)
        async def main():
            x, y = await asyncio.gather(make(), make())
            model(x)
        asyncio.run(main())
    """,
    "a task": """
        import asyncio
        async def make():
            return torch.ones(1, 3, AT)
        async def main():
            task = asyncio.create_task(make())
            model(await task)
        asyncio.run(main())
    """,
    "async for": """
        import asyncio
        async def rows():
            yield torch.ones(1, 3, AT)
        async def main():
            async for x in rows():
                model(x)
        asyncio.run(main())
    """,
    "async with": """
        import asyncio
        class Holder:
            async def __aenter__(self):
                return torch.ones(1, 3, AT)
            async def __aexit__(self, *error):
                return False
        async def main():
            async with Holder() as x:
                model(x)
        asyncio.run(main())
    """,
    "async comprehension": """
        import asyncio
        async def rows():
            yield torch.ones(1, 3, AT)
        async def main():
            for x in [x async for x in rows()]:
                model(x)
        asyncio.run(main())
    """,
    "a thread pool": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            print(list(pool.map(model, [torch.ones(1, 3, AT)])))
    """,
    "a future": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            x = pool.submit(torch.ones, 1, 3, AT)
            model(x.result())
    """,
    "operator.itemgetter": """
        from operator import itemgetter
        model(itemgetter("x")({"x": torch.ones(1, 3, AT)}))
    """,
    "operator.add": """
        import operator
        operator.add(torch.ones(1, 3, AT), torch.zeros(1, 3, device=device))
    """,
    "immediately called lambda": """
        model((lambda n: torch.ones(n, 3, AT))(1))
    """,
    "an annotated argument": """
        def run(x: torch.Tensor, n: int = 1) -> torch.Tensor:
            return model(x) * n
        run(torch.ones(1, 3, AT))
    """,
    "a function attribute": """
        def run():
            return model(run.x)
        run.x = torch.ones(1, 3, AT)
        run()
    """,
    "a docstring and nested definitions": """
        def outer(x):
            '''Say.'''
            def first(x):
                return second(x)
            def second(x):
                return model(x)
            return first(x)
        outer(torch.ones(1, 3, AT))
    """,
}
