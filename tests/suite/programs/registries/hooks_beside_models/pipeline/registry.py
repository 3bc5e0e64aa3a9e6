TABLE = {}


def register(cls):
    TABLE[cls.__name__] = cls
    return cls


def build(spec):
    spec = dict(spec)
    return TABLE[spec.pop("type")](**spec)
