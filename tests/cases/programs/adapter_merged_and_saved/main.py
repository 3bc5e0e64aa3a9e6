import io
import sys

import torch
from peft import PeftModel
from transformers import OPTForCausalLM


def merge(name, adapter):
    base = OPTForCausalLM.from_pretrained(name)
    merged = PeftModel.from_pretrained(base, adapter).merge_and_unload()
    out = io.BytesIO()
    torch.save(merged.state_dict(), out)
    return out.tell() > 0


if __name__ == "__main__":
    torch.manual_seed(0)
    print(merge("base", sys.argv[1] if len(sys.argv) > 1 else "adapter"))
