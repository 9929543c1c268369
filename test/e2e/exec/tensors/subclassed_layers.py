# SPDX-License-Identifier: Apache-2.0
"""What a class that derives from one of PyTorch's layers changes, and what asks a layer for its bases and its tables: each was passed over without a word."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.modules as parts
from torch.nn.modules import Linear, Module
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.conv import Conv2d, _ConvNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.modules.loss import _Loss, _WeightedLoss
from torch.nn.modules.pooling import _AdaptiveAvgPoolNd, _AvgPoolNd, _MaxPoolNd
from torch.nn.modules.rnn import RNNBase, RNNCellBase
from torch.nn.modules.utils import _ntuple, _pair, _reverse_repeat_tuple, _single, _triple
from torch.nn.parameter import Parameter

torch.manual_seed(0)


def sums(module):
    return {name: round(value.double().sum().item(), 3) + 0.0 for name, value in module.state_dict().items()}


# --- a layer begins as its own reset_parameters() says


class XavierLinear(nn.Linear):
    def reset_parameters(self):
        nn.init.xavier_normal_(self.weight)
        if self.bias is not None:
            nn.init.constant_(self.bias, 3.0)


class OnesConv(nn.Conv2d):
    def reset_parameters(self):
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)


class SmallEmbedding(nn.Embedding):
    def reset_parameters(self):
        self.weight.data.normal_(0, 0.02)
        self._fill_padding_idx_with_zero()


class HalfNorm(nn.LayerNorm):
    def reset_parameters(self):
        nn.init.constant_(self.weight, 0.5)
        nn.init.constant_(self.bias, 0.25)


class ZeroBatchNorm(nn.BatchNorm2d):
    def reset_parameters(self):
        self.reset_running_stats()
        self.weight.data.zero_()
        self.bias.data.zero_()


class TurnedGroupNorm(nn.GroupNorm):
    def reset_parameters(self):
        nn.init.zeros_(self.weight)
        nn.init.ones_(self.bias)


class ForgetLSTM(nn.LSTM):
    def reset_parameters(self):
        for name, parameter in self.named_parameters():
            if "weight" in name:
                nn.init.constant_(parameter, 0.25)
            else:
                nn.init.zeros_(parameter)
                parameter.data[self.hidden_size:2 * self.hidden_size] = 1


class EvenCell(nn.GRUCell):
    def reset_parameters(self):
        for parameter in self.parameters():
            nn.init.constant_(parameter, 0.5)


class EvenAttention(nn.MultiheadAttention):
    def _reset_parameters(self):
        nn.init.constant_(self.in_proj_weight, 0.25)
        nn.init.constant_(self.in_proj_bias, 0.5)
        nn.init.zeros_(self.out_proj.weight)
        nn.init.zeros_(self.out_proj.bias)


for made in (XavierLinear(3, 4), XavierLinear(3, 4, bias=False), OnesConv(3, 4, 3), SmallEmbedding(5, 4, padding_idx=2), HalfNorm(4), ZeroBatchNorm(4),
             TurnedGroupNorm(2, 4), ForgetLSTM(3, 4, 2, bidirectional=True), EvenCell(3, 4), EvenAttention(4, 2)):
    print(type(made).__name__, sums(made))

# --- and may be asked to begin anew
for layer in (nn.Linear(3, 2), nn.Conv1d(2, 3, 3), nn.ConvTranspose2d(2, 3, 3), nn.Embedding(5, 3, padding_idx=0), nn.EmbeddingBag(4, 3), nn.BatchNorm1d(3),
              nn.InstanceNorm2d(3, affine=True, track_running_stats=True), nn.LayerNorm(3), nn.GroupNorm(1, 3), nn.RMSNorm(3), nn.PReLU(), nn.Bilinear(2, 2, 2),
              nn.LSTM(2, 3), nn.GRU(2, 3), nn.RNN(2, 3), nn.LSTMCell(2, 3), nn.RNNCell(2, 3)):
    for parameter in layer.parameters():
        parameter.data.fill_(9.0)
    for buffer in layer.buffers():
        buffer.fill_(7)
    layer.reset_parameters()
    print(type(layer).__name__, sums(layer))
attention, transformer = nn.MultiheadAttention(4, 2), nn.Transformer(4, 2, 1, 1, 8)
attention._reset_parameters()
transformer._reset_parameters()
print(sums(attention), len(sums(transformer)))
print(sums(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU()).apply(lambda m: m.reset_parameters() if hasattr(m, "reset_parameters") else None)))

# --- convolutions with weights of their own


class Standardised(nn.Conv2d):
    def _conv_forward(self, input, weight, bias):
        return super()._conv_forward(input, weight - weight.mean((1, 2, 3), keepdim=True), bias)


class Normalised(nn.Conv1d):
    def forward(self, input):
        return self._conv_forward(input, F.normalize(self.weight, dim=1), None)


class OfTuples(_ConvNd):
    def __init__(self, i, o, k):
        super().__init__(i, o, _pair(k), _pair(1), _pair(0), _pair(1), False, _pair(0), 1, True, "zeros")

    def forward(self, input):
        return F.conv2d(input, self.weight, self.bias)


def rounded(x):
    return [round(v, 3) + 0.0 for v in x.flatten().tolist()]


x = torch.arange(32.0).view(1, 2, 4, 4) / 8
print(rounded(Standardised(2, 1, 3, padding=1, padding_mode="reflect")(x)))
print(rounded(Normalised(4, 2, 3)(x[0])), rounded(OfTuples(2, 1, 3)(x)))

# --- tables of what a module holds
layer = nn.Linear(2, 2)
layer.register_buffer("mean", torch.ones(1))
layer.sub = nn.ReLU()
print(list(layer._parameters), list(layer._buffers), list(layer._modules), "mean" in layer._buffers, "x" in layer._buffers, len(layer._parameters), layer._modules["sub"])
layer._modules["sub"] = nn.GELU()
layer._buffers["other"] = torch.zeros(2)
print(layer, sums(layer).keys(), layer.other)
raw = layer.weight
del layer._parameters["weight"]
layer.register_parameter("weight_raw", nn.Parameter(raw.data))
layer.weight = raw * 2
print(list(layer._parameters), layer(torch.ones(1, 2)).shape, list(layer.state_dict()))
try:
    layer._modules["absent"]
except KeyError as error:
    print("KeyError", error)

# --- bases, by the files that PyTorch has them in
print(Conv2d is nn.Conv2d, Module is nn.Module, parts.Linear is Linear, Parameter is nn.Parameter, nn.modules.conv.Conv2d is nn.Conv2d)
for module, base in ((nn.Conv1d(1, 1, 1), _ConvNd), (nn.ConvTranspose3d(1, 1, 1), _ConvNd), (nn.BatchNorm3d(2), _BatchNorm), (nn.SyncBatchNorm(2), _BatchNorm),
                     (nn.InstanceNorm1d(2), _BatchNorm), (nn.InstanceNorm1d(2), _InstanceNorm), (nn.InstanceNorm2d(2), _NormBase), (nn.LSTM(1, 1), RNNBase),
                     (nn.LSTMCell(1, 1), RNNCellBase), (nn.Dropout(), _DropoutNd), (nn.Dropout2d(), _DropoutNd), (nn.MaxPool2d(2), _MaxPoolNd),
                     (nn.AvgPool1d(2), _AvgPoolNd), (nn.AdaptiveAvgPool2d(2), _AdaptiveAvgPoolNd), (nn.AdaptiveMaxPool2d(2), _AdaptiveAvgPoolNd),
                     (nn.MSELoss(), _Loss), (nn.MSELoss(), _WeightedLoss), (nn.NLLLoss(), _WeightedLoss), (nn.Linear(1, 1), _ConvNd)):
    print(type(module).__name__, base.__name__, isinstance(module, base), issubclass(type(module), base))
print(type(nn.Conv2d(1, 1, 1)).__bases__, nn.LSTM.__module__, _ConvNd.__module__)
net = nn.Sequential(nn.Conv1d(1, 1, 1), nn.BatchNorm1d(1), nn.ConvTranspose1d(1, 1, 1))
for module in net.modules():
    if isinstance(module, _ConvNd):
        nn.init.constant_(module.weight, 0.5)
    elif isinstance(module, nn.modules.batchnorm._BatchNorm):
        module.eval()
print([round(p.sum().item(), 3) for n, p in net.named_parameters() if "weight" in n], net[1].training, net.training)
print(_pair(3), _single(2), _triple((1, 2, 3)), _ntuple(4)("a"), _reverse_repeat_tuple((1, 2), 2))


class Twice(_Loss):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)

    def forward(self, a, b):
        return 2 * F.mse_loss(a, b, reduction=self.reduction)


print(Twice()(torch.ones(2), torch.zeros(2)), Twice(reduction="sum")(torch.ones(2), torch.zeros(2)))
lstm = nn.LSTM(2, 3, 2)
print([len(w) for w in lstm.all_weights], len(lstm._flat_weights), lstm._flat_weights_names[:5], lstm.mode, nn.RNN(1, 1, nonlinearity="relu").mode)
print(nn.Conv2d(1, 2, 3, padding=1)._reversed_padding_repeated_twice, nn.LayerNorm(3).normalized_shape, nn.ReLU()(input=torch.tensor([-1.0])), nn.Sequential(nn.ReLU())(input=torch.ones(1)))
parallel = nn.DataParallel(nn.Linear(2, 1))
print(parallel(torch.ones(3, 2)).shape, list(parallel.state_dict()), parallel.module)
