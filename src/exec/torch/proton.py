# SPDX-License-Identifier: Apache-2.0
# triton.profiler: times of kernels by the ranges that a script is in. The times are those of the run time's profile; kernels and ranges meet
# by the clock, so that what was recorded is run where a range begins and ends.
import _script
import _script_torch


class _Node:
    def __init__(self, name):
        self.name, self.children, self.metrics, self.count, self.time = name, {}, {}, 0, 0.0
        self.runs, self.spent = 0, 0.0  # of the range, by the host's clock

    def child(self, name):
        if name not in self.children:
            self.children[name] = _Node(name)
        return self.children[name]

    def dump(self):
        metrics = dict(self.metrics)
        if self.count:
            metrics.update({"count": self.count, "time (ns)": self.time, "device_id": "0", "device_type": "CUDA" if _script_torch.is_real() else "CPU"})
        return {"children": [child.dump() for child in self.children.values()], "frame": {"name": self.name, "type": "function"}, "metrics": metrics}


class _Session:
    def __init__(self, number, name, hook):
        self.number, self.name, self.hook = number, name, hook
        self.root = _Node("ROOT")
        self.active = False

    def where(self):
        """The node of the ranges that the script is in."""
        node = self.root
        for name, isMeasured in _open:
            node = node.child(name)
        return node


_sessions = {}
_open = []  # ranges that the script is in, the innermost last, and whether they are measured
_numbers = [0]
_profile = [None]  # of the run time, with the ranges that were left since it began
_intervals = []


def _chosen(session):
    if session is None:
        return list(_sessions.values())
    if session not in _sessions:
        raise ValueError(f"session {session} does not exist; it was never started, or is finalized")
    return [_sessions[session]]


def _now():
    return _script.perf_counter() * 1e6


def _any_active():
    return any(session.active for session in _sessions.values())


def _begin_times():
    if _profile[0] is None:
        _script_torch.flush()
        _profile[0] = _script_torch.begin_profile()
        _script_torch.observe_launches(_launched)


def _take_times():
    """What ran since the profile began goes to the ranges that it ran in."""
    if _profile[0] is None:
        return
    _script_torch.flush()
    profile, _profile[0] = _profile[0], None
    _script_torch.observe_launches(None)
    kernels = _script_torch.profiled_kernels(profile)
    _intervals.sort(key=lambda one: one[0])
    at, last = 0, len(_intervals)
    for name, begin, duration in kernels:
        # Ranges that hold kernels do not overlap: each piece of one between two others is one of its own.
        while at < last and _intervals[at][1] < begin:
            at += 1
        nodes = _intervals[at][2] if at < last and _intervals[at][0] <= begin else [s.root for s in _sessions.values() if s.active]
        for node in nodes:
            leaf = node.child(name)
            leaf.count += 1
            leaf.time += duration * 1e3
    _intervals.clear()


# Where the present piece of ranges began.
_piece = [0.0]


def _cut():
    """What was recorded so far belongs to the ranges that the script is in."""
    if _profile[0] is None:
        return
    _script_torch.flush()
    now = _now()
    _intervals.append((_piece[0], now, [s.where() for s in _sessions.values() if s.active]))
    _piece[0] = now
    if len(_intervals) >= 4096:
        _take_times()
        _begin_times()
        _piece[0] = _now()


# A processor would take days for what benchmarks ask of a GPU: a range is measured so often and so long (microseconds) at least.
_enough_runs, _enough_time = 3, 1e6
_told = []


def _is_enough(name):
    if _script_torch.is_real():
        return False
    nodes = [s.where().child(name) for s in _sessions.values() if s.active]
    if not all(node.runs >= _enough_runs and node.spent >= _enough_time for node in nodes):
        return False
    if not _told:
        import sys

        _told.append(name)
        print(f"proton: '{name}' was measured {nodes[0].runs} times; on a CPU, what a range computes and nobody reads is not run after that", file=sys.stderr)
    return True


def enter_scope(name, *, metrics=None):
    isMeasured = _profile[0] is not None and _any_active() and not _is_enough(name)
    if isMeasured:
        _cut()
        _script_torch.compute_all(True)
    _open.append((name, isMeasured))
    if isMeasured:
        for session in _sessions.values():
            if session.active:
                _add_metrics(session.where(), metrics)
    return len(_open)


