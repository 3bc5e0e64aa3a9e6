import torch


class Collate:
    """Makes one tensor of the rows of a batch."""

    def __call__(self, batch):
        lengths = torch.LongTensor([len(row) for row, _ in batch])
        out = torch.FloatTensor(len(batch), torch.max(lengths))
        out.zero_()
        for i in range(len(batch)):
            row = batch[i][0]
            out[i, : row.size(0)] = row
        return out


if __name__ == "__main__":
    torch.manual_seed(0)
    print("collates")
