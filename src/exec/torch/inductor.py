# SPDX-License-Identifier: Apache-2.0
import _programs
import _script


class AOTICompiledModel:
    def __init__(self, package):
        self.loader = package

    def __call__(self, *args, **kwargs):
        return _programs.run_package(self.loader, _programs.tensors([list(args), kwargs]), RuntimeError)

    def get_metadata(self):
        import json

        return json.loads(_programs.describe_package(self.loader))


def aoti_compile_and_package(exported_program, _deprecated_unused_args=None, _deprecated_unused_kwargs=None, *, package_path=None, inductor_configs=None):
    from torch.export import ExportedProgram

    if not isinstance(exported_program, ExportedProgram):
        raise ValueError(f"Only ExportedProgram is supported, got {type(exported_program)}")
    if _deprecated_unused_args is not None or _deprecated_unused_kwargs is not None:
        raise RuntimeError("You no longer need to specify args or kwargs to aoti_compile_and_package as we can get this information from exported_program.example_inputs.")
    if inductor_configs:
        raise NotImplementedError(f"aoti_compile_and_package: inductor_configs ({', '.join(inductor_configs)}) are not supported; leave them out")
    path = _script.make_temporary("/tmp/XXXXXX", False) + ".pt2" if package_path is None else _script.fspath(package_path)
    if not path.endswith(".pt2"):
        raise AssertionError(f"Expect package path {path} to end with .pt2")
    return _programs.write_package(exported_program._program, path, RuntimeError)


def aoti_load_package(path, run_single_threaded=False, device_index=-1):
    if run_single_threaded or device_index != -1:
        raise NotImplementedError("aoti_load_package: run_single_threaded and device_index are not supported")
    return AOTICompiledModel(_programs.load_package(_script.fspath(path), RuntimeError))
