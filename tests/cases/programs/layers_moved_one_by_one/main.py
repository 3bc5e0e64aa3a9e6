import torch
from diffusers import DDIMScheduler
from torch import nn
from transformers import OPTForCausalLM


class Pair(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.first = OPTForCausalLM.from_pretrained("first").to(self.device)
        self.second = OPTForCausalLM.from_pretrained("second").to(self.device)
        self.steps = DDIMScheduler.from_pretrained("steps")

    @torch.no_grad()
    def compare(self, ids):
        return self.steps.scale(self.first(ids).sum()) - self.second(ids).sum()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
pair = Pair(device)
print(round(pair.compare(torch.ones(1, 3, device=device).long()).item(), 4))
