# SPDX-License-Identifier: Apache-2.0
"""torch.random and torch.Generator, for what constructors and files draw."""


class _State:
    """What get_state() gives: a place in a generator's stream."""

    def __init__(self, stream, mark):
        self.stream, self.mark = stream, mark


def _follows(device):
    """On a GPU the numbers are those of the CPU's generator, too."""
    import torch

    return device.partition(":")[0] == "cuda" and torch.cuda.is_available()


class Generator:
    def __init__(self, device="cpu"):
        if str(device) != "cpu" and not _follows(str(device)):
            raise NotImplementedError(f"torch.Generator(device='{device}'): the generator of the CPU is the one that is followed here")
        self.device, self._stream = device, _new_stream(67280421310721)

    def manual_seed(self, seed):
        _seed(self._stream, seed)
        return self

    def initial_seed(self):
        return _initial_seed(self._stream)

    def seed(self):
        raise NotImplementedError("seed() takes a seed from the system, which is another one in every trace; use manual_seed()")

    def get_state(self):
        return _State(self._stream, _mark(self._stream))

    def set_state(self, new_state):
        if not isinstance(new_state, _State) or new_state.stream is not self._stream:
            raise NotImplementedError("a generator's state from elsewhere; set_state() takes what get_state() of the same generator gave")
        _return_to(self._stream, new_state.mark)
        return self


def _begin():
    generator = Generator()
    generator._stream = _default_stream()
    return generator


def manual_seed(seed):
    return default_generator.manual_seed(int(seed))


def seed():
    return default_generator.seed()


def initial_seed():
    return default_generator.initial_seed()


def get_rng_state():
    return default_generator.get_state()


def set_rng_state(new_state):
    default_generator.set_state(new_state)


class fork_rng:
    """What is drawn inside does not move the stream outside."""

    def __init__(self, devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
        self.enabled = enabled

    def __enter__(self):
        if self.enabled:
            self.state = get_rng_state()

    def __exit__(self, *exception):
        if self.enabled:
            set_rng_state(self.state)
        return False
