# SPDX-License-Identifier: Apache-2.0
"""What a package of a training step finds out about an optimiser: the state that its first step makes."""
from collections import defaultdict


class _Recorded(dict):
    """The state of one parameter, with what each key held first."""

    def __init__(self, given):
        super().__init__()
        self.first = {}
        self.update(given)

    def __setitem__(self, key, value):
        if key not in self.first:
            self.first[key] = _first_value(value)
        super().__setitem__(key, value)

    def update(self, given=None, **named):
        for key, value in dict(given or {}, **named).items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]


class _RecordedStates(dict):
    def __missing__(self, parameter):
        self[parameter] = {}
        return self[parameter]

    def __setitem__(self, parameter, state):
        super().__setitem__(parameter, _Recorded(state))

    def setdefault(self, parameter, default=None):
        if parameter not in self:
            self[parameter] = default or {}
        return self[parameter]


def record(optimizer):
    states = _RecordedStates()
    for parameter, state in optimizer.state.items():
        states[parameter] = state
    optimizer.state = states


def entries(optimizer):
    """Of every parameter's state: the parameter, the key, what it held first, what it holds."""
    return [(parameter, key, state.first[key], state[key]) for parameter, state in optimizer.state.items() for key in state]


def preset(optimizer):
    optimizer.state = defaultdict(dict)
    return optimizer.state
