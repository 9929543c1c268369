#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build (and with --tests the test suites) needs from Debian; does nothing where all of it is there.
#   scripts/install-deps.sh [--tests | --sanitizers]
set -eu
packages="cmake ninja-build ccache clang-22 lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools liblld-22-dev libzstd-dev zlib1g-dev
  libcli11-dev nlohmann-json3-dev"
[ "${1:-}" != --tests ] || packages="$packages llvm-22-tools libgtest-dev python3 python3-numpy python3-venv clang-format-22"
[ "${1:-}" != --sanitizers ] || packages="$packages libclang-rt-22-dev" # of the presets asan, tsan and fuzz
missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
root=""
[ "$(id -u)" = 0 ] || root=sudo
echo "installing:$missing"
$root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing >/dev/null