def exit_scope(name=None, *, metrics=None):
    if not _open:
        raise RuntimeError("exit_scope: no scope is open")
    if name is not None and _open[-1][0] != name:
        raise RuntimeError(f"exit_scope: the innermost scope is '{_open[-1][0]}', not '{name}'")
    if _open[-1][1] and _profile[0] is not None:
        begin = _piece[0]
        _cut()
        for session in _sessions.values():
            if session.active:
                node = session.where()
                node.runs += 1
                node.spent += _piece[0] - begin
                _add_metrics(node, metrics)
    _open.pop()
    _script_torch.compute_all(any(isMeasured for _, isMeasured in _open))


def _add_metrics(node, metrics):
    for name, value in (metrics or {}).items():
        node.metrics[name] = node.metrics.get(name, 0) + value


class scope:
    def __init__(self, name, metrics=None):
        self.name, self.metrics = name, metrics

    def __enter__(self):
        enter_scope(self.name, metrics=self.metrics)
        return self

    def __exit__(self, *exception):
        exit_scope(self.name)

    def __call__(self, function):
        def inner(*args, **kwargs):
            with scope(self.name, self.metrics):
                return function(*args, **kwargs)

        return inner


class cpu_timed_scope(scope):
    def __enter__(self):
        self._begin = _now()
        return scope.__enter__(self)

    def __exit__(self, *exception):
        for session in _sessions.values():
            if session.active:
                _add_metrics(session.where(), {"cpu_time (ns)(exc)": (_now() - self._begin) * 1e3})
        scope.__exit__(self, *exception)


class _Kernel:
    def __init__(self, name, args):
        self.name = name
        self.num_warps, self.num_stages, self.num_ctas = args.get("num_warps", 4), args.get("num_stages", 3), args.get("num_ctas", 1)
        self.shared = 0


def _nothing():
    pass


def _launched(launch):
    """Before a launch: enters what describes it, and gives what leaves it."""
    name, describes, grid, args = launch
    if not _any_active():
        return _nothing
    if describes is None or not any(s.active and s.hook == "triton" for s in _sessions.values()):
        return _cut
    found = describes(grid, _Kernel(name, args), args)
    metrics = {key: value for key, value in found.items() if key != "name"}
    shown = found.get("name", name)
    enter_scope(shown, metrics=metrics)
    return lambda: exit_scope(shown)


def start(name=None, *, context="shadow", data="tree", backend=None, mode=None, hook=None):
    if context != "shadow" or data != "tree" or mode is not None:
        raise NotImplementedError(f"proton.start(context={context!r}, data={data!r}, mode={mode!r}): context='shadow' and data='tree' without a mode are there")
    if backend not in (None, "cupti", "roctracer"):
        raise NotImplementedError(f"proton.start(backend={backend!r})")
    if hook not in (None, "triton"):
        raise NotImplementedError(f"proton.start(hook={hook!r}): None and 'triton' are there")
    number = _numbers[0]
    _numbers[0] += 1
    _sessions[number] = _Session(number, "proton" if name is None else name, hook)
    activate(number)
    return number


def activate(session=None):
    chosen = _chosen(session)
    if _any_active():
        _cut()
    for one in chosen:
        one.active = True
    _begin_times()
    _piece[0] = _now()


def deactivate(session=None):
    chosen = _chosen(session)
    if _any_active():
        _cut()
        _take_times()
    for one in chosen:
        one.active = False
    if _any_active():
        _begin_times()
        _piece[0] = _now()


def finalize(session=None, output_format="hatchet"):
    import json

    if output_format not in ("hatchet", ""):
        raise NotImplementedError(f"proton.finalize(output_format={output_format!r}): 'hatchet' is there")
    chosen = _chosen(session)
    deactivate(session)
    for one in chosen:
        with open(one.name + ".hatchet", "w") as file:
            json.dump([one.root.dump(), {}], file)
        del _sessions[one.number]


def profile(func=None, *, name=None, context="shadow", data="tree", backend=None, hook=None):
    def decorated(function):
        def inner(*args, **kwargs):
            session = start(name, context=context, data=data, backend=backend, hook=hook)
            result = function(*args, **kwargs)
            finalize(session)
            return result

        return inner

    return decorated if func is None else decorated(func)
