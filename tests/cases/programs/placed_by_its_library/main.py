import torch

from lib import OwnForCausalLM

model = OwnForCausalLM.from_pretrained("x", torch_dtype=torch.float16, device_map="auto")


def run(model, ids):
    return model(ids.cuda().unsqueeze(0))


print(run(model, torch.tensor([1, 2])).shape)
