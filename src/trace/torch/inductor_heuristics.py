# SPDX-License-Identifier: Apache-2.0
# torch._inductor.runtime.triton_heuristics and .hints: the decorators of kernels that torch.compile
# wrote, and how its wrappers launch them. Block sizes are chosen by the kernel's kind and sizes.
import triton
from enum import Enum

from _inductor_text import evaluate as _evaluate


class AutotuneHint(Enum):
    ONE_ELEMENT_PER_THREAD = 0


class ReductionHint(Enum):
    INNER = 0
    OUTER = 1
    OUTER_TINY = 2
    DEFAULT = 3


class TileHint(Enum):
    SQUARE = 0
    DEFAULT = 1


class HeuristicType(Enum):
    PERSISTENT_REDUCTION = 0
    POINTWISE = 1
    REDUCTION = 2
    SPLIT_SCAN = 3
    TEMPLATE = 4
    USER_AUTOTUNE = 5
    FIXED = 6


class DeviceProperties:
    def __init__(self, **properties):
        for name, value in properties.items():
            setattr(self, name, value)


class instance_descriptor:
    def __init__(self, *args, **facts):
        pass


class AttrsDescriptor:
    """What Triton was told of arguments; a launch finds out itself."""

    def __init__(self, *args, **facts):
        pass

    @classmethod
    def from_dict(cls, facts):
        return cls()


