import copy

from .registry import register


@register
class BestKeeper:
    def after_epoch(self, runner, loss):
        if runner.best is None or loss < runner.best[0]:
            runner.best = (loss, copy.deepcopy(runner.model.state_dict()))


@register
class Speedometer:
    def __init__(self, every=1):
        self.every = every

    def after_epoch(self, runner, loss):
        if runner.epoch % self.every == 0:
            print("epoch", runner.epoch)
