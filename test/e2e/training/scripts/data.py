# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data: the order of PyTorch's own draws (the numbers were printed by PyTorch)."""
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, SequentialSampler, Subset, TensorDataset, random_split


class Squares(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, i):
        return {"x": torch.tensor([float(i), float(i * i)]), "i": i, "name": str(i)}


torch.manual_seed(3)
data = TensorDataset(torch.arange(10.0).reshape(10, 1), torch.arange(10))
first, second = random_split(data, [0.7, 0.3])
print(first.indices, second.indices)
loader = DataLoader(first, batch_size=3, shuffle=True)
for epoch in range(2):
    print([y.tolist() for x, y in loader], len(loader))
print([y.tolist() for x, y in DataLoader(data, batch_size=4, drop_last=True)])
print([y.tolist() for x, y in DataLoader(data, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(5))])
print(list(RandomSampler(range(5), replacement=True, num_samples=9, generator=torch.Generator().manual_seed(1))))
print(list(BatchSampler(SequentialSampler(range(5)), 2, False)))
for batch in DataLoader(Squares(), batch_size=5):
    print(batch["x"].tolist(), batch["i"].tolist(), batch["name"])
print([int(y) for x, y in Subset(data, [1, 8])], [y.item() for x, y in DataLoader(data, batch_size=None)][:3])
print([n for n in DataLoader(data, batch_size=4, collate_fn=lambda items: len(items))][0])
print(torch.rand(2))
