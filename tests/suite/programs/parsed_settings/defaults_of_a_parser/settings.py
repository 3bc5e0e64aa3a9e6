import configparser

DEFAULTS = {"train": {"device": "cuda:0", "epochs": "2", "lr": "0.05"}, "data": {"n": "20"}}


def read(path=None):
    parser = configparser.ConfigParser()
    parser.read_dict(DEFAULTS)
    if path:
        parser.read(path)
    return parser
