"""`try` in all its arms, `with`, `raise`, and what is left behind by them."""

PROGRAMS = {
    "in try": """
        try:
            x = torch.ones(1, 3, AT)
        except ValueError:
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "in except": """
        try:
            int("no")
            x = torch.zeros(1, 3, device=device)
        except ValueError:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "before the exception": """
        x = torch.zeros(1, 3, device=device)
        try:
            x = torch.ones(1, 3, AT)
            int("no")
            x = torch.zeros(1, 3, device=device)
        except ValueError:
            pass
        model(x)
    """,
    "seen in the handler": """
        x = torch.zeros(1, 3, device=device)
        try:
            x = torch.ones(1, 3, AT)
            int("no")
        except ValueError:
            model(x)
    """,
    "in else": """
        try:
            pass
        except ValueError:
            x = torch.zeros(1, 3, device=device)
        else:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "in finally": """
        try:
            x = torch.zeros(1, 3, device=device)
        finally:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "seen in finally": """
        x = torch.zeros(1, 3, device=device)
        try:
            x = torch.ones(1, 3, AT)
        finally:
            model(x)
    """,
    "return in try, computed in finally": """
        def run():
            x = torch.ones(1, 3, AT)
            try:
                return 1
            finally:
                model(x)
        run()
    """,
    "return from a handler": """
        def make():
            try:
                return torch.zeros(int("no"), 3, device=device)
            except ValueError:
                return torch.ones(1, 3, AT)
        model(make())
    """,
    "several handlers": """
        try:
            int("no")
        except KeyError:
            x = torch.zeros(1, 3, device=device)
        except (TypeError, ValueError):
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "carried by the exception": """
        class Found(Exception):
            def __init__(self, x):
                self.x = x
        try:
            raise Found(torch.ones(1, 3, AT))
        except Found as error:
            model(error.x)
    """,
    "raised in a function": """
        x = torch.ones(1, 3, AT)
        def stop():
            raise ValueError
        try:
            stop()
        except ValueError:
            model(x)
    """,
    "3.11: except star": """
        try:
            raise ExceptionGroup("all", [ValueError("one")])
        except* ValueError:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "3.14: except without parentheses": """
        try:
            int("no")
        except TypeError, ValueError:
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "try in a loop": """
        x = torch.zeros(1, 3, device=device)
        for text in ("1", "no", "2"):
            try:
                int(text)
            except ValueError:
                x = torch.ones(1, 3, AT)
                continue
            model(x)
    """,
    "with": """
        with torch.no_grad():
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "with inside": """
        x = torch.ones(1, 3, AT)
        with torch.no_grad():
            model(x)
    """,
    "with a value": """
        class Holder:
            def __enter__(self):
                return torch.ones(1, 3, AT)
            def __exit__(self, *error):
                return False
        with Holder() as x:
            model(x)
    """,
    "with that suppresses": """
        import contextlib
        x = torch.zeros(1, 3, device=device)
        with contextlib.suppress(ValueError):
            x = torch.ones(1, 3, AT)
            int("no")
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "with a class that suppresses": """
        class Quiet:
            def __enter__(self):
                return self
            def __exit__(self, *error):
                return True
        x = torch.zeros(1, 3, device=device)
        with Quiet():
            x = torch.ones(1, 3, AT)
            int("no")
            x = torch.zeros(1, 3, device=device)
        model(x)
    """,
    "with two items": """
        import contextlib
        with contextlib.nullcontext(torch.ones(1, 3, AT)) as x, torch.no_grad():
            model(x)
    """,
    "with in parentheses": """
        import contextlib
        with (
            contextlib.nullcontext(1) as n,
            contextlib.nullcontext(torch.ones(1, 3, AT)) as x,
        ):
            model(x)
    """,
    "contextmanager": """
        import contextlib
        @contextlib.contextmanager
        def given():
            yield torch.ones(1, 3, AT)
        with given() as x:
            model(x)
    """,
    "ExitStack": """
        import contextlib
        with contextlib.ExitStack() as stack:
            x = stack.enter_context(contextlib.nullcontext(torch.ones(1, 3, AT)))
            model(x)
    """,
    "with torch.device": """
        with torch.device("cpu"):
            x = torch.ones(1, 3, AT)
        model(x)
    """,
    "behind with torch.device": """
        with torch.device(device):
            y = torch.ones(1, 3)
        model(y)
        model(torch.ones(1, 3, AT))
    """,
    "assert": """
        x = torch.ones(1, 3, AT)
        assert model(x) is not None
    """,
    "raise with a computed message": """
        x = torch.ones(1, 3, AT)
        try:
            raise ValueError(f"{model(x)}")
        except ValueError:
            pass
    """,
}
