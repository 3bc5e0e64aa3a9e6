import numpy as np, torch
from PIL import Image

torch.set_grad_enabled(False)

class Env:
    def __init__(self, net, device):
        self.net, self.obs = net, torch.ones(1, 3, 8, 8, device=device)
    def _to_array(self, obs):
        return obs[0].mul(255).permute(1, 2, 0).cpu().numpy().astype(np.uint8)
    def render(self):
        return Image.fromarray(self._to_array(self.net(self.obs)))

class Game:
    def __init__(self, env): self.env = env
    def run(self):
        def draw_game(image):
            if isinstance(image, np.ndarray):
                image = Image.fromarray(image)
            print(np.array(image.resize((4, 4))).shape)
        img = self.env.render()
        draw_game(img)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Game(Env(torch.nn.Conv2d(3, 3, 1).to(device), device)).run()
