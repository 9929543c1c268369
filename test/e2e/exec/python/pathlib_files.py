# SPDX-License-Identifier: Apache-2.0
from pathlib import Path, PurePosixPath
p = Path('/a/b/c.tar.gz'); print(p, repr(p), p.name, p.stem, p.suffix, p.suffixes, p.parent, list(p.parents), p.parts, p / 'd', p.with_suffix('.x'), p.with_name('q'), p.is_absolute(), p.relative_to('/a'), Path('x') / Path('y'), p.joinpath('e', 'f'), Path('a//b/./c'), p == Path('/a/b/c.tar.gz'), str(p), p.match('*.gz'), Path('.'), Path(''), Path('~').expanduser() != Path('~'), p.as_posix(), Path('a/b').with_stem('z'), hash(p) == hash(Path('/a/b/c.tar.gz')), Path('/').parent, p.anchor, sorted([Path('b'), Path('a')]), p.is_relative_to('/a'))
import tempfile, os
with tempfile.TemporaryDirectory() as t:
    d = Path(t); f = d / 'x' / 'y.txt'; f.parent.mkdir(parents=True, exist_ok=True); print(f.write_text('hi\nyo\n'), f.read_text(), f.exists(), f.is_file(), d.is_dir(), sorted(q.name for q in d.rglob('*')), [q.name for q in d.iterdir()], f.stat().st_size, sorted(q.name for q in d.glob('*/*.txt')))
    f.rename(d / 'z.txt'); (d / 'z.txt').unlink(); print(list(d.iterdir()) == [d / 'x']); (d / 'x').rmdir(); (d / 'b').write_bytes(b'\x00\x01'); print((d / 'b').read_bytes()); (d / 't').touch(); print(os.listdir(t) != [])
    with open(d / 'n', 'w') as h: print('a', 'b', file=h); h.writelines(['1\n', '2\n'])
    with open(d / 'n') as h: print(h.readline(), list(h)); h.seek(0); print(h.read(3), h.tell())
    with (d / 'n').open('a') as h: h.write('z')
    print((d / 'n').read_text().splitlines())
    try: (d / 'none').read_text()
    except FileNotFoundError as e: print(e.errno, type(e).__name__)
