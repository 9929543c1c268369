# SPDX-License-Identifier: Apache-2.0
"""lit over the .mlir files of this folder; the build passes the places of the tools with --param."""
import os

import lit.formats

config.name = "pellucid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["data"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["binary_dir"]

llvm_tools = lit_config.params["llvm_tools"]
pellucid_tools = lit_config.params["tools"]
config.environment["PATH"] = os.pathsep.join([pellucid_tools, llvm_tools, os.environ["PATH"]])
# Which mutant the tools are (mutation/mutate.py): lit gives them no other variable of its own environment.
for name in ("PELLUCID_MUTANT", "PELLUCID_MUTANTS_REACHED"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
