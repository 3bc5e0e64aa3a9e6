import numpy as np
import torch
from torch.autograd import grad


class FNN(torch.nn.Module):
    def __init__(self, layers, lb, ub):
        super().__init__()
        self.lb = torch.tensor(lb).float()
        self.ub = torch.tensor(ub).float()
        self.linears = torch.nn.ModuleList()
        for i, o in zip(layers[:-1], layers[1:]):
            lin = torch.nn.Linear(i, o)
            torch.nn.init.xavier_normal_(lin.weight)
            torch.nn.init.zeros_(lin.bias)
            self.linears.append(lin)

    def forward(self, X):
        X = 2.0 * (X - self.lb) / (self.ub - self.lb) - 1.0
        for lin in self.linears[:-1]:
            X = torch.tanh(lin(X))
        return self.linears[-1](X)


class PhysicsInformedNN:
    def __init__(self, X_u, u, X_f, layers, lb, ub, nu):
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float()
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float()
        self.x_f = torch.tensor(X_f[:, 0:1], requires_grad=True).float()
        self.t_f = torch.tensor(X_f[:, 1:2], requires_grad=True).float()
        self.u = torch.tensor(u).float()
        self.null = torch.zeros((self.x_f.shape[0], 1))
        self.nu = nu
        self.net = FNN(layers, lb, ub)
        self.optimizer = torch.optim.LBFGS(self.net.parameters(), lr=1.0, max_iter=6, max_eval=10, history_size=10,
                                           line_search_fn="strong_wolfe")
        self.iter = 0

    def net_u(self, x, t):
        return self.net(torch.cat([x, t], dim=1))

    def net_f(self, x, t):
        u = self.net_u(x, t)
        u_t = grad(u, t, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]
        u_x = grad(u, x, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]
        u_xx = grad(u_x, x, grad_outputs=torch.ones(u_x.shape), retain_graph=True, create_graph=True)[0]
        return u_t + u * u_x - self.nu * u_xx

    def loss_func(self):
        self.optimizer.zero_grad()
        u_pred = self.net_u(self.x_u, self.t_u)
        f_pred = self.net_f(self.x_f, self.t_f)
        loss_u = torch.mean((self.u - u_pred) ** 2)
        loss_f = torch.nn.functional.mse_loss(f_pred, self.null)
        loss = loss_u + loss_f
        loss.backward()
        self.iter += 1
        if self.iter % 3 == 0:
            print("Iter %d, loss %.4f" % (self.iter, loss.item()))
        return loss

    def train(self):
        self.net.train()
        self.optimizer.step(self.loss_func)

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], requires_grad=True).float()
        t = torch.tensor(X[:, 1:2], requires_grad=True).float()
        self.net.eval()
        u = self.net_u(x, t)
        return u.detach().numpy()


if __name__ == "__main__":
    torch.manual_seed(1234)
    np.random.seed(1234)
    lb, ub = np.array([-1.0, 0.0]), np.array([1.0, 1.0])
    X_u = lb + (ub - lb) * np.random.rand(10, 2)
    X_u[:, 1] = 0.0
    u = -np.sin(np.pi * X_u[:, 0:1])
    X_f = lb + (ub - lb) * np.random.rand(20, 2)
    model = PhysicsInformedNN(X_u, u, X_f, [2, 8, 8, 1], lb, ub, 0.01 / np.pi)
    model.train()
    u_pred = model.predict(X_u)
    error = np.linalg.norm(u - u_pred, 2) / np.linalg.norm(u, 2)
    print("error %.2f" % error)
