#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts numpy, and Triton 3.6 with the ptxas it brings, into build/test-oracles for the tests that compare with them.
# Where PyPI cannot be reached it says so and succeeds: the tests against Triton and ptxas are then skipped, which ctest
# counts, and numpy is Debian's.
set -eu
cd "$(dirname "$0")/.."
wanted="numpy>=1.24 triton==3.6.0"
venv=build/test-oracles
[ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ] || exit 0
mkdir -p build
echo "installing $wanted into $venv (log: build/test-oracles.log)"
rm -rf "$venv"
# shellcheck disable=SC2086
if python3 -m venv "$venv" >build/test-oracles.log 2>&1 &&
  "$venv/bin/pip" install --quiet --disable-pip-version-check $wanted >>build/test-oracles.log 2>&1; then
  echo "$wanted" >"$venv/wanted"
else
  rm -rf "$venv"
  echo "PyPI cannot be reached: the tests against Triton and ptxas will be skipped"
fi
