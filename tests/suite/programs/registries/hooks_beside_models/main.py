from pipeline.registry import build
from pipeline import models, losses, hooks  # noqa: F401
from pipeline.runner import Runner

SPEC = {
    "model": {"type": "TinyUNet1d", "width": 6},
    "loss": {"type": "DiceBCE", "smooth": 1.0},
    "hooks": [{"type": "BestKeeper"}, {"type": "Speedometer", "every": 2}],
    "epochs": 3,
}

if __name__ == "__main__":
    runner = Runner(build(SPEC["model"]), build(SPEC["loss"]), [build(h) for h in SPEC["hooks"]])
    runner.run(SPEC["epochs"])
    print("done", runner.epoch, runner.best is not None)
