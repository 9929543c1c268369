# SPDX-License-Identifier: Apache-2.0
class Container(Module):
    """Modules or parameters by name, in order."""

    def __init__(self):
        super().__init__()
        self._names = []

    # A module that becomes an attribute, by add_module() too, is one of the container's.
    def __setattr__(self, name, value):
        if isinstance(value, Module) and name not in self._names:
            self._names.append(name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._names:
            self._names.remove(name)
        super().__delattr__(name)

    def _add(self, name, value):
        if not isinstance(self, (ParameterList, ParameterDict)) and isinstance(value, (int, float, str, list, tuple, dict, torch.Tensor)):
            raise TypeError(f"{type(value).__name__} is not a Module subclass")
        if name not in self._names:
            self._names.append(name)
        setattr(self, name, value)

    def _all(self):
        return [getattr(self, name) for name in self._names]

    def _drop(self, name):
        delattr(self, name)

    def _become(self, values):
        """`values` in the place of all that is here, numbered anew."""
        for name in list(self._names):
            self._drop(name)
        for i, value in enumerate(values):
            self._add(str(i), value)

    def __len__(self):
        return len(self._names)


class ListContainer(Container):
    def __init__(self, values=None):
        super().__init__()
        self.extend(values if values is not None else [])

    def append(self, value):
        self._add(str(len(self._names)), value)
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __iter__(self):
        return iter(self._all())

    def _name_at(self, index):
        size = len(self._names)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return self._names[index]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self._all()[index])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index, value):
        setattr(self, self._name_at(index), value)

    def __delitem__(self, index):
        values = self._all()
        del values[index]
        self._become(values)

    def insert(self, index, value):
        values = self._all()
        values.insert(index, value)
        self._become(values)

    def pop(self, index):
        value = self[index]
        del self[index]
        return value

    def __iadd__(self, values):
        return self.extend(values)


class ModuleList(ListContainer):
    def __add__(self, other):
        return ModuleList(self._all() + list(other))


def _parameter_of(value):
    return Parameter(value) if isinstance(value, torch.Tensor) and not isinstance(value, Parameter) else value


class ParameterList(ListContainer):
    def append(self, value):
        return super().append(_parameter_of(value))

    def __setitem__(self, index, value):
        super().__setitem__(index, _parameter_of(value))


class DictContainer(Container):
    def __init__(self, values=None):
        super().__init__()
        self.update(values if values is not None else {})

    def update(self, values):
        for name, value in values.items() if hasattr(values, "items") else values:
            self[name] = value

    def __setitem__(self, name, value):
        self._add(name, value)

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        return getattr(self, name)

    def __delitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        self._drop(name)

    def pop(self, name):
        value = self[name]
        self._drop(name)
        return value

    def clear(self):
        for name in list(self._names):
            self._drop(name)

    def __contains__(self, name):
        return name in self._names

    def __iter__(self):
        return iter(self._names)

    def keys(self):
        return self._names

    def values(self):
        return self._all()

    def items(self):
        return [(name, getattr(self, name)) for name in self._names]


class ModuleDict(DictContainer):
    pass


class ParameterDict(DictContainer):
    def __setitem__(self, name, value):
        self._add(str(name), _parameter_of(value))

    def get(self, name, default=None):
        return self[name] if name in self else default

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def popitem(self):
        name = self._names[-1]
        return name, self.pop(name)

    def copy(self):
        return ParameterDict({name: self[name] for name in self._names})

    def fromkeys(self, keys, default=None):
        return ParameterDict({name: default for name in keys})


class Sequential(ListContainer):
    def __init__(self, *modules):
        Container.__init__(self)
        if len(modules) == 1 and hasattr(modules[0], "items"):
            for name, module in modules[0].items():
                self._add(name, module)
        else:
            for i, module in enumerate(modules):
                self._add(str(i), module)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)({name: getattr(self, name) for name in self._names[index]})
        return super().__getitem__(index)

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        made = Sequential()
        for module in self._all() + other._all():
            made.append(module)
        return made

    def __mul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        made = Sequential()
        for _ in range(other):
            for module in self._all():
                made.append(module)
        return made

    def forward(self, input):
        for module in self._all():
            input = module(input)
        return input


class DataParallel(Module):
    """One device does it all: the module, as under PyTorch where there is no second one."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(f"torch.nn.DataParallel over {len(device_ids)} devices is not supported; pass one, or none")
        self.module, self.dim = module, dim
        self.device_ids = [] if device_ids is None else list(device_ids)

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)
