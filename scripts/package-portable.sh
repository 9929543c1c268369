#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the `portable` preset and packs it as build/portable-dist/pellucid-portable.tar.xz: unpack it anywhere on an
# x86-64 Linux with glibc 2.36 or newer and run bin/pellucid. Arguments name further targets whose programs go into test/.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
log=build/portable.log
mkdir -p build
echo "building build/portable (log: $log)"
cmake --preset portable -DPELLUCID_BUILD_TESTS=$([ $# -gt 0 ] && echo ON || echo OFF) >"$log" 2>&1 &&
  ninja -C build/portable -j"$jobs" pellucid pellucid-worker pellucid_runtime_shared "$@" >>"$log" 2>&1 || { tail -30 "$log"; exit 1; }

stage=build/portable-dist/pellucid
rm -rf build/portable-dist
mkdir -p "$stage/bin" "$stage/lib" "$stage/include" "$stage/examples"
cp build/portable/bin/pellucid build/portable/bin/pellucid-worker "$stage/bin"
cp build/portable/lib/libpellucid_runtime.so "$stage/lib"
cp -r include/pellucid "$stage/include"
cp examples/*.py "$stage/examples"
cp LICENSE README.md "$stage"
for program in "$@"; do
  mkdir -p "$stage/test"
  cp "build/portable/test/$program" "$stage/test"
done
find "$stage/bin" "$stage/lib" "$stage/test" -type f -exec strip {} + 2>/dev/null || true

# What the programs need must be there on any such system.
for file in "$stage"/bin/* "$stage"/lib/*.so; do
  needed=$(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|libdl|libpthread|ld-linux-x86-64|libpellucid_runtime)\.so' || true)
  [ -z "$needed" ] || { echo "$file needs $needed"; exit 1; }
  newest=$(objdump -T "$file" | grep -o 'GLIBC_2\.[0-9]*' | sort -t. -k2 -n | tail -1)
  [ "${newest#GLIBC_2.}" -le 36 ] || { echo "$file needs $newest"; exit 1; }
done
archive=build/portable-dist/pellucid-portable.tar.xz
tar -C build/portable-dist --sort=name --owner=0 --group=0 --mtime=@0 -cf - pellucid | xz -T0 -6 >"$archive"
bytes=$(stat -c %s "$archive")
[ "$bytes" -le $((60 << 20)) ] || { echo "$archive has $bytes bytes, more than 60 MiB"; exit 1; }
echo "$archive: $((bytes >> 20)) MiB"
