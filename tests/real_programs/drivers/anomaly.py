"""main.py of thuml/Anomaly-Transformer, on tables that are written here."""

import runpy
import sys

import numpy as np

source = np.random.RandomState(0)
for name, part in (("train", 120), ("test", 120), ("test_label", 120)):
    columns = 2 if name == "test_label" else 4
    table = source.rand(part, columns)
    if name == "test_label":
        table = (table > 0.9).astype(int)
    text = ",".join(f"c{number}" for number in range(columns))
    np.savetxt(f"{name}.csv", table, delimiter=",", header=text, comments="")
common = ["--dataset", "PSM", "--data_path", ".", "--num_epochs", "1", "--batch_size", "4"]
for mode in sys.argv[1:]:
    sys.argv[1:] = [*common, "--win_size", "20", "--input_c", "3", "--output_c", "3"]
    sys.argv += ["--mode", mode]
    if mode == "test":
        sys.argv += ["--pretrained_model", "1"]
    runpy.run_path("main.py", run_name="__main__")
