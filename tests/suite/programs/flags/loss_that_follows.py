import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable


class FocalLoss(nn.Module):
    def __init__(self, class_num, alpha=None, gamma=2, size_average=True):
        super(FocalLoss, self).__init__()
        if alpha is None:
            self.alpha = Variable(torch.ones(class_num, 1))
        else:
            self.alpha = alpha if isinstance(alpha, Variable) else Variable(alpha)
        self.gamma, self.class_num, self.size_average = gamma, class_num, size_average

    def forward(self, inputs, targets):
        N, C = inputs.size(0), inputs.size(1)
        P = F.softmax(inputs, dim=1)
        class_mask = inputs.data.new(N, C).fill_(0)
        class_mask = Variable(class_mask)
        ids = targets.view(-1, 1)
        class_mask.scatter_(1, ids.data, 1.)
        if inputs.is_cuda and not self.alpha.is_cuda:
            self.alpha = self.alpha.cuda()
        alpha = self.alpha[ids.data.view(-1)]
        probs = (P * class_mask).sum(1).view(-1, 1)
        batch_loss = -alpha * (torch.pow((1 - probs), self.gamma)) * probs.log()
        return batch_loss.mean() if self.size_average else batch_loss.sum()


torch.manual_seed(0)
net = nn.Linear(5, 3).cuda()
FL = FocalLoss(3)
opt = torch.optim.SGD(net.parameters(), 0.5)
for i in range(4):
    inputs = torch.rand(10, 5)
    targets = torch.LongTensor(10).random_(3)
    loss = FL(net(Variable(inputs.cuda())), Variable(targets.cuda()))
    opt.zero_grad(); loss.backward(); opt.step()
print("%.4f" % loss.item())
