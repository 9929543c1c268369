# SPDX-License-Identifier: Apache-2.0
import _script
import _script_torch


class ProfilerActivity:
    CPU = "CPU"
    CUDA = "CUDA"
    XPU = "XPU"


class ProfilerAction:
    NONE, WARMUP, RECORD, RECORD_AND_SAVE = 0, 1, 2, 3


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step):
        if step < 0:
            raise AssertionError("Step must be non-negative")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait != 0:
            step += wait
        length = wait + warmup + active
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    import os

    if use_gzip:
        raise NotImplementedError("tensorboard_trace_handler: use_gzip")

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker_name or 'pellucid'}.{_script.time_ns()}.pt.trace.json"))

    return handler


def _now():
    return _script.perf_counter() * 1e6


# The profiles that record, the innermost last; ranges go to all of them.
_recording = []


class record_function:
    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        _script_torch.flush()
        self._begin = _now()
        return self

    def __exit__(self, *exception):
        _script_torch.flush()
        end = _now()
        for one in _recording:
            one._ranges.append((self.name, self._begin, end - self._begin, "user_annotation"))

    def __call__(self, function):
        def inner(*args, **kwargs):
            with record_function(self.name):
                return function(*args, **kwargs)

        return inner


class FunctionEventAvg:
    def __init__(self, key):
        self.key, self.count, self.cpu_time_total, self.flops = key, 0, 0.0, 0

    @property
    def self_cpu_time_total(self):
        return self.cpu_time_total

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self):
        return f"<FunctionEventAvg key={self.key} cpu_time={_time(self.cpu_time)}>"


def _time(microseconds):
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    return f"{microseconds / 1e3:.3f}ms" if microseconds >= 1e3 else f"{microseconds:.3f}us"


class EventList(list):
    def total_average(self):
        total = FunctionEventAvg("Total")
        for event in self:
            total.count += event.count
            total.cpu_time_total += event.cpu_time_total
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None, top_level_events_only=False):
        if header is not None or top_level_events_only:
            raise NotImplementedError("key_averages().table(): header and top_level_events_only")
        events = list(self)
        keys = {"cpu_time_total": "cpu_time_total", "self_cpu_time_total": "cpu_time_total", "cpu_time": "cpu_time", "count": "count", "flops": "flops"}
        if sort_by is not None:
            name = sort_by.replace("cuda_", "cpu_").replace("device_", "cpu_")
            if name not in keys:
                raise AttributeError(f"'FunctionEventAvg' object has no attribute {sort_by!r}")
            events.sort(key=lambda event: getattr(event, keys[name]), reverse=True)
        total = sum(event.cpu_time_total for event in events) or 1.0
        rows = []
        for event in events[: row_limit if row_limit >= 0 else None]:
            name = event.key if len(event.key) <= max_name_column_width else event.key[: max_name_column_width - 3] + "..."
            rows.append((name, f"{100 * event.cpu_time_total / total:.2f}%", _time(event.cpu_time_total), f"{100 * event.cpu_time_total / total:.2f}%", _time(event.cpu_time_total), _time(event.cpu_time), str(event.count)))
        heads = ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
        widths = [max([len(head)] + [len(row[i]) for row in rows]) for i, head in enumerate(heads)]
        rule = "  ".join("-" * width for width in widths) + "  "
        line = lambda cells: "  ".join(cell.rjust(width) for cell, width in zip(cells, widths)) + "  "
        text = "\n".join([rule, line(heads), rule] + [line(row) for row in rows] + [rule])
        return text + f"\nSelf CPU time total: {_time(sum(event.cpu_time_total for event in self))}\n"

    def __str__(self):
        return self.table()


class profile:
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None):
        if profile_memory or with_stack or with_modules or experimental_config is not None or execution_trace_observer is not None:
            raise NotImplementedError("torch.profiler.profile: profile_memory, with_stack, with_modules, experimental_config and execution_trace_observer are not supported")
        # Shapes, bytes and flops of kernels are always in the trace.
        self.activities = list(activities) if activities is not None else [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        self._schedule, self._ready, self._step = schedule, on_trace_ready, 0
        self._events, self._ranges, self._profile, self._began = [], [], None, 0.0
        self._action = ProfilerAction.NONE
        self._metadata = {}

    @property
    def step_num(self):
        return self._step

    def _next_action(self):
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self._step)

    def _enter(self, action):
        records = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if action in records and self._profile is None:
            _script_torch.flush()
            self._ranges, self._events = [], []
            self._profile, self._began = _script_torch.begin_profile(), _now()
            _recording.append(self)
        if action not in records and self._profile is not None:
            self._collect()
        self._action = action

    def _collect(self):
        _script_torch.flush()
        self._events = _script_torch.end_profile(self._profile)
        self._ranges += [(name, begin, length, "cpu_op") for name, begin, length in _script_torch.end_regions()]
        self._profile = None
        _recording.remove(self)

    def start(self):
        self._step_began = _now()
        self._enter(self._next_action())

    def stop(self):
        was = self._profile is not None
        if was:
            self._collect()
        if was and self._ready is not None and self._action != ProfilerAction.WARMUP:
            self._ready(self)
        self._action = ProfilerAction.NONE

    def step(self):
        _script_torch.flush()
        end = _now()
        if self._profile is not None:
            self._ranges.append((f"ProfilerStep#{self._step}", self._step_began, end - self._step_began, "user_annotation"))
        saves = self._action == ProfilerAction.RECORD_AND_SAVE
        self._step += 1
        if saves:
            self._collect()
            if self._ready is not None:
                self._ready(self)
        self._step_began = _now()
        self._enter(self._next_action())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def _all(self):
        ranges = [{"ph": "X", "cat": kind, "name": name, "pid": 1, "tid": 0, "ts": begin, "dur": length, "args": {}} for name, begin, length, kind in self._ranges]
        return ranges + self._events

    def events(self):
        return self._all()

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        if group_by_stack_n or group_by_overload_name:
            raise NotImplementedError("key_averages: group_by_stack_n and group_by_overload_name")
        found = {}
        for event in self._all():
            if event.get("ph") != "X":
                continue
            key = event["name"]
            if group_by_input_shape:
                key += " " + str(event.get("args", {}).get("shapes", ""))
            average = found.setdefault(key, FunctionEventAvg(event["name"]))
            average.count += 1
            average.cpu_time_total += event["dur"]
            average.flops += event.get("args", {}).get("flops", 0) or 0
        return EventList(found.values())

    def export_chrome_trace(self, path):
        import json

        import os

        events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "pellucid exec"}}, {"ph": "M", "name": "thread_name", "pid": 1, "tid": 0, "args": {"name": "script"}}]
        with open(os.fspath(path), "w") as file:
            json.dump({**self._metadata, "displayTimeUnit": "ns", "traceEvents": events + self._all()}, file)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        raise NotImplementedError("torch.profiler.profile.export_stacks: there are no stacks in these profiles")

    def add_metadata(self, key, value):
        self._metadata[key] = value


class _KinetoProfile(profile):
    pass
