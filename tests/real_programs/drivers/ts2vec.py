"""The encoder of yuezhihan/ts2vec, or of salesforce/CoST, fitted to random series."""

import sys

import numpy as np
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
series = np.random.RandomState(0).rand(8, 40, 2)
small = {"output_dims": 8, "hidden_dims": 8, "depth": 2, "device": device, "batch_size": 4}
if sys.argv[1] == "ts2vec":
    from ts2vec import TS2Vec

    model, way = TS2Vec(2, **small), {"encoding_window": "full_series"}
else:
    from cost import CoST

    model, way = CoST(2, [1, 2], 0.1, 16, **small), {"mode": "forecasting"}
print([float(loss) for loss in model.fit(series, n_iters=2)])
print(float(model.encode(series, **way).mean()))
