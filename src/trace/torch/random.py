# SPDX-License-Identifier: Apache-2.0
"""torch.random and torch.Generator, for what constructors and files draw."""


class _State:
    """What get_state() gives: a place in a generator's stream."""

    def __init__(self, stream, mark):
        self.stream, self.mark = stream, mark


def _is_there(device):
    if device == "cpu":
        return True
    import torch

    return device.partition(":")[0] == "cuda" and torch.cuda.is_available()


class Generator:
    def __init__(self, device="cpu"):
        if not _is_there(str(device)):
            raise RuntimeError(f"torch.Generator(device='{device}'): there is no such device here")
        self._device, self._stream = device, _new_stream(67280421310721, None if str(device) == "cpu" else device)

    @property
    def device(self):
        import torch

        return torch.device(self._device)

    def manual_seed(self, seed):
        _seed(self._stream, seed)
        return self

    def get_offset(self):
        return _offset(self._stream)

    def set_offset(self, offset):
        _offset(self._stream, offset)

    def initial_seed(self):
        return _initial_seed(self._stream)

    def seed(self):
        raise NotImplementedError("seed() takes a seed from the system, which is another one in every trace; use manual_seed()")

    def get_state(self):
        return _State(self._stream, _mark(self._stream))

    def set_state(self, new_state):
        if not isinstance(new_state, _State) or not _are_same(new_state.stream, self._stream):
            raise NotImplementedError("a generator's state from elsewhere; set_state() takes what get_state() of the same generator gave")
        _return_to(self._stream, new_state.mark)
        return self


def _begin():
    generator = Generator()
    generator._stream = _default_stream()
    return generator


def _of_device(device="cuda"):
    """The generator that draws on a device without generator=."""
    generator = Generator()
    generator._device, generator._stream = device, _default_stream(device)
    return generator


def _of_devices():
    import torch

    return [_of_device(f"cuda:{index}") for index in range(torch.cuda.device_count())] if torch._is_script() and torch.cuda.is_available() else []


def manual_seed(seed):
    default_generator.manual_seed(int(seed))
    _seed_devices(int(seed))
    return default_generator


def seed():
    return default_generator.seed()


def initial_seed():
    return default_generator.initial_seed()


def get_rng_state():
    return default_generator.get_state()


def set_rng_state(new_state):
    default_generator.set_state(new_state)


class fork_rng:
    """What is drawn inside does not move the streams outside."""

    def __init__(self, devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
        self.enabled, self.devices = enabled, devices

    def __enter__(self):
        if self.enabled:
            self.generators = [default_generator] + (_of_devices() if self.devices is None else [_of_device(f"cuda:{d}" if isinstance(d, int) else d) for d in self.devices])
            self.states = [generator.get_state() for generator in self.generators]

    def __exit__(self, *exception):
        if self.enabled:
            for generator, state in zip(self.generators, self.states):
                generator.set_state(state)
        return False
