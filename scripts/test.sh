#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything in build/release and runs every test. Extra arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh --tests
scripts/install-test-oracles.sh
mkdir -p build
oracle=python3
[ ! -x build/test-oracles/bin/python ] || oracle=$PWD/build/test-oracles/bin/python
log=build/test-build.log
echo "building build/release with its tests (log: $log)"
cmake --preset release -DPELLUCID_BUILD_TESTS=ON -DPELLUCID_BUILD_EXAMPLES=ON -DPELLUCID_ORACLE_PYTHON="$oracle" >"$log" 2>&1 &&
  cmake --build --preset release >>"$log" 2>&1 || { grep -nE 'error:|FAILED' "$log" | head -20; tail -30 "$log"; exit 1; }
exec ctest --test-dir build/release --output-on-failure --no-tests=error -j"$(nproc)" "$@"
