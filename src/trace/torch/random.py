# SPDX-License-Identifier: Apache-2.0
"""torch.random and torch.Generator, for what constructors and files draw."""


class _State:
    """What get_state() gives in a file that is traced: a place in a generator's stream."""

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

        device = torch.device(self._device)
        return torch.device("cuda", torch.cuda.current_device()) if device.type == "cuda" and device.index is None else device

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
        """In a script the bytes that PyTorch has for it, so that files with them go both ways."""
        import torch
        from torch import _pellucid_bytes

        if not torch._is_script():
            return _State(self._stream, _mark(self._stream))
        data = _save(self._stream)
        return _pellucid_bytes.tensor(data, torch.empty(0, dtype=torch.uint8), [len(data)])

    def set_state(self, new_state):
        import torch
        from torch import _pellucid_bytes

        if isinstance(new_state, _State) and _are_same(new_state.stream, self._stream):
            _return_to(self._stream, new_state.mark)
            return self
        if not isinstance(new_state, torch.Tensor) or new_state.dtype != torch.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if not _restore(self._stream, _pellucid_bytes.elements(new_state)):
            if str(self._device) != "cpu":
                raise RuntimeError("RNG state is wrong size")
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be {new_state.numel()}")
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
            self.marks = [_mark(generator._stream) for generator in self.generators]

    def __exit__(self, *exception):
        if self.enabled:
            for generator, mark in zip(self.generators, self.marks):
                _return_to(generator._stream, mark)
        return False
