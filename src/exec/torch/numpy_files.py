# SPDX-License-Identifier: Apache-2.0
# --- files and buffers; part of numpy.py's namespace


def _write(file, data):
    if hasattr(file, "write"):
        file.write(data)
        return
    with open(file, "wb") as f:
        f.write(data)


def _named(file, end):
    if hasattr(file, "write"):
        return file
    name = str(file)
    return name if name.endswith(end) else name + end


def save(file, arr, allow_pickle=True):
    _write(_named(file, ".npy"), _bytes.npy(_tensor(arr)))


def savez(file, *args, **kwds):
    names = [f"arr_{i}" for i in range(len(args))]
    for name in names:
        if name in kwds:
            raise ValueError(f"Cannot use un-named variables and keyword {name}")
    arrays = dict(zip(names, args), **kwds)
    _write(_named(file, ".npz"), _bytes.npz(list(arrays), [_bytes.npy(_tensor(a)) for a in arrays.values()]))


def savez_compressed(file, *args, **kwds):
    """Stored as they are: what reads compressed files reads these."""
    savez(file, *args, **kwds)


def _read_array(tensor, turned):
    return ndarray(tensor.permute(*reversed(range(tensor.dim()))) if turned else tensor)


class NpzFile:
    def __init__(self, name, members):
        self._name, self._arrays = name, {key: _read_array(tensor, turned) for key, tensor, turned in members}

    @property
    def files(self):
        return list(self._arrays)

    def __getitem__(self, key):
        key = key[:-4] if key.endswith(".npy") and key not in self._arrays else key
        if key not in self._arrays:
            raise KeyError(f"{key} is not a file in the archive")
        return self._arrays[key]

    def __contains__(self, key):
        return key in self._arrays

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self._arrays)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def keys(self):
        return self._arrays.keys()

    def values(self):
        return self._arrays.values()

    def items(self):
        return self._arrays.items()

    def get(self, key, default=None):
        return self._arrays.get(key, default)

    def close(self):
        pass

    def __repr__(self):
        shown = ", ".join(self.files[:5]) + ("..." if len(self.files) > 5 else "")
        return f"NpzFile {self._name!r} with keys: {shown}"


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII"):
    if mmap_mode not in (None, "r", "c"):
        raise NotImplementedError(f"numpy.load: mmap_mode={mmap_mode!r} would write to the file; arrays are read here")
    if hasattr(file, "read"):
        data = file.read()
    else:
        with open(file, "rb") as f:
            data = f.read()
    if not data:
        raise EOFError("No data left in file")
    archive, members = _bytes.arrays(data)
    if archive:
        return NpzFile(str(file) if not hasattr(file, "read") else "object", members)
    _, tensor, turned = members[0]
    return _read_array(tensor, turned)


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    like = torch.empty(0, dtype=_torch_type(dtype))
    size, data = like.element_size(), bytes(buffer)[offset:]
    if count < 0:
        if len(data) % size:
            raise ValueError("buffer size must be a multiple of element size")
        count = len(data) // size
    if count * size > len(data):
        raise ValueError("buffer is smaller than requested size")
    return ndarray(_bytes.tensor(data[:count * size], like, [count]))


def fromfile(file, dtype=float, count=-1, sep="", offset=0):
    _only("numpy.fromfile", sep=(sep, ""))
    if hasattr(file, "read"):
        return frombuffer(file.read(), dtype, count, offset)
    with open(file, "rb") as f:
        return frombuffer(f.read(), dtype, count, offset)


def loadtxt(fname, dtype=float, comments="#", delimiter=None, skiprows=0, usecols=None, unpack=False, ndmin=0, max_rows=None):
    if hasattr(fname, "read"):
        lines = fname.read().split("\n")
    elif isinstance(fname, (list, tuple)):
        lines = list(fname)
    else:
        with open(fname) as f:
            lines = f.read().split("\n")
    rows = []
    for line in lines[skiprows:]:
        line = (line.split(comments)[0] if comments else line).strip()
        if not line:
            continue
        if max_rows is not None and len(rows) == max_rows:
            break
        cells = line.split(delimiter)
        if usecols is not None:
            cells = [cells[c] for c in ([usecols] if isinstance(usecols, int) else usecols)]
        try:
            rows.append([float(cell) for cell in cells])
        except ValueError:
            bad = next(cell for cell in cells if not _is_number(cell))
            raise ValueError(f"could not convert string {bad.strip()!r} to {_name_of(dtype)} at row {len(rows)}, column {cells.index(bad) + 1}.") from None
        if len(rows[-1]) != len(rows[0]):
            raise ValueError(f"the number of columns changed from {len(rows[0])} to {len(rows[-1])} at row {len(rows)}; use `usecols` to select a subset and avoid this error")
    out = array(rows, dtype=dtype) if rows else zeros((0,), dtype)
    out = out.squeeze() if ndmin < 2 else out
    if ndmin == 1 and out.ndim == 0:
        out = out.reshape(1)
    return out.T if unpack else out


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def savetxt(fname, X, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# "):
    X = asarray(X)
    if X.ndim > 2:
        raise ValueError(f"Expected 1D or 2D array, got {X.ndim}D array instead")
    rows = [[v] for v in X.tolist()] if X.ndim < 2 else X.tolist()
    out = [comments + line for line in header.split("\n")] if header else []
    for row in rows:
        out.append(delimiter.join(f % v for f, v in zip(fmt, row)) if isinstance(fmt, (list, tuple)) else delimiter.join(fmt % v for v in row) if fmt.count("%") == 1 else fmt % tuple(row))
    out += [comments + line for line in footer.split("\n")] if footer else []
    text = "".join(line + newline for line in out)
    if hasattr(fname, "write"):
        fname.write(text)
        return
    with open(fname, "w") as f:
        f.write(text)
