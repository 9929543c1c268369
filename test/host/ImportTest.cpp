// SPDX-License-Identifier: Apache-2.0
#include "host/Interpreter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace pellucid::host {
namespace {

namespace fs = std::filesystem;

class Import : public testing::Test {
protected:
  fs::path root;
  void SetUp() override {
    root = fs::path(testing::TempDir()) /
           ("pellucid_import_" + std::to_string(getpid()) + "_" +
            testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root);
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  std::string resultOf(const std::string &path, InterpreterOptions options = {}) {
    Interpreter interpreter(std::move(options));
    auto module = interpreter.importFile((root / path).string());
    return interpreter.repr(*module->globals->find("result"));
  }
};

TEST_F(Import, SiblingsInEverySpelling) {
  write("a.py", "x = 1\ndef f():\n    return x\n_hidden = 2\n");
  write("main.py", "import a\nimport a as b\nfrom a import x, f as g\nfrom a import *\n"
                   "result = [a.x, b is a, x, g(), f(), '_hidden' in dir() if False else 0]\n");
  EXPECT_EQ(resultOf("main.py"), "[1, True, 1, 1, 1, 0]");
}

TEST_F(Import, PackagesAbsoluteAndRelative) {
  write("pkg/__init__.py", "from .ops import silu\nVERSION = 3\n");
  write("pkg/ops/__init__.py", "from .silu import silu\nfrom ..config import BLOCK\n");
  write("pkg/ops/silu.py", "from ..config import BLOCK as B\nfrom . import helper\ndef silu():\n   "
                           " return B, helper.k\n");
  write("pkg/ops/helper.py", "k = 'helper'\n");
  write("pkg/config.py", "BLOCK = 128\n");
  write("main.py",
        "import pkg\nimport pkg.ops.helper\nfrom pkg.ops import BLOCK\nfrom pkg import config\n"
        "result = [pkg.silu(), pkg.VERSION, pkg.ops.helper.k, BLOCK, config.BLOCK, "
        "pkg.config.BLOCK]\n");
  EXPECT_EQ(resultOf("main.py"), "[(128, 'helper'), 3, 'helper', 128, 128, 128]");
}

/// A file inside a package finds its package's absolute name without any search root.
TEST_F(Import, FileInsideAPackage) {
  write("pkg/__init__.py", "");
  write("pkg/util.py", "n = 4\n");
  write("pkg/sub/__init__.py", "");
  write("pkg/sub/main.py",
        "from pkg.util import n\nfrom ..util import n as m\nresult = [n, m, __name__]\n");
  EXPECT_EQ(resultOf("pkg/sub/main.py"), "[4, 4, 'pkg.sub.main']");
}

TEST_F(Import, SearchRoots) {
  write("lib/deep/mod.py", "v = 'found'\n");
  write("app/main.py", "from deep.mod import v\nresult = v\n");
  InterpreterOptions options;
  options.searchRoots = {(root / "lib").string()};
  EXPECT_EQ(resultOf("app/main.py", std::move(options)), "'found'");
}

TEST_F(Import, CyclesEnd) {
  write("a.py", "import b\nx = 1\ndef f():\n    return b.y\n");
  write("b.py", "import a\ny = 2\ndef g():\n    return a.x\n");
  write("main.py", "import a, b\nresult = [a.f(), b.g()]\n");
  EXPECT_EQ(resultOf("main.py"), "[2, 1]");
}

/// Absent libraries can be imported and stored; a guarded import of one fails as it would where it
/// is not installed.
TEST_F(Import, AbsentLibraries) {
  write("main.py", "import argparse, time, flash_attn\nimport torch.profiler as prof\n"
                   "from einops import rearrange\n"
                   "parser = argparse.ArgumentParser()\n"
                   "try:\n    import apex\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
                   "def main():\n    parser.parse_args()\n"
                   "if __name__ == '__main__':\n    main()\n"
                   "result = HAS\n");
  EXPECT_EQ(resultOf("main.py"), "False");
}

TEST_F(Import, AnErrorInASiblingNamesItsLine) {
  write("a.py", "x = 1\ny = x + nothing\n");
  write("main.py", "import a\n");
  Interpreter interpreter;
  try {
    interpreter.importFile((root / "main.py").string());
    FAIL();
  } catch (const DiagnosticError &e) {
    EXPECT_TRUE(e.diagnostic.location.file->path().ends_with("a.py"));
    EXPECT_EQ(e.diagnostic.location.range.line, 2u);
  }
}

TEST_F(Import, AMissingNameIsNamed) {
  write("a.py", "x = 1\n");
  write("main.py", "from a import nope\n");
  Interpreter interpreter;
  try {
    interpreter.importFile((root / "main.py").string());
    FAIL();
  } catch (const DiagnosticError &e) {
    EXPECT_EQ(e.diagnostic.message, "ImportError: cannot import name 'nope' from 'a'");
    EXPECT_EQ(e.diagnostic.location.range.line, 1u);
  }
}

TEST_F(Import, AFileThatIsNotThere) {
  Interpreter interpreter;
  EXPECT_THROW(interpreter.importFile((root / "none.py").string()), DiagnosticError);
}

/// Setup that is not needed must not keep a file's kernels away; what depends on it stays refused.
TEST_F(Import, RefusedSetupIsDeferredToItsUse) {
  write("main.py", "import torch\nfrom packaging.version import Version\nimport triton\n"
                   "known = [1]\nprops = torch.cuda.get_device_properties(0).name == 'H100'\n"
                   "known.append(1 if props else 2)\nother = [3]\n"
                   "result = [other, Version(triton.__version__) >= Version('3.0')]\n");
  InterpreterOptions options;
  options.defersFileErrors = true;
  EXPECT_EQ(resultOf("main.py", options), "[[3], True]");
  Interpreter interpreter(options);
  auto module = interpreter.importFile((root / "main.py").string());
  for (const char *name : {"props", "known"}) {
    auto *opaque = module->globals->find(name)->as<Opaque>();
    ASSERT_TRUE(opaque && opaque->reason) << name;
    EXPECT_THROW(interpreter.truth(*module->globals->find(name)), DiagnosticError);
  }
  EXPECT_THROW(resultOf("main.py"), DiagnosticError);
}

/// An error that the file's own `try` handles, a failed import and a raise are not deferred.
TEST_F(Import, WhatIsNeverDeferred) {
  InterpreterOptions options;
  options.defersFileErrors = true;
  write("main.py", "try:\n    x = {}['a']\nexcept KeyError:\n    x = 5\nresult = x\n");
  EXPECT_EQ(resultOf("main.py", options), "5");
  write("gone.py", "from .nothing import x\n");
  EXPECT_THROW(resultOf("gone.py", options), DiagnosticError);
  write("raises.py", "raise ValueError('no')\n");
  EXPECT_THROW(resultOf("raises.py", options), DiagnosticError);
  write("endless.py", "x = 0\nwhile True:\n    x += 1\n");
  EXPECT_THROW(resultOf("endless.py", options), DiagnosticError);
}

} // namespace
} // namespace pellucid::host
