import os
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from config import KDConfig
from data import Blobs
from nets import make


def train_teacher(cfg, ds):
    teacher = make(cfg.widths[0])
    opt = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    for batch in DataLoader(ds, cfg.batch_size, shuffle=True):
        loss = F.cross_entropy(teacher(batch["x"]), batch["y"])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return teacher.eval()


@torch.no_grad()
def cache_logits(teacher, ds, path):
    logits = torch.zeros(len(ds), 3)
    for batch in DataLoader(ds, 5):
        logits[batch["idx"]] = teacher(batch["x"])
    torch.save(logits, path)


def kd_loss(student_logits, teacher_logits, y, cfg):
    soft = F.kl_div(F.log_softmax(student_logits / cfg.T, 1), F.softmax(teacher_logits / cfg.T, 1), reduction="batchmean")
    return cfg.alpha * cfg.T ** 2 * soft + (1 - cfg.alpha) * F.cross_entropy(student_logits, y)


def main(cfg):
    torch.manual_seed(0)
    train, test = Blobs(24, 1), Blobs(12, 2)
    path = os.path.join(tempfile.mkdtemp(), cfg.cache)
    cache_logits(train_teacher(cfg, train), train, path)
    teacher_logits = torch.load(path)
    student = make(cfg.widths[1])
    opt = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(cfg.epochs):
        student.train()
        for batch in DataLoader(train, cfg.batch_size, shuffle=True):
            loss = kd_loss(student(batch["x"]), teacher_logits[batch["idx"]], batch["y"], cfg)
            opt.zero_grad()
            loss.backward()
            opt.step()
        student.eval()
        confusion = torch.zeros(3, 3, dtype=torch.int64)
        with torch.no_grad():
            for batch in DataLoader(test, cfg.batch_size):
                pred = student(batch["x"]).argmax(1)
                for t, p in zip(batch["y"], pred):
                    confusion[t, p] += 1
        print(epoch, "%.3f" % loss.item(), confusion.tolist())


if __name__ == "__main__":
    main(KDConfig())
