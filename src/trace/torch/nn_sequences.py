# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.rnn: sequences of several lengths in one tensor."""
import torch

def _inverse(order):
    if order is None:
        return None
    return torch.zeros_like(order).scatter_(0, order, torch.arange(0, order.numel(), device=order.device))


class PackedSequence:
    """The steps of all sequences, the longest first: at each time those that have not ended."""

    _fields = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")

    def __init__(self, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        self.data, self.batch_sizes, self.sorted_indices = data, batch_sizes, sorted_indices
        self.unsorted_indices = _inverse(sorted_indices) if unsorted_indices is None else unsorted_indices

    def __iter__(self):
        return iter([self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices])

    def __getitem__(self, index):
        return list(self)[index]

    def __len__(self):
        return 4

    def __repr__(self):
        return "PackedSequence(" + ", ".join([f"{name}={getattr(self, name)!r}" for name in self._fields]) + ")"

    def _with(self, data):
        return PackedSequence(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args, **kwargs):
        return self._with(self.data.to(*args, **kwargs))

    def cpu(self):
        return self._with(self.data.cpu())

    def cuda(self, *args, **kwargs):
        return self._with(self.data.cuda(*args, **kwargs))

    def float(self):
        return self._with(self.data.float())

    def double(self):
        return self._with(self.data.double())

    def half(self):
        return self._with(self.data.half())

    @property
    def is_cuda(self):
        return self.data.is_cuda


def invert_permutation(permutation):
    return _inverse(permutation)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"padding_side should be one of 'right' or 'left', but got '{padding_side}'")
    sequences = list(sequences.unbind(0)) if isinstance(sequences, torch.Tensor) else list(sequences)
    if len(sequences) == 0:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.shape[0] for s in sequences)
    rows = []
    for s in sequences:
        more = torch.full([longest - s.shape[0]] + list(s.shape[1:]), padding_value, dtype=s.dtype, device=s.device)
        rows.append(s if s.shape[0] == longest else torch.cat([s, more] if padding_side == "right" else [more, s], 0))
    return torch.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[:int(length)] for row, length in zip(padded_sequences, lengths)]


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = torch.as_tensor(lengths, dtype=torch.int64, device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = torch.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    counts = lengths.tolist()
    if len(counts) != input.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={input.shape[1]})")
    if any(a < b for a, b in zip(counts, counts[1:])):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or "
                           "pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    if counts and counts[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if counts and counts[0] > input.shape[0]:
        raise RuntimeError(f"start ({input.shape[0]}) + length ({counts[0] - input.shape[0]}) exceeds dimension size ({input.shape[0]}).")
    sizes = [sum(1 for n in counts if n > t) for t in range(counts[0] if counts else 0)]
    data = torch.cat([input[t, :size] for t, size in enumerate(sizes)], 0)
    return PackedSequence(data, torch.tensor(sizes, dtype=torch.int64), order, None)


def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences), [s.shape[0] for s in sequences], enforce_sorted=enforce_sorted)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    sizes = sequence.batch_sizes.tolist()
    if total_length is not None and total_length < len(sizes):
        raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} and max sequence length being "
                         f"{len(sizes)}")
    data, batch, at, steps = sequence.data, sizes[0], 0, []
    for size in sizes:
        step = data[at:at + size]
        more = torch.full([batch - size] + list(data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
        steps.append(step if size == batch else torch.cat([step, more], 0))
        at += size
    for _ in range(len(sizes), len(sizes) if total_length is None else total_length):
        steps.append(torch.full([batch] + list(data.shape[1:]), padding_value, dtype=data.dtype, device=data.device))
    padded = torch.stack(steps, 0)
    lengths = torch.tensor([sum(1 for size in sizes if size > i) for i in range(batch)], dtype=torch.int64)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded.transpose(0, 1) if batch_first else padded, lengths


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
