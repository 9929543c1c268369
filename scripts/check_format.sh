#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails with the names of the C and C++ files that clang-format would change; --fix changes them.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = --fix ]; then
  git ls-files '*.h' '*.hpp' '*.c' '*.cpp' | xargs clang-format-22 -i
else
  git ls-files '*.h' '*.hpp' '*.c' '*.cpp' | xargs clang-format-22 --dry-run --Werror
fi