def _ceildiv(numel, block):
    return -(numel // -block)


_most_programs_along_y = 65535


def _split_y(count):
    """Programs along y and z: more than a device has along y go to z."""
    parts = _ceildiv(count, _most_programs_along_y)
    return (0, 1) if parts == 0 else (_ceildiv(count, parts), parts)


# ---- grids that older wrappers give to run()


def grid(*numels):
    sizes = dict(zip("xyz", reversed(numels)))

    def blocks(meta):
        counts = [_ceildiv(sizes[axis], meta.get(axis.upper() + "BLOCK") or 1) if axis in sizes else 1 for axis in "xyz"]
        if "y" in sizes and "z" not in sizes:
            counts[1:] = _split_y(counts[1])
        return tuple(counts)

    return blocks


def split_scan_grid(xnumel, rnumel):
    return lambda meta: (_ceildiv(rnumel, meta.get("R0_BLOCK") or meta.get("RBLOCK") or 1), xnumel, 1)


def cooperative_reduction_grid(xnumel):
    return lambda meta: (meta["RSPLIT"], _ceildiv(xnumel, meta.get("XBLOCK") or 1), 1)


def start_graph():
    pass


def end_graph(output_file=None):
    pass


# ---- grids by name, as newer ones have them in inductor_meta


def _grid_named(kind, inductor_meta, meta, values):
    def blocks(axis):
        return _ceildiv(values[axis + "numel"], meta.get(axis.upper() + "BLOCK") or 1)

    if kind == "Grid1D":
        return (blocks("x"), 1, 1)
    if kind == "Grid2D":
        return (blocks("x"), blocks("y"), 1)
    if kind == "Grid2DWithYZOverflow":
        return (blocks("x"), *_split_y(blocks("y")))
    if kind == "Grid3D":
        return (blocks("x"), blocks("y"), blocks("z"))
    if kind == "BatchMatmulGrid3D":
        return (blocks("z"), blocks("y"), blocks("x"))
    if kind == "MixOrderReductionGrid":
        return (_ceildiv(values["xnumel"], meta["RSPLIT_SIZE"]), 1, 1)
    if kind == "CooperativeReductionGrid":
        return (meta["RSPLIT"], blocks("x"), 1)
    if kind == "SplitScanGrid":
        return (blocks("r0_"), values["xnumel"], 1)
    if kind == "FixedGrid":
        return tuple(_evaluate(str(size), values) for size in inductor_meta["fixed_grid"])
    if kind == "PrecomputedGrid":
        for candidate in inductor_meta["precomputed_grids"]:
            if all(meta.get(name) == value for name, value in candidate["config"].items()):
                return tuple(_evaluate(str(size), values) for size in candidate["python"])
    if kind in ("SequentialComboKernelGrid", "RoundRobinComboKernelGrid"):
        return _combo_grid(kind, inductor_meta["combo_grid_meta"], meta, values)
    raise NotImplementedError(f"torch._inductor: the grid {kind!r} of a generated kernel is not supported")


def _combo_grid(kind, combo, meta, values):
    meta = {**(combo["default_config"] or {}), **meta}
    numbers = range(combo["num_kernels"])

    def size(name):
        return combo[name] or values[name]

    along_x = [_ceildiv(size(f"xnumel_{i}"), 1 if combo[f"no_x_dim_{i}"] else meta.get("XBLOCK") or 1) for i in numbers]
    x = sum(along_x) if kind.startswith("Sequential") else max(along_x) * len(along_x)
    x = max(x, combo["min_blocks"] or 0)
    along_y = [size(f"ynumel_{i}") for i in numbers if f"ynumel_{i}" in combo]
    return (x, *_split_y(_ceildiv(max(along_y), meta.get("YBLOCK") or 1))) if along_y else (x, 1, 1)


# ---- block sizes


def _hints(size_hints, is_reduction):
    """{'x': 64, 'r0_': 32}; older ones are lists, x last, or x before the reduction."""
    if isinstance(size_hints, dict):
        hints = size_hints
    elif is_reduction:
        hints = dict(zip(("x", "r0_"), size_hints))
    else:
        hints = dict(zip("xyz", reversed(size_hints or ())))
    return {"r0_" if name == "r" else name: max(1, size) for name, size in hints.items()}


def _block_sizes(fn, kind, hints, inductor_meta):
    """The largest blocks that make about 1024 elements a program."""
    asked = [name for name in fn.arg_names if name in ("XBLOCK", "YBLOCK", "ZBLOCK", "RBLOCK", "R0_BLOCK", "R1_BLOCK", "RSPLIT", "RSPLIT_SIZE", "NUM_STAGES")]
    sizes = {}
    left = 1024
    if kind == "reduction":
        reduced = [axis for axis in ("r1_", "r0_") if axis in hints]
        for axis in reduced:
            size = min(triton.next_power_of_2(hints[axis]), 32 if len(reduced) > 1 else 1024)
            if inductor_meta.get("grid_type") == "SplitScanGrid" or "split_scan" in kind:
                size = max(size, inductor_meta.get("min_split_scan_rblock", 256))
            sizes[axis.upper() + "BLOCK"] = size
            left //= size
        if "R0_BLOCK" in sizes:
            sizes["RBLOCK"] = sizes["R0_BLOCK"]
    elif kind == "persistent":
        for axis, size in hints.items():
            if axis.startswith("r"):
                left //= triton.next_power_of_2(size)
    axes = [axis for axis in "xyz" if axis.upper() + "BLOCK" in asked]
    for axis in axes:
        most = left if len(axes) == 1 else 32 if len(axes) == 2 else 8
        sizes[axis.upper() + "BLOCK"] = max(1, min(most, triton.next_power_of_2(hints.get(axis, most))))
    sizes["RSPLIT"], sizes["NUM_STAGES"] = 1, 1
    if "RSPLIT_SIZE" in asked:
        sizes["RSPLIT_SIZE"], sizes["XBLOCK"] = inductor_meta["RSPLIT_SIZE"], 1
    return {name: sizes[name] for name in asked if name in sizes}


# ---- decorators


class _Launches:
    """run(), which wrappers call in place of kernel[grid]()."""

    def __init__(self, kernel, fn, meta, triton_meta, inductor_meta):
        self.kernel, self.meta, self.inductor_meta = kernel, meta, inductor_meta
        names = list(fn.arg_names)
        signature = {_named(names, key): kind for key, kind in triton_meta.get("signature", {}).items()}
        self.constants = {_named(names, key): value for key, value in triton_meta.get("constants", {}).items()}
        # Arguments that are known are given all the same, but for None where the signature leaves it out.
        self.fixed = {name: None for name, value in self.constants.items() if value is None and name not in signature}
        self.names = [name for name in names if name not in meta and name not in self.fixed]

    def run(self, *args, stream=None, grid=None, warmup=False, **options):
        values = {**self.fixed, **dict(zip(self.names, args))}
        known = {**self.constants, **values}
        extra = self.inductor_meta.get("extra_launcher_args") or ()
        known.update(zip(extra, args[len(self.names) :]))
        if len(args) != len(self.names) + len(extra):
            raise TypeError(f"run() of a generated kernel takes {len(self.names) + len(extra)} arguments, got {len(args)}")
        if grid is None:
            known.update({"r0_numel": known["rnumel"]} if "rnumel" in known and "r0_numel" not in known else {})
            grid = _grid_named(self.inductor_meta.get("grid_type", "Grid1D"), self.inductor_meta, self.meta, known)
        elif callable(grid):
            grid = grid(self.meta)
        if 0 not in grid:
            self.kernel[tuple(grid)](**values)


def _named(names, key):
    return names[key] if isinstance(key, int) else key[0] if isinstance(key, tuple) else key


def _decorate(fn, configs, triton_meta, inductor_meta):
    kernel = triton.autotune(configs=configs[:1], key=[])(fn) if configs[0].kwargs else fn
    launches = _Launches(kernel, fn, configs[0].kwargs, triton_meta or {}, inductor_meta or {})
    fn.run = launches.run
    return kernel


def _by_sizes(kind):
    def heuristic(size_hints=None, *args, triton_meta=None, inductor_meta=None, meta=None, **options):
        described = triton_meta or meta or {}
        hints = _hints(size_hints, kind != "pointwise")

        def decorator(fn):
            sizes = _block_sizes(fn, kind, hints, inductor_meta or {})
            return _decorate(fn, [triton.Config(sizes, num_warps=4, num_stages=1)], described, inductor_meta)

        return decorator

    return heuristic


pointwise = _by_sizes("pointwise")
foreach = _by_sizes("pointwise")
reduction = _by_sizes("reduction")
cooperative_reduction = _by_sizes("reduction")
split_scan = _by_sizes("reduction")
persistent_reduction = _by_sizes("persistent")


def _config(described):
    options = {name: value for name, value in described.items() if name in ("num_warps", "num_stages", "num_ctas", "maxnreg") and value is not None}
    return triton.Config(described.get("kwargs", {}), **options)


def user_autotune(configs=(), triton_meta=None, filename=None, inductor_meta=None, custom_kernel=False, **options):
    chosen = [_config(one) if isinstance(one, dict) else one for one in configs] or [triton.Config({})]
    return lambda fn: _decorate(fn, chosen, triton_meta, inductor_meta)


def template(num_stages=2, num_warps=4, triton_meta=None, filename=None, inductor_meta=None, **options):
    return lambda fn: _decorate(fn, [triton.Config({}, num_stages=num_stages, num_warps=num_warps)], triton_meta, inductor_meta)


def fixed_config(config, filename=None, triton_meta=None, inductor_meta=None, **options):
    kwargs = {name: value for name, value in config.items() if name not in ("num_warps", "num_stages")}
    chosen = triton.Config(kwargs, num_warps=config["num_warps"], num_stages=config["num_stages"])
    return lambda fn: _decorate(fn, [chosen], triton_meta, inductor_meta)
