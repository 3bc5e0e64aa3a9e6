"""One prediction of KhaledSharif/yolo-from-scratch, of an image of noise, with initial weights."""

import numpy as np
import torch
import train
from PIL import Image

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
noise = np.random.default_rng(0).integers(0, 255, (64, 48, 3), dtype=np.uint8)
Image.fromarray(noise).save("noise.png")
model = train.YOLO(num_classes=1, img_size=64, width_mult=0.25, depth_mult=0.33).to(device)
print(len(train.predict(model, "noise.png", device, num_classes=1, conf_threshold=0.9999)))
