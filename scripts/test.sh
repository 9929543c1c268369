#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything in build/release and runs every test. Extra arguments go to ctest. The last line
# says what was skipped and why; with CI=true a missing oracle that could be installed is a failure.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh --tests
scripts/install-test-oracles.sh
mkdir -p build
oracle=python3 oracle39=python3
[ ! -f build/test-oracles/numpy.wanted ] || oracle=$PWD/build/test-oracles/bin/python
[ ! -f build/test-oracles-3.9/numpy.wanted ] || oracle39=$PWD/build/test-oracles-3.9/bin/python
log=build/test-build.log
echo "building build/release with its tests (log: $log)"
cmake --preset release -DPELLUCID_UNITY=ON -DPELLUCID_BUILD_TESTS=ON -DPELLUCID_BUILD_EXAMPLES=ON -DPELLUCID_ORACLE_PYTHON="$oracle" \
  -DPELLUCID_ORACLE_PYTHON_39="$oracle39" >"$log" 2>&1 &&
  cmake --build --preset release >>"$log" 2>&1 || { grep -nE 'error:|FAILED' "$log" | head -20; tail -30 "$log"; exit 1; }
result=0
ctest --test-dir build/release --output-on-failure --no-tests=error --output-junit Testing/results.xml -j"$(nproc)" "$@" || result=$?
scripts/summarise_skips.py build/release build/test-oracles.missing || result=1
exit $result
