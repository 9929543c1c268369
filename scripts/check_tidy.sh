#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over src/ and tools/, by the compile commands of build/dev; or over the files given.
set -eu
cd "$(dirname "$0")/.."
[ -f build/dev/compile_commands.json ] || cmake --preset dev >/dev/null
[ $# -gt 0 ] || set -- $(git ls-files 'src/*.cpp' 'tools/*.cpp')
printf '%s\n' "$@" | xargs -P"$(nproc)" -n4 clang-tidy-22 -p build/dev --quiet
