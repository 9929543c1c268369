# SPDX-License-Identifier: Apache-2.0
import _script
import _script_torch


def _quantile(values, q):
    values = sorted(values)
    place = (len(values) - 1) * q
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def _summary(times, quantiles, return_mode):
    if quantiles is not None:
        found = [_quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    if return_mode == "mean":
        return sum(times) / len(times)
    return _quantile(times, {"min": 0.0, "median": 0.5, "max": 1.0}[return_mode])


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise AssertionError(return_mode)

    def measured():
        if _script_torch.is_real():
            # What Python costs is not the device's time: the first program of `fn` begins it.
            begin = _script_torch.mark_before_next()
            kept = fn()
            return _script_torch.milliseconds(begin, _script_torch.mark())
        begin = _script.perf_counter()
        kept = fn()
        _script_torch.flush()
        return (_script.perf_counter() - begin) * 1e3

    def timed():
        if grad_to_none is not None:
            for x in grad_to_none:
                x.grad = None
        _script_torch.flush()
        _script_torch.compute_all(True)
        try:
            return measured()
        finally:
            _script_torch.compute_all(False)

    def repeated(milliseconds, most):
        # Where the host takes longer than the device, it ends after that time all the same.
        times, until = [], _script.perf_counter() + 1e-3 * milliseconds
        while len(times) < most and (len(times) < 5 or _script.perf_counter() < until):
            times.append(timed())
        return times

    # The first one compiles, and the second where tensors have values since.
    timed(), timed()
    third = timed()
    if third > 10 * (warmup + rep):
        return _summary([third], quantiles, return_mode)
    estimate = max((third + timed()) / 2, 1e-4)
    repeated(warmup, max(1, min(int(warmup / estimate), 1000)))
    return _summary(repeated(rep, max(1, min(int(rep / estimate), 10000))), quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    return do_bench(fn, 5, rep, grad_to_none, quantiles, return_mode)


class Benchmark:
    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="", x_log=False, y_log=False, styles=None):
        self.x_names, self.x_vals, self.line_arg, self.line_vals = x_names, list(x_vals), line_arg, list(line_vals)
        self.line_names, self.plot_name, self.args = line_names, plot_name, args
        self.xlabel, self.ylabel, self.x_log, self.y_log, self.styles = xlabel, ylabel, x_log, y_log, styles


def _cell(value):
    return "NaN" if value is None or value != value else f"{value:.6f}"


def _column(values):
    """Numbers as pandas prints a column of floats: as many decimals as are needed, at most six."""
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return [str(value) for value in values]
    if all(isinstance(value, int) for value in values):
        return [str(value) for value in values]
    texts = [_cell(float(value)) for value in values]
    while all(text.endswith("0") and not text.endswith(".0") for text in texts if text != "NaN"):
        texts = [text if text == "NaN" else text[:-1] for text in texts]
    return texts


class Mark:
    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    def _rows(self, bench, kwargs):
        names = [bench.x_names] if isinstance(bench.x_names, str) else list(bench.x_names)
        for x in bench.x_vals:
            values = tuple(x) if isinstance(x, (tuple, list)) else (x,) * len(names)
            if len(values) != len(names):
                raise ValueError(f"Expected {len(names)} values, got {len(values)}")
            given = dict(zip(names, values))
            row = []
            for line in bench.line_vals:
                found = self.fn(**given, **{bench.line_arg: line}, **bench.args, **kwargs)
                row.append(found[0] if isinstance(found, (tuple, list)) else found)
            yield list(values), row

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        if return_df:
            raise NotImplementedError("perf_report: return_df needs pandas")
        benchmarks = self.benchmarks if isinstance(self.benchmarks, (list, tuple)) else [self.benchmarks]
        for bench in benchmarks:
            names = [bench.x_names] if isinstance(bench.x_names, str) else list(bench.x_names)
            rows = list(self._rows(bench, kwargs))
            unit = f" ({bench.ylabel})" if bench.ylabel else ""
            heads = names + [name + unit for name in bench.line_names]
            columns = [[float(row[0][i]) if isinstance(row[0][i], int) else row[0][i] for row in rows] for i in range(len(names))]
            columns += [[row[1][i] for row in rows] for i in range(len(bench.line_names))]
            if print_data:
                cells = [_column(column) for column in columns]
                widths = [max([len(head)] + [len(cell) for cell in column]) for head, column in zip(heads, cells)]
                index = max(len(str(max(len(rows) - 1, 0))), 1)
                print(bench.plot_name + ":")
                print(" " * index + "".join("  " + head.rjust(width) for head, width in zip(heads, widths)))
                for i in range(len(rows)):
                    print(str(i).ljust(index) + "".join("  " + column[i].rjust(width) for column, width in zip(cells, widths)))
            if save_path:
                import os

                os.makedirs(save_path, exist_ok=True)
                with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w") as file:
                    file.write(",".join(heads) + "\n")
                    for i in range(len(rows)):
                        file.write(",".join(_cell(column[i]) if isinstance(column[i], float) else str(column[i]) for column in columns) + "\n")


def perf_report(benchmarks):
    return lambda fn: Mark(fn, benchmarks)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    import torch

    x = x if isinstance(x, torch.Tensor) else torch.tensor(x)
    y = y if isinstance(y, torch.Tensor) else torch.tensor(y)
    atol = 1e-2 if atol is None else atol(x.dtype) if callable(atol) else atol
    rtol = 0.0 if rtol is None else rtol(x.dtype) if callable(rtol) else rtol
    if x.dtype == torch.bfloat16:
        x = x.float()
    if y.dtype == torch.bfloat16:
        y = y.float()
    if x.numel() > 1 or y.numel() > 1:
        torch.testing.assert_close(x, y, atol=atol, rtol=rtol, equal_nan=True, check_dtype=False, check_device=False)
    elif not torch.allclose(x, y, atol=atol, rtol=rtol):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


def get_max_simd_tflops(dtype, clock_rate, device=None):
    raise NotImplementedError("triton.testing.get_max_simd_tflops")


def get_dram_gbps(device=None):
    raise NotImplementedError("triton.testing.get_dram_gbps")


class set_gpu_clock:
    def __init__(self, *args):
        raise NotImplementedError("triton.testing.set_gpu_clock")
