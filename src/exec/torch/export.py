# SPDX-License-Identifier: Apache-2.0
import _programs
import torch
from torch._dynamo.exc import ConstraintViolationError, Unsupported, UserError

_int_oo = 9223372036854775807


class _Hint:
    def __init__(self, name, min=None, max=None):
        self.name, self.min, self.max = name, min, max

    def __call__(self, *, min=None, max=None):
        return _Hint(self.name, min, max)

    def __repr__(self):
        return f"_DimHint(type=<_DimHintType.{self.name}: {('AUTO', 'STATIC', 'DYNAMIC').index(self.name) + 1}>)"


class Dim:
    AUTO = _Hint("AUTO")
    DYNAMIC = _Hint("DYNAMIC")
    STATIC = _Hint("STATIC")

    def __init__(self, name, *, min=None, max=None):
        self.min = 0 if min is None else min
        self.max = _int_oo if max is None else max
        if self.max <= self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name

    def __repr__(self):
        return f"Dim('{self.__name__}', min={self.min}, max={self.max})"

    def _derived(self, *other):
        raise NotImplementedError(f"torch.export: sizes computed from Dim {self.__name__!r} are not supported; give them a Dim of their own, or Dim.AUTO")

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = _derived


def dims(*names, min=None, max=None):
    return tuple(Dim(name, min=min, max=max) for name in names)


class _Dims:
    """Turns what dynamic_shapes says into one row of (symbol, least, most) or None per tensor."""

    def __init__(self):
        self.rows, self.autos, self.declared = [], {}, {}

    def tensor(self, value, spec, where):
        sizes = list(value.shape)
        row = [None] * len(sizes)
        if spec is None or spec == {} or spec == ():
            pass
        elif isinstance(spec, dict):
            for index, dim in spec.items():
                if not isinstance(index, int) or not -len(sizes) <= index < len(sizes):
                    raise UserError(f"Unexpected dimension {index!r} of dynamic_shapes{where}: the tensor has {len(sizes)} dims")
                row[index] = self.dim(dim, sizes[index], f"{where}[{index}]")
        elif isinstance(spec, (tuple, list)):
            if len(spec) != len(sizes):
                raise UserError(f"Expected dynamic_shapes{where} to have {len(sizes)} entries, one for each dim, but it has {len(spec)}")
            for index, dim in enumerate(spec):
                row[index] = self.dim(dim, sizes[index], f"{where}[{index}]")
        else:
            raise UserError(f"Unexpected input tensor shape {spec!r} specified at dynamic_shapes{where}: expected None, a dict, a list or a tuple")
        self.rows.append(row)

    def dim(self, dim, size, where):
        if dim is None or (isinstance(dim, _Hint) and dim.name == "STATIC"):
            return None
        if isinstance(dim, int) and not isinstance(dim, bool):
            if dim != size:
                raise UserError(f"Expected static dimension {size} at dynamic_shapes{where}, but it says {dim}")
            return None
        if isinstance(dim, _Hint):
            if size in (0, 1) and dim.name == "AUTO":
                return None
            if size in (0, 1):
                raise ConstraintViolationError(f"dynamic_shapes{where} is Dim.DYNAMIC, but the example's size {size} is specialised; give an example with another size")
            # Equal sizes are one symbol, as PyTorch's.
            name = self.autos.setdefault((size, dim.min, dim.max), f"s{len(self.autos)}")
            return name, 0 if dim.min is None else dim.min, _int_oo if dim.max is None else dim.max
        if not isinstance(dim, Dim):
            raise UserError(f"Unexpected dimension {dim!r} at dynamic_shapes{where}: expected Dim, Dim.AUTO, Dim.DYNAMIC, Dim.STATIC, an int or None")
        name = dim.__name__
        if not dim.min <= size <= dim.max:
            raise ConstraintViolationError(f"Constraints violated ({name})! the example's size {size} at dynamic_shapes{where} is not in [{dim.min}, {dim.max}]")
        known = self.declared.setdefault(name, (dim.min, dim.max, size))
        if known != (dim.min, dim.max, size):
            raise ConstraintViolationError(f"Constraints violated ({name})! it is {known} at one place and {(dim.min, dim.max, size)} at dynamic_shapes{where}")
        return name, dim.min, dim.max

    def value(self, value, spec, where):
        if isinstance(value, torch.Tensor):
            self.tensor(value, spec, where)
        elif isinstance(value, dict):
            if spec is not None and not isinstance(spec, dict):
                raise UserError(f"Expected dynamic_shapes{where} to be a dict as the input is")
            if spec is not None and set(spec) != set(value):
                raise UserError(f"dynamic_shapes{where} has the keys {sorted(spec)}, the input {sorted(value)}")
            for key, element in value.items():
                self.value(element, None if spec is None else spec[key], f"{where}[{key!r}]")
        elif isinstance(value, (list, tuple)):
            if spec is not None and (not isinstance(spec, (list, tuple)) or len(spec) != len(value)):
                raise UserError(f"Expected dynamic_shapes{where} to have {len(value)} entries, as the input has")
            for i, element in enumerate(value):
                self.value(element, None if spec is None else spec[i], f"{where}[{i}]")
        elif spec is not None and spec != {}:
            raise UserError(f"dynamic_shapes{where} is {spec!r}, but the input is no tensor; use None")


