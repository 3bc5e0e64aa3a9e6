import torch


class Accelerator:
    """Moves what it is given; the training code never names a device."""

    def __init__(self, cpu=False):
        if cpu or not torch.cuda.is_available():
            self._device = torch.device("cpu")
        else:
            self._device = torch.device("cuda", torch.cuda.current_device())

    @property
    def device(self):
        return self._device

    def prepare(self, *objs):
        return tuple(self._prepare(o) for o in objs)

    def _prepare(self, o):
        if isinstance(o, torch.nn.Module):
            return o.to(self.device)
        if isinstance(o, torch.utils.data.DataLoader):
            return DeviceLoader(o, self.device)
        return o

    def backward(self, loss):
        loss.backward()

    def gather(self, t):
        return t.detach().cpu()


class DeviceLoader:
    def __init__(self, loader, device):
        self.loader, self.device = loader, device

    def __iter__(self):
        for batch in self.loader:
            yield [b.to(self.device, non_blocking=True) for b in batch]

    def __len__(self):
        return len(self.loader)
