"""main.py of guoyang9/NCF, on choices that are written here."""

import os
import random
import runpy
import sys
from types import ModuleType

source = random.Random(0)
os.makedirs("Data", exist_ok=True)
with open("config.py") as stream:
    lines = [line for line in stream if not line.startswith("main_path")]
config = ModuleType("config")
exec("main_path = 'Data/'\n" + "".join(lines), vars(config))
sys.modules["config"] = config
for key in ("train_rating", "test_rating", "test_negative"):
    with open(vars(config)[key], "w") as stream:
        for user in range(12):
            if key == "test_negative":
                rest = "\t".join(str(source.randrange(20)) for _ in range(9))
                stream.write(f"({user},{source.randrange(20)})\t{rest}\n")
            else:
                items = 4 if key == "train_rating" else 1
                for item in source.sample(range(20), items):
                    stream.write(f"{user}\t{item}\t1\t0\n")
os.makedirs("models", exist_ok=True)
sys.path.insert(0, os.getcwd())
runpy.run_path("main.py", run_name="__main__")
