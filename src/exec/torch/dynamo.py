# SPDX-License-Identifier: Apache-2.0
import _script_torch


class TorchDynamoException(RuntimeError):
    pass


class Unsupported(TorchDynamoException):
    pass


class InvalidBackend(TorchDynamoException):
    pass


class FailOnRecompileLimitHit(TorchDynamoException):
    pass


class UserError(Unsupported):
    pass


class ConstraintViolationError(UserError):
    pass


class _Exceptions:
    TorchDynamoException = TorchDynamoException
    Unsupported = Unsupported
    InvalidBackend = InvalidBackend
    FailOnRecompileLimitHit = FailOnRecompileLimitHit
    UserError = UserError
    ConstraintViolationError = ConstraintViolationError


class _Config:
    """Settings of torch's compiler. Those that choose how fast something is done change nothing here."""

    def __init__(self, name, known):
        self.__dict__["_name"] = name
        self.__dict__["_values"] = dict(known)

    def __getattr__(self, name):
        if name in self._values:
            return self._values[name]
        raise AttributeError(f"{self._name}.{name} does not exist")

    def __setattr__(self, name, value):
        if name not in self._values:
            raise AttributeError(f"{self._name}.{name} does not exist")
        self._values[name] = value

    def patch(self, changes=None, **more):
        return _Patch(self, {**(changes or {}), **more})


class _Patch:
    def __init__(self, config, changes):
        self._config, self._changes = config, changes

    def __enter__(self):
        self._before = {name: getattr(self._config, name) for name in self._changes}
        for name, value in self._changes.items():
            setattr(self._config, name, value)

    def __exit__(self, *exception):
        for name, value in self._before.items():
            setattr(self._config, name, value)

    def __call__(self, function):
        def inner(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return inner


config = _Config(
    "torch._dynamo.config",
    {
        "recompile_limit": 8,
        "cache_size_limit": 8,
        "accumulated_recompile_limit": 256,
        "suppress_errors": False,
        "verbose": False,
        "assume_static_by_default": True,
        "automatic_dynamic_shapes": True,
        "capture_scalar_outputs": False,
        "capture_dynamic_output_shape_ops": False,
        "inline_inbuilt_nn_modules": True,
        "error_on_recompile": False,
        "optimize_ddp": True,
    },
)


class _Triton(_Config):
    pass


inductor_config = _Config(
    "torch._inductor.config",
    {
        "static_launch_user_defined_triton_kernels": False,
        "unsafe_ignore_unsupported_triton_autotune_args": False,
        "triton_kernel_default_layout_constraint": "needs_fixed_stride_order",
        "max_autotune": False,
        "max_autotune_gemm": False,
        "max_autotune_pointwise": False,
        "coordinate_descent_tuning": False,
        "coordinate_descent_check_all_directions": False,
        "epilogue_fusion": True,
        "prologue_fusion": True,
        "benchmark_kernel": False,
        "benchmark_fusion": False,
        "cpp_wrapper": False,
        "freezing": False,
        "fx_graph_cache": True,
        "force_disable_caches": False,
        "implicit_fallbacks": True,
        "fallback_random": False,
        "debug": False,
        "trace": None,
        "triton": _Config(
            "torch._inductor.config.triton",
            {"cudagraphs": False, "unique_kernel_names": True, "autotune_at_compile_time": None, "cudagraph_trees": True, "persistent_reductions": True, "multi_kernel": 0},
        ),
    },
)


def reset():
    _script_torch.reset()


def list_backends(exclude_tags=()):
    return ["cudagraphs", "inductor", "pellucid"]


def is_compiling():
    return _script_torch.is_tracing()


def disable(fn=None, recursive=True, *, reason=None):
    return (lambda inner: inner) if fn is None else fn


def allow_in_graph(fn):
    return fn


def mark_dynamic(t, index, *, min=None, max=None):
    raise NotImplementedError("torch._dynamo.mark_dynamic is not supported; pass dynamic=True to torch.compile")


def graph_break(msg=""):
    pass
