import rows_cuda
import torch


class Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return rows_cuda.forward(x)
