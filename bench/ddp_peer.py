#!/usr/bin/env python3
"""One rank of what ours is compared with: PyTorch, alone or under DistributedDataParallel (gloo).

    ddp_peer.py CASE FORM BATCH STEPS SETTLING FOLDER

FORM: tutorial  as PyTorch's DDP tutorial writes it: loader, zero_grad, backward, step
      best      channels-last, gradients as views of the buckets, whole tensors indexed
      alone     `best` without DDP and without any communication: the bound
RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from the environment. Prints one line of JSON.
"""

import gzip
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import torchvision
from torch.nn.parallel import DistributedDataParallel

MEAN, DEVIATION = 0.5, 0.5


class ShortcutA(nn.Module):
    """Every second pixel, and channels of zeros: option A of arXiv:1512.03385."""

    def __init__(self, more):
        super().__init__()
        self.half = more // 2

    def forward(self, x):
        return F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.half, self.half))


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Identity() if stride == 1 else ShortcutA(width - inputs)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x), inplace=True)


def resnet20(channels, classes):
    layers = [nn.Conv2d(channels, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16),
              nn.ReLU(inplace=True)]
    inputs = 16
    for stage in range(3):
        for block in range(3):
            layers.append(Block(inputs, 16 << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = 16 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def mlp(pixels, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(pixels, 1024), nn.ReLU(), nn.Linear(1024, 1024),
                         nn.ReLU(), nn.Linear(1024, classes))


def model_of(case, shape, classes):
    if case == "mlp":
        return mlp(shape[0] * shape[1] * shape[2], classes)
    if case == "resnet20":
        return resnet20(shape[0], classes)
    return torchvision.models.resnet50(num_classes=classes)


def read_idx(path):
    plain = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    dimensions = plain[3]
    extents = [int.from_bytes(plain[4 + 4 * i:8 + 4 * i], "big") for i in range(dimensions)]
    return torch.frombuffer(bytearray(plain[4 + 4 * dimensions:]), dtype=torch.uint8).view(extents)


def read_data(folder):
    folder = pathlib.Path(folder)
    pictures = read_idx(folder / "train-images-idx3-ubyte")
    pictures = pictures.unsqueeze(1) if pictures.dim() == 3 else pictures
    labels = read_idx(folder / "train-labels-idx1-ubyte").long()
    return (pictures.float() / 255 - MEAN) / DEVIATION, labels


def tutorial_batches(data, batch_size):
    dataset = torch.utils.data.TensorDataset(*data)
    sampler = torch.utils.data.distributed.DistributedSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, batch_size, sampler=sampler, drop_last=True)
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def best_batches(data, batch_size, rank, ranks):
    pictures = data[0].contiguous(memory_format=torch.channels_last)
    generator = torch.Generator().manual_seed(0)
    while True:
        order = torch.randperm(len(pictures), generator=generator)
        for begin in range(0, len(order) - ranks * batch_size + 1, ranks * batch_size):
            mine = order[begin + rank * batch_size:begin + (rank + 1) * batch_size]
            yield pictures[mine].contiguous(memory_format=torch.channels_last), data[1][mine]


class Peer:
    def __init__(self, case, form, batch_size, folder):
        self.rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        data = read_data(folder)
        torch.manual_seed(0)
        self.model = model_of(case, data[0].shape[1:], 10)
        self.parameters = sum(parameter.numel() for parameter in self.model.parameters())
        if form != "tutorial":
            self.model = self.model.to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9,
                                         foreach=form != "tutorial")
        self.discard = form != "tutorial"
        if form == "tutorial":
            self.model = DistributedDataParallel(self.model)
            self.batches = tutorial_batches(data, batch_size)
        else:
            if form == "best":
                self.model = DistributedDataParallel(self.model, gradient_as_bucket_view=True)
            self.batches = best_batches(data, batch_size, self.rank, ranks)

    def step(self):
        pictures, labels = next(self.batches)
        self.optimizer.zero_grad(set_to_none=self.discard)
        loss = F.cross_entropy(self.model(pictures), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(case, form, batch_size, steps, settling, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    peer = Peer(case, form, batch_size, folder)
    dist.barrier()
    losses = []
    for step in range(steps):
        if step == settling:
            begin, begin_cpu = time.perf_counter(), time.process_time()
        losses.append(peer.step())
    seconds = time.perf_counter() - begin
    cpu_seconds = time.process_time() - begin_cpu
    print(json.dumps({"rank": peer.rank, "parameters": peer.parameters, "seconds": seconds,
                      "cpu_seconds": cpu_seconds, "samples": (steps - settling) * batch_size,
                      "losses": losses, "torch": torch.__version__.split("a")[0].split("+")[0]}), flush=True)
    dist.barrier()


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:6]), sys.argv[6])
