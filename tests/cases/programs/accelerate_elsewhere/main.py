import torch
from accelerate import Accelerator

def captions(processor, model, image):
    inputs = processor(image, return_tensors="pt").to("cuda")
    return model.generate(**inputs)

def main():
    model = torch.nn.Linear(2, 2).to("cuda")
    print(model(torch.ones(2, 2).to("cuda")).shape)

if __name__ == "__main__":
    main()
