# SPDX-License-Identifier: Apache-2.0
# How many rows of weights each hidden number has.
_gates = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None
    ):
        super().__init__()
        if mode not in _gates:
            raise ValueError("Unrecognized RNN mode: " + mode)
        if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
            if isinstance(size, int) and size <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if proj_size < 0 or proj_size >= hidden_size:
            raise ValueError("proj_size should be a positive integer or zero to disable projections, and smaller than hidden_size")
        self.mode, self.input_size, self.hidden_size, self.num_layers, self.bias = mode, input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, float(dropout), bidirectional, proj_size
        self._all_weights = []
        rows, ways, own = _gates[mode] * hidden_size, (2 if bidirectional else 1), (proj_size if proj_size else hidden_size)
        for layer in range(num_layers):
            for way in range(ways):
                suffix = f"_l{layer}" + ("_reverse" if way else "")
                taken = input_size if layer == 0 else own * ways
                shapes = {"weight_ih": [rows, taken], "weight_hh": [rows, own]}
                if bias:
                    shapes["bias_ih"], shapes["bias_hh"] = [rows], [rows]
                if proj_size:
                    shapes["weight_hr"] = [proj_size, hidden_size]
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(torch.empty(shape, dtype=dtype)))
                self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()
        self._placed(device)

    def reset_parameters(self):
        for weight in self.parameters():
            _bounded(weight, self.hidden_size)

    def flatten_parameters(self):
        pass

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def _zeros(self, x, size):
        batch = x.shape[0 if self.batch_first else 1]
        return torch.zeros([self.num_layers * (2 if self.bidirectional else 1), batch, size], dtype=x.dtype)

    def _batched(self, input, states):
        """The input and the states with a batch dim, and whether there was none."""
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        if input.dim() == 3:
            return input, states, False
        return input.unsqueeze(0 if self.batch_first else 1), None if states is None else [h.unsqueeze(1) for h in states], True

    def _packed(self, sequence, hx, count):
        """Steps of a PackedSequence: each layer and way over the rows that have not ended, of which there are fewer and fewer."""
        if self.proj_size:
            raise NotImplementedError("an LSTM with proj_size of a PackedSequence; pad_packed_sequence() gives it what it takes")
        sizes, ways = sequence.batch_sizes.tolist(), 2 if self.bidirectional else 1
        order = sequence.sorted_indices
        states = [hx] if count == 1 and hx is not None else hx
        if states is None:
            states = [torch.zeros([self.num_layers * ways, sizes[0], self.hidden_size], dtype=sequence.data.dtype, device=sequence.data.device)] * count
        elif order is not None:
            states = [state.index_select(1, order) for state in states]
        steps, finals = list(sequence.data.split(sizes)), [[] for _ in range(count)]
        for layer in range(self.num_layers):
            found = []
            for way in range(ways):
                at = layer * ways + way
                out, last = self._walk(steps, sizes, [state[at] for state in states], f"_l{layer}" + ("_reverse" if way else ""), way)
                found.append(out)
                for kept, one in zip(finals, last):
                    kept.append(one)
            steps = found[0] if ways == 1 else [torch.cat(pair, 1) for pair in zip(*found)]
            if self.dropout and self.training and layer + 1 < self.num_layers:
                steps = list(F.dropout(torch.cat(steps, 0), self.dropout, True).split(sizes))
        last = [torch.stack(kept, 0) for kept in finals]
        if sequence.unsorted_indices is not None:
            last = [state.index_select(1, sequence.unsorted_indices) for state in last]
        return sequence._with(torch.cat(steps, 0)), last[0] if count == 1 else tuple(last)

    def _walk(self, steps, sizes, states, suffix, backwards):
        weights = [getattr(self, name + suffix, None) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        out = [None] * len(steps)
        for t in reversed(range(len(steps))) if backwards else range(len(steps)):
            now = [state[:sizes[t]] for state in states]
            found = self._cell()(steps[t], now if len(now) > 1 else now[0], *weights)
            found = list(found) if len(now) > 1 else [found]
            out[t] = found[0]
            states = [new if sizes[t] == state.shape[0] else torch.cat([new, state[sizes[t]:]], 0) for new, state in zip(found, states)]
        return out, states

    def _run(self, operator, input, hx, single):
        arguments = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional, self.batch_first)
        results = operator(input, hx, self._flat_weights, *arguments)
        out, finals = results[0], list(results[1:])
        if single:
            return out.squeeze(0 if self.batch_first else 1), [h.squeeze(1) for h in finals]
        return out, finals


class LSTM(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype)

    def forward(self, input, hx=None):
        if not isinstance(input, torch.Tensor):
            return self._packed(input, hx, 2)
        x, states, single = self._batched(input, hx)
        if states is None:
            states = [self._zeros(x, self.proj_size if self.proj_size else self.hidden_size), self._zeros(x, self.hidden_size)]
        out, (hidden, cell) = self._run(torch.ops.aten.lstm.input, x, list(states), single)
        return out, (hidden, cell)

    def _cell(self):
        return torch.ops.aten.lstm_cell.default


class _OneState(RNNBase):
    def forward(self, input, hx=None):
        if not isinstance(input, torch.Tensor):
            return self._packed(input, hx, 1)
        x, states, single = self._batched(input, None if hx is None else [hx])
        state = self._zeros(x, self.hidden_size) if states is None else states[0]
        out, finals = self._run(self._operator(), x, state, single)
        return out, finals[0]


class GRU(_OneState):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None):
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)

    def _operator(self):
        return torch.ops.aten.gru.input

    def _cell(self):
        return torch.ops.aten.gru_cell.default


class RNN(_OneState):
    def __init__(
        self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)
        self.nonlinearity = nonlinearity

    def _operator(self):
        return torch.ops.aten.rnn_tanh.input if self.nonlinearity == "tanh" else torch.ops.aten.rnn_relu.input

    def _cell(self):
        return torch.ops.aten.rnn_tanh_cell.default if self.nonlinearity == "tanh" else torch.ops.aten.rnn_relu_cell.default


class RNNCellBase(Module):
    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self.weight_ih = Parameter(torch.empty([num_chunks * hidden_size, input_size], dtype=dtype))
        self.weight_hh = Parameter(torch.empty([num_chunks * hidden_size, hidden_size], dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty([num_chunks * hidden_size], dtype=dtype))
            self.bias_hh = Parameter(torch.empty([num_chunks * hidden_size], dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()
        self._placed(device)

    def reset_parameters(self):
        for weight in self.parameters():
            _bounded(weight, self.hidden_size)

    def _step(self, operator, input, states):
        """`states`: None, or one tensor each; rows where the input has no batch."""
        single = input.dim() == 1
        x = input.unsqueeze(0) if single else input
        if states is None:
            states = [torch.zeros([x.shape[0], self.hidden_size], dtype=x.dtype)] * (2 if self._pairs else 1)
        elif single:
            states = [h.unsqueeze(0) for h in states]
        found = operator(x, list(states) if self._pairs else states[0], self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        found = list(found) if self._pairs else [found]
        return [h.squeeze(0) for h in found] if single else found

    _pairs = False


class LSTMCell(RNNCellBase):
    _pairs = True

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        hidden, cell = self._step(torch.ops.aten.lstm_cell.default, input, hx)
        return hidden, cell


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._step(torch.ops.aten.gru_cell.default, input, None if hx is None else [hx])[0]


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        operator = torch.ops.aten.rnn_tanh_cell.default if self.nonlinearity == "tanh" else torch.ops.aten.rnn_relu_cell.default
        return self._step(operator, input, None if hx is None else [hx])[0]
