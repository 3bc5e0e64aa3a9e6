import torch, torch.nn as nn

class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def configure_optimizers(self, lr, device_type):
        use_fused = device_type == "cuda"
        return torch.optim.AdamW(self.parameters(), lr=lr, fused=use_fused)

print(LM().configure_optimizers(0.1, device_type="cpu").defaults["fused"])
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = LM().to(device)
print(model.configure_optimizers(0.1, device_type=device).defaults["lr"])
