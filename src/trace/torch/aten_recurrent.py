# SPDX-License-Identifier: Apache-2.0
# --- recurrent layers; part of aten.py's namespace


def _lstm_cell(gates, state):
    i, f, g, o = torch.chunk(gates, 4, 1)
    cell = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return [torch.sigmoid(o) * torch.tanh(cell), cell]


def _projected_lstm_step(x, state, weights):
    hidden, cell = _lstm_step(x, state, weights)
    return [torch.nn.functional.linear(hidden, weights[-1]), cell]


def _recurrent(input, hidden, params, has_biases, num_layers, bidirectional, batch_first, step, dropout):
    """`step` makes the new state of a layer of its input's share, its hidden state and its weights. Between layers
    `dropout` drops elements."""
    steps = input.shape[1 if batch_first else 0]
    if not _is_known(steps):
        return _recurrent_of_any_length(input, hidden, params, has_biases, num_layers, bidirectional, batch_first, step, dropout)
    x = [torch.select(input, 1 if batch_first else 0, t) for t in range(steps)]
    ways = 2 if bidirectional else 1
    per = len(params) // (num_layers * ways)
    last = []
    for layer in range(num_layers):
        outputs = []
        for way in range(ways):
            index = layer * ways + way
            weights = list(params[index * per : (index + 1) * per])
            weights = weights if has_biases else weights[:2] + [None, None] + weights[2:]
            state = [h[index] for h in hidden]
            made = []
            for t in reversed(range(steps)) if way else range(steps):
                state = step(x[t], state, weights)
                made.append(state[0])
            outputs.append(list(reversed(made)) if way else made)
            last.append(state)
        x = outputs[0] if ways == 1 else [torch.cat([a, b], 1) for a, b in zip(outputs[0], outputs[1])]
        if dropout and layer < num_layers - 1:
            x = list(torch.unbind(torch.nn.functional.dropout(torch.stack(x), dropout, True)))
    finals = [torch.stack([state[i] for state in last]) for i in range(len(hidden))]
    return torch.stack(x, 1 if batch_first else 0), finals


def _recurrent_of_any_length(input, hidden, params, has_biases, num_layers, bidirectional, batch_first, step, dropout):
    """The steps are turns of a loop of the program."""
    x, ways, last = input.transpose(0, 1) if batch_first else input, 2 if bidirectional else 1, []
    per = len(params) // (num_layers * ways)

    def layer_over(x, state, weights, reverse):
        weights = weights if has_biases else weights[:2] + [None, None] + weights[2:]

        def turn(state, now):
            state = step(now, state, weights)
            return state, state[0].clone()

        return torch._higher_order_ops.scan(turn, state, x, reverse=reverse)

    for layer in range(num_layers):
        made = []
        for way in range(ways):
            index = layer * ways + way
            state, out = layer_over(x, [h[index].clone() for h in hidden], list(params[index * per : (index + 1) * per]), way == 1)
            made.append(out)
            last.append(state)
        x = made[0] if ways == 1 else torch.cat(made, 2)
        if dropout and layer < num_layers - 1:
            x = torch.nn.functional.dropout(x, dropout, True)
    finals = [torch.stack([state[i] for state in last]) for i in range(len(hidden))]
    return x.transpose(0, 1).contiguous() if batch_first else x, finals


def _lstm_step(x, state, weights):
    gates = torch.nn.functional.linear(x, weights[0], weights[2]) + torch.nn.functional.linear(state[0], weights[1], weights[3])
    return _lstm_cell(gates, state)


def _gru_step(x, state, weights):
    a = torch.nn.functional.linear(x, weights[0], weights[2])
    b = torch.nn.functional.linear(state[0], weights[1], weights[3])
    (ar, az, an), (br, bz, bn) = torch.chunk(a, 3, 1), torch.chunk(b, 3, 1)
    r, z = torch.sigmoid(ar + br), torch.sigmoid(az + bz)
    new = torch.tanh(an + r * bn)
    return [new + z * (state[0] - new)]


def _tanh_step(x, state, weights):
    return [torch.tanh(torch.nn.functional.linear(x, weights[0], weights[2]) + torch.nn.functional.linear(state[0], weights[1], weights[3]))]


def _relu_step(x, state, weights):
    return [torch.relu(torch.nn.functional.linear(x, weights[0], weights[2]) + torch.nn.functional.linear(state[0], weights[1], weights[3]))]


@_aten("aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)")
def _lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    # An odd one among a layer's weights is its projection.
    step = _projected_lstm_step if len(params) // (num_layers * (2 if bidirectional else 1)) % 2 else _lstm_step
    out, (hidden, cell) = _recurrent(input, hx, params, has_biases, num_layers, bidirectional, batch_first, step, dropout if train else 0.0)
    return out, hidden, cell


@_aten("aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")
def _gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    out, finals = _recurrent(input, [hx], params, has_biases, num_layers, bidirectional, batch_first, _gru_step, dropout if train else 0.0)
    return out, finals[0]


@_aten("aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")
def _rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    out, finals = _recurrent(input, [hx], params, has_biases, num_layers, bidirectional, batch_first, _tanh_step, dropout if train else 0.0)
    return out, finals[0]


@_aten("aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")
def _rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    out, finals = _recurrent(input, [hx], params, has_biases, num_layers, bidirectional, batch_first, _relu_step, dropout if train else 0.0)
    return out, finals[0]


@_aten("aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)")
def _lstm_cell_call(input, hx, w_ih, w_hh, b_ih, b_hh):
    hidden, cell = _lstm_step(input, list(hx), [w_ih, w_hh, b_ih, b_hh])
    return hidden, cell


@_aten("aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor")
def _gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _gru_step(input, [hx], [w_ih, w_hh, b_ih, b_hh])[0]


@_aten("aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor")
def _rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _tanh_step(input, [hx], [w_ih, w_hh, b_ih, b_hh])[0]


@_aten("aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor")
def _rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _relu_step(input, [hx], [w_ih, w_hh, b_ih, b_hh])[0]
