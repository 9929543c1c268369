#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds what it runs (no tests, no tools of theirs) and runs the main job on the CPU: one model with
# Triton kernels, held three ways, exported strict and not, compiled from C++ and run as a package by a plain C program.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh
log=build/demo.log
mkdir -p build
echo "building build/release (log: $log)"
cmake --preset release -DPELLUCID_UNITY=ON -DPELLUCID_BUILD_TESTS=OFF -DPELLUCID_BUILD_EXAMPLES=ON >"$log" 2>&1 &&
  cmake --build --preset release --target pellucid pellucid-worker pellucid-demo c_client >>"$log" 2>&1 || { tail -30 "$log"; exit 1; }
exec build/release/bin/pellucid-demo --program build/release/bin/pellucid --model examples/silu_model.py \
  --client build/release/bin/c_client --work build/demo