def _parameter_names(mod):
    import inspect

    function = mod.forward if isinstance(mod, torch.nn.Module) else mod
    return [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]


def _rows(mod, args, kwargs, dynamic_shapes):
    found = _Dims()
    names = _parameter_names(mod)
    plain = [name for name, kind in names if kind in (0, 1)]
    rest = [name for name, kind in names if kind == 2]
    given, extra = list(plain[: len(args)]), args[len(plain) :]
    if extra and not rest:
        raise TypeError(f"the model takes {len(plain)} positional arguments, got {len(args)}")
    values = list(zip(given, args))
    if extra:
        values.append((rest[0], extra))
    values += list(kwargs.items())
    if isinstance(dynamic_shapes, dict):
        unknown = set(dynamic_shapes) - {name for name, _ in values}
        missing = [name for name, _ in values if name not in dynamic_shapes]
        if unknown or missing:
            raise UserError(f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names {[name for name, _ in values]} of `inputs`, but here they are {list(dynamic_shapes)}. Alternatively, you could also ignore arg names entirely and specify `dynamic_shapes` as a list/tuple matching `inputs`.")
        for name, value in values:
            found.value(value, dynamic_shapes[name], f"[{name!r}]")
    elif isinstance(dynamic_shapes, (tuple, list)):
        if len(dynamic_shapes) != len(values):
            raise UserError(f"Expected dynamic_shapes to have {len(values)} entries, one for each input, but it has {len(dynamic_shapes)}")
        for i, (name, value) in enumerate(values):
            found.value(value, dynamic_shapes[i], f"[{i}]")
    elif dynamic_shapes is None:
        for name, value in values:
            found.value(value, None, "")
    else:
        raise UserError(f"dynamic_shapes must be a dict, a tuple or a list, got {dynamic_shapes!r}")
    return found


class Node:
    """One row of a graph's table; target, args and kwargs are their texts."""

    def __init__(self, row):
        self.op, self.name, self.target, self.args, self.kwargs = row

    def __repr__(self):
        return self.name


class Graph:
    def __init__(self, program):
        self._program = program

    @property
    def nodes(self):
        return [Node(row) for row in _programs.node_rows(self._program)]

    def print_tabular(self):
        print(_programs.node_table(self._program).rstrip("\n"))

    def find_nodes(self, *, op, target=None):
        return [node for node in self.nodes if node.op == op and (target is None or node.target == str(target))]

    def __str__(self):
        lines = ["graph():"]
        for node in self.nodes:
            if node.op == "placeholder":
                lines.append(f"    %{node.name} : [num_users=?] = placeholder[target={node.target}]")
            elif node.op == "output":
                lines.append(f"    return {node.args}")
            else:
                lines.append(f"    %{node.name} = call_function[target={node.target}](args = {node.args}, kwargs = {node.kwargs})")
        return "\n".join(lines)


def _call_text(node):
    arguments = node.args[1:-1].rstrip(",")
    return f"{node.name} = torch.ops.{node.target}({arguments})" if node.kwargs == "{}" else f"{node.name} = torch.ops.{node.target}({arguments + ', ' if arguments else ''}**{node.kwargs})"


class GraphModule(torch.nn.Module):
    def __init__(self, program, owner=None):
        super().__init__()
        self._program, self._owner = program, owner

    @property
    def graph(self):
        return Graph(self._program)

    @property
    def code(self):
        nodes = self.graph.nodes
        lines = [f"def forward(self, {', '.join(node.name for node in nodes if node.op == 'placeholder')}):"]
        for node in nodes:
            if node.op == "call_function":
                lines.append("    " + _call_text(node))
            elif node.op == "output":
                lines.append("    return " + node.args[1:-1].rstrip(","))
        return "\n" + "\n".join(lines) + "\n"

    def print_readable(self, print_output=True, **options):
        if options:
            raise NotImplementedError(f"print_readable: {', '.join(options)}")
        text = "class GraphModule(torch.nn.Module):\n" + "\n".join("    " + line for line in self.code.strip().split("\n")) + "\n"
        if print_output:
            print(text)
        return text

    def forward(self, *args, **kwargs):
        self._check(args, kwargs)
        if self._owner is not None and self._is_followed(args, kwargs):
            return self._owner._run_root(args, kwargs)
        return _programs.run(self._program, args, kwargs, RuntimeError)

    def _is_followed(self, args, kwargs):
        """A gradient may be asked, or a weight is another one than was traced: the model itself is run."""
        if not isinstance(self._owner._root, torch.nn.Module):
            return False
        if _programs.changed(self._program, self._owner.parameters()):
            return True
        tensors = _programs.tensors(args) + _programs.tensors(kwargs) + self._owner.parameters()
        return torch.is_grad_enabled() and any([tensor.requires_grad for tensor in tensors])

    def _check(self, args, kwargs):
        if self._owner is None:
            return
        names, ranges = self._owner._rows_of_inputs, self._owner.range_constraints
        given = _programs.tensors(args) + _programs.tensors(kwargs)
        for (name, sizes, row), tensor in zip(names, given):
            if len(tensor.shape) != len(sizes):
                raise AssertionError(f"Guard failed: len({name}.size()) == {len(sizes)}")
            for d, (size, symbol) in enumerate(zip(sizes, row)):
                now = tensor.shape[d]
                if symbol is None and now != size:
                    raise AssertionError(f"Guard failed: {name}.size()[{d}] == {size}")
                if symbol is not None and symbol[0] in ranges:
                    least, most = ranges[symbol[0]].lower, ranges[symbol[0]].upper
                    # A program for sizes from 2 on takes 0 and 1 too, as PyTorch's does.
                    if now > most:
                        raise AssertionError(f"Guard failed: {name}.size()[{d}] <= {most}")
                    if now < least and least > 2:
                        raise AssertionError(f"Guard failed: {name}.size()[{d}] >= {least}")

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        owner = self._owner
        return iter([]) if owner is None else iter(owner.named_parameters())

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        owner = self._owner
        return iter([]) if owner is None else iter(owner.named_buffers())

    def state_dict(self, *args, **kwargs):
        return super().state_dict(*args, **kwargs) if self._owner is None else self._owner.state_dict


class ExportGraphSignature:
    def __init__(self, program):
        kinds = _programs.inputs(program)
        placeholders = [row[1] for row in _programs.node_rows(program) if row[0] == "placeholder"]
        outputs, names = _programs.outputs(program)
        results = [name.strip() for name in names.strip("()[]").split(",") if name.strip()]
        named = list(zip(kinds, placeholders))
        self.parameters = tuple([name for kind, name in kinds if kind == "parameter"])
        self.buffers = tuple([name for kind, name in kinds if kind == "buffer"])
        self.lifted_tensor_constants = tuple([name for kind, name in kinds if kind == "constant"])
        self.user_inputs = tuple([holder for (kind, name), holder in named if kind == "user"])
        self.inputs_to_parameters = {holder: name for (kind, name), holder in named if kind == "parameter"}
        self.inputs_to_buffers = {holder: name for (kind, name), holder in named if kind == "buffer"}
        rows = list(zip(outputs, results))
        self.user_outputs = tuple([value for (kind, name), value in rows if kind == "user"])
        self.buffers_to_mutate = {value: name for (kind, name), value in rows if kind == "buffer_mutation"}
        self.user_inputs_to_mutate = {value: name for (kind, name), value in rows if kind == "input_mutation"}

    def __repr__(self):
        lines = [f"    {name}: {getattr(self, name)}" for name in ("user_inputs", "user_outputs", "inputs_to_parameters", "inputs_to_buffers", "buffers_to_mutate", "user_inputs_to_mutate")]
        return "ExportGraphSignature(\n" + ",\n".join(lines) + "\n)"


class ValueRanges:
    def __init__(self, lower, upper):
        self.lower, self.upper = lower, upper

    def __repr__(self):
        return f"VR[{self.lower}, {'int_oo' if self.upper == _int_oo else self.upper}]"


class ExportedProgram:
    def __init__(self, program, root, example_inputs, rows=()):
        self._program, self._root, self.example_inputs = program, root, example_inputs
        self._rows_of_inputs = list(rows)
        self._modes = [(module, module.training) for module in root.modules()] if isinstance(root, torch.nn.Module) else []

    def _run_root(self, args, kwargs):
        """The model as it was exported: in training or not, as it was then."""
        now = [(module, module.training) for module, _ in self._modes]
        for module, mode in self._modes:
            module.training = mode
        try:
            return self._root(*args, **kwargs)
        finally:
            for module, mode in now:
                module.training = mode

    @property
    def graph(self):
        return Graph(self._program)

    @property
    def graph_module(self):
        return GraphModule(self._program)

    @property
    def graph_signature(self):
        return ExportGraphSignature(self._program)

    @property
    def range_constraints(self):
        return {name: ValueRanges(*bounds) for name, bounds in _programs.ranges(self._program).items()}

    @property
    def state_dict(self):
        if not isinstance(self._root, torch.nn.Module):
            return {}
        held, names = self._root.state_dict(), [name for name, _ in self.named_parameters()]
        first = {name: held[name] for name in names if name in held}
        return {**first, **{name: value for name, value in held.items() if name not in first}}

    def named_parameters(self):
        return list(self._root.named_parameters()) if isinstance(self._root, torch.nn.Module) else []

    def parameters(self):
        return [value for _, value in self.named_parameters()]

    def named_buffers(self):
        return list(self._root.named_buffers()) if isinstance(self._root, torch.nn.Module) else []

    def buffers(self):
        return [value for _, value in self.named_buffers()]

    def module(self, check_guards=True):
        if not check_guards:
            raise NotImplementedError("ExportedProgram.module(check_guards=False): what a program was traced for is always checked")
        return GraphModule(self._program, self)

    def run_decompositions(self, decomp_table=None, decompose_custom_triton_ops=False):
        if decomp_table:
            raise NotImplementedError("run_decompositions: a table of decompositions is not supported; leave it out")
        if not decompose_custom_triton_ops:
            return self
        return ExportedProgram(_programs.decomposed(self._program), self._root, self.example_inputs, self._rows_of_inputs)

    def __str__(self):
        return "ExportedProgram:\n" + "\n".join("    " + line for line in self.graph_module.print_readable(False).split("\n"))

    __repr__ = __str__

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Unable to call ExportedProgram directly. You should use `exported_program.module()` instead.")


def export(mod, args, kwargs=None, *, dynamic_shapes=None, strict=False, preserve_module_call_signature=(), prefer_deferred_runtime_asserts_over_guards=False):
    if preserve_module_call_signature or prefer_deferred_runtime_asserts_over_guards:
        raise NotImplementedError("torch.export.export: preserve_module_call_signature and prefer_deferred_runtime_asserts_over_guards are not supported")
    if not isinstance(mod, torch.nn.Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise UserError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    mod = getattr(mod, "_orig_mod", mod)
    kwargs = {} if kwargs is None else kwargs
    found = _rows(mod, args, kwargs, dynamic_shapes)
    program = _programs.trace(mod, list(args), dict(kwargs), found.rows, bool(strict), Unsupported)
    ranges = _programs.ranges(program)
    for name, (least, most, size) in found.declared.items():
        if name in ranges and (ranges[name][0] > max(least, 0) or ranges[name][1] < most):
            raise ConstraintViolationError(f"Constraints violated ({name})! The program is for {name} in {ranges[name]} only, which is less than the declared [{least}, {most}]")
    placeholders = [row[1] for row in _programs.node_rows(program) if row[0] == "placeholder"]
    users = [name for (kind, _), name in zip(_programs.inputs(program), placeholders) if kind == "user"]
    tensors = _programs.tensors(args) + _programs.tensors(kwargs)
    rows = list(zip(users, [list(tensor.shape) for tensor in tensors], found.rows)) if len(users) == len(tensors) == len(found.rows) else []
    return ExportedProgram(program, mod, (args, kwargs), rows)


def save(ep, f, *, extra_files=None, opset_version=None, pickle_protocol=2):
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead.")
    if extra_files or opset_version:
        raise NotImplementedError("torch.export.save: extra_files and opset_version are not supported")
    import os

    _programs.save_archive(ep._program, os.fspath(f), RuntimeError)


class _Weights(torch.nn.Module):
    """What a loaded program holds, under the names that it had."""

    def __init__(self, kinds, tensors):
        super().__init__()
        self._given = []
        held = [(kind, name) for kind, name in kinds if kind in ("parameter", "buffer", "constant")]
        for (kind, name), tensor in zip(held, tensors):
            self._given.append((kind, name, torch.nn.Parameter(tensor, requires_grad=False) if kind == "parameter" else tensor))

    def _of(self, kind, prefix, recurse, remove_duplicate):
        """Names with their tensors; a tensor that lies under several names comes once, unless those are asked for, too."""
        seen = []
        for kind_of, name, tensor in self._given:
            if kind_of != kind or (not recurse and "." in name) or (remove_duplicate and any(tensor is one for one in seen)):
                continue
            seen.append(tensor)
            yield (prefix + "." + name if prefix else name), tensor

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._of("parameter", prefix, recurse, remove_duplicate)

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._of("buffer", prefix, recurse, remove_duplicate)

    def state_dict(self, destination=None, prefix="", keep_vars=False):
        given = {} if destination is None else destination
        for kind, name, tensor in self._given:
            if kind != "constant":
                given[prefix + name] = tensor if keep_vars else tensor.detach()
        return given

    def forward(self, *args, **kwargs):
        raise NotImplementedError("a program that was loaded computes with the weights of its file, and has no gradients; build the model and load its state_dict() for that")


def _structure(spec):
    """A result with a tensor at each leaf."""
    parts = [_structure(child) for child in spec["children_spec"]]
    kind = spec["type"]
    if kind is None:
        return torch.zeros(())
    if kind == "builtins.tuple":
        return tuple(parts)
    if kind == "builtins.list":
        return parts
    if kind == "builtins.dict":
        import json

        return dict(zip(json.loads(spec["context"]), parts))
    raise NotImplementedError(f"torch.export.load: a result of the type {kind} is not supported")


def load(f, *, extra_files=None, expected_opset_version=None):
    if extra_files or expected_opset_version:
        raise NotImplementedError("torch.export.load: extra_files and expected_opset_version are not supported")
    import json
    import os

    path = os.fspath(f)
    if not os.path.exists(path):
        raise FileNotFoundError(f"[Errno 2] No such file or directory: '{path}'")
    program, weights, inputs, tree = _programs.load_archive(path, RuntimeError)
    _programs.set_result(program, _structure(json.loads(tree)[1]) if tree else tuple([torch.zeros(()) for kind, _ in _programs.outputs(program)[0] if kind == "user"]))
    rows = [(name, sizes, [(size,) if isinstance(size, str) else None for size in sizes]) for name, sizes in inputs]
    return ExportedProgram(program, _Weights(_programs.inputs(program), weights), None, rows)
