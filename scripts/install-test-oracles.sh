#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What tests compare with, from PyPI, into two environments, for two Tritons do not go into one:
#   build/test-oracles      numpy, Triton 3.6 and the ptxas it brings
#   build/test-oracles-3.9  numpy, Triton 3.9 and the PyTorch that goes with it, whose wheel does not import without its CUDA
#                           libraries, GPU or not
# Succeeds without a registry: the tests then skip. build/test-oracles.missing says what is not there and why, a line each:
# "NAME unreachable: …" or "NAME failed: …". 8 GB on disk, most of it PyTorch; some minutes.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
missing=$PWD/build/test-oracles.missing log=$PWD/build/test-oracles.log
: >"$missing" && : >"$log"

# answers PIP: whether a registry gives us a small package.
answers() {
  local pip=$1 folder
  folder=$(mktemp -d)
  timeout 60 "$pip" download --quiet --retries 0 --no-deps --dest "$folder" typing-extensions >>"$log" 2>&1 && rm -rf "$folder" && return 0
  rm -rf "$folder"
  return 1
}

# install FOLDER NAME WORDS…: pip's words; once, unless they change.
install() {
  local folder=$1 name=$2 why=failed
  shift 2
  [ "$(cat "$folder/$name.wanted" 2>/dev/null)" != "$*" ] || return 0
  [ -x "$folder/bin/pip" ] || python3 -m venv "$folder" >>"$log" 2>&1 || { echo "$name failed: python3 has no venv" >>"$missing"; return 0; }
  echo "installing $name into $folder (log: build/test-oracles.log)"
  if "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >>"$log" 2>&1; then
    echo "$*" >"$folder/$name.wanted"
    return 0
  fi
  answers "$folder/bin/pip" || why=unreachable
  echo "$name $why: $(grep -m1 ERROR "$log" | cut -c1-160)" >>"$missing"
}

install build/test-oracles numpy "numpy>=1.24"
install build/test-oracles triton-3.6 triton==3.6.0
install build/test-oracles-3.9 numpy "numpy>=1.24"
install build/test-oracles-3.9 triton-3.9 triton==3.9.0
install build/test-oracles-3.9 torch torch==2.15.0
[ -x build/test-oracles/lib/python3*/site-packages/triton/backends/nvidia/bin/ptxas ] || command -v ptxas >/dev/null ||
  grep -q triton-3.6 "$missing" || echo "ptxas failed: Triton 3.6 brings none" >>"$missing"
[ ! -s "$missing" ] || { echo "not installed:" && sed 's/^/  /' "$missing"; }
