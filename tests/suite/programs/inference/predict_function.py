import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
model.eval()
LABELS = ["no", "yes"]


def predict(features):
    x = torch.tensor(features, dtype=torch.float32).unsqueeze(0)
    with torch.no_grad():
        probs = torch.softmax(model(x), dim=1)
    confidence, index = probs.max(1)
    return LABELS[index.item()], round(confidence.item(), 4)


print(predict([0.1, 0.2, 0.3]), predict([3, 2, 1]))
