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

/// A file in the middle of a package asks for its version; what the package offers is not read for
/// it.
TEST_F(Import, TextOfAPackageThatIsNotRead) {
  write("pkg/__init__.py",
        "__version__ = '1.2'\nfrom .ops import kernel\nfrom .late import rebound\n"
        "rebound = 'second'\n");
  write("pkg/late.py", "rebound = 'first'\n");
  write("pkg/utils/__init__.py", "from .names import version\nFLAG = True\n");
  write("pkg/utils/names.py", "from .. import __version__ as version\n");
  write("pkg/ops/__init__.py", "from .kernel import kernel\n");
  write("pkg/ops/choice.py", "from pkg.utils import FLAG\nchosen = 'yes' if FLAG else 'no'\n");
  write("pkg/ops/kernel.py",
        "from pkg.utils import FLAG, version\nfrom pkg.ops.choice import chosen\n"
        "kernel = 'kernel'\nresult = [FLAG, version, chosen]\n");
  write("asks.py", "from pkg import rebound\nresult = rebound\n");
  InterpreterOptions options;
  options.searchRoots = {root.string()};
  options.defersFileErrors = options.defersMissingImports = true;
  EXPECT_EQ(resultOf("pkg/ops/kernel.py", options), "[True, '1.2', 'yes']");
  EXPECT_EQ(resultOf("asks.py", options), "'second'");
}

/// `from pkg import util` of a file whose names the package's __init__ takes over: the name stands
/// for itself there, and for the submodule.
TEST_F(Import, SubmoduleThatAPackageTakesOver) {
  write("lib/pkg/__init__.py", "from pkg.module import *\n");
  write("lib/pkg/module.py", "from pkg import util\ndef late():\n    return util.make()\n");
  write("lib/pkg/util/__init__.py", "from .util import *\n");
  write("lib/pkg/util/util.py", "def make():\n    return 4\n");
  write("app/main.py", "from pkg import late\nresult = late()\n");
  InterpreterOptions options;
  options.searchRoots = {(root / "lib").string()};
  options.defersFileErrors = true;
  EXPECT_EQ(resultOf("app/main.py", options), "4");
}

/// Versions of libraries below a search root, as installers note them.
TEST_F(Import, VersionsOfInstalledLibraries) {
  write("site/Some_Lib-1.4.2.dist-info/METADATA", "");
  write("site/some_lib/__init__.py", "");
  write("main.py", "from importlib.metadata import PackageNotFoundError, version\n"
                   "result = [version('some-lib'), version('some.LIB')]\n"
                   "try:\n    version('lib')\nexcept PackageNotFoundError:\n"
                   "    result.append('none')\n");
  InterpreterOptions options;
  options.searchRoots = {(root / "site").string()};
  EXPECT_EQ(resultOf("main.py", options), "['1.4.2', '1.4.2', 'none']");
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

/// What lies below --path is read when a name of it is used, not when it is imported.
TEST_F(Import, NamesOfLibrariesAreLookedUpWhenUsed) {
  write("lib/heavy.py", "raise ValueError('read')\n");
  write("lib/deep/other.py", "v = 3\n");
  write("lib/deep/shared.py", "from .other import v as w\n__all__ = ['w']\n");
  write("lib/deep/_native.cpython-312-x86_64-linux-gnu.so", "");
  write("lib/deep/mod.py", "from heavy import x\nimport heavy as h\nfrom .other import v\n"
                           "from .shared import *\nfrom ._native import fast\n"
                           "def use():\n    return v + w\ndef broken():\n    return x\n");
  write("app/main.py", "from deep.mod import use, broken\nresult = use()\n");
  write("app/fails.py", "from deep.mod import broken\ntry:\n    result = broken()\n"
                        "except ValueError as error:\n    result = str(error)\n");
  InterpreterOptions options;
  options.defersFileErrors = true;
  options.searchRoots = {(root / "lib").string()};
  EXPECT_EQ(resultOf("app/main.py", options), "6");
  EXPECT_EQ(resultOf("app/fails.py", options), "'read'");
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

InterpreterOptions readingKernels() {
  InterpreterOptions options;
  options.defersFileErrors = options.defersMissingImports = true;
  return options;
}

/// One name of an import that fails does not take those beside it along.
TEST_F(Import, NamesOfOneImportAreDeferredEachOnItsOwn) {
  write("helpers.py", "import torch\nexp = 7\nprops = torch.cuda.get_device_properties(0) > 1\n");
  write("main.py", "from helpers import nothing, exp\nresult = exp\n");
  EXPECT_EQ(resultOf("main.py", readingKernels()), "7");
}

/// PEP 562: packages choose their platform in a module's __getattr__.
TEST_F(Import, AModuleMayAnswerForItsOwnNames) {
  write("platforms.py", "def __getattr__(name):\n    if name == 'current':\n        return 'here'\n"
                        "    raise AttributeError(name)\n");
  write("main.py", "import platforms\nfrom platforms import current\n"
                   "result = [current, hasattr(platforms, 'other')]\n");
  EXPECT_EQ(resultOf("main.py"), "['here', False]");
}

/// Where Triton is probed there is one: projects re-export it behind such questions.
TEST_F(Import, ProbesFindTriton) {
  write("compat.py", "import types\nfrom importlib.util import find_spec\n"
                     "HAS_TRITON = find_spec('triton') is not None or "
                     "find_spec('pytorch-triton-xpu') is not None\n"
                     "if HAS_TRITON:\n    try:\n        from triton.backends import backends\n"
                     "        active = [x.driver for x in backends.values() if x.driver and "
                     "x.driver.is_active()]\n"
                     "        if len(active) != 1:\n            HAS_TRITON = False\n"
                     "    except ImportError:\n        HAS_TRITON = False\n"
                     "class Placeholder(types.ModuleType):\n    def __init__(self):\n"
                     "        super().__init__('triton')\n"
                     "if HAS_TRITON:\n    import triton\n    import triton.language as tl\n"
                     "else:\n    triton = Placeholder()\n    tl = Placeholder()\n");
  write("main.py",
        "import inspect\nfrom compat import HAS_TRITON, triton, tl\n"
        "backend = triton.runtime.driver.active.get_current_target().backend\n"
        "known = 'cache_results' in inspect.signature(triton.autotune).parameters\n"
        "import torch\n"
        "result = [HAS_TRITON, triton.cdiv(5, 2), tl.float32.primitive_bitwidth, backend,"
        " known]\n");
  EXPECT_EQ(resultOf("main.py", readingKernels()), "[True, 3, 32, 'cpu', True]");
}

/// A probe that cannot be answered takes the way that the author wrote for where it fails.
TEST_F(Import, ARefusedProbeTakesItsHandler) {
  write("main.py", "import torch\ntry:\n"
                   "    wide = torch.cuda.get_device_properties(0).total_memory > 10\n"
                   "except ImportError:\n    wide = 'unknown'\nresult = wide\n");
  EXPECT_EQ(resultOf("main.py", readingKernels()), "'unknown'");
  EXPECT_THROW(resultOf("main.py"), DiagnosticError);
}

/// Files of Triton's own package get the Triton that is here.
TEST_F(Import, FilesOfTritonItself) {
  write("triton/__init__.py", "from .runtime import jit\nraise ValueError('its compiler')\n");
  write("triton/runtime/__init__.py", "def jit(f):\n    return 'its own'\n");
  write("triton/ops/__init__.py", "");
  write("triton/ops/sums.py",
        "from .. import cdiv, jit\nfrom .. import language as tl\n"
        "from ..language.core import int8\nfrom ..runtime.jit import jit as j\n"
        "@jit\ndef k(x):\n    pass\n"
        "result = [cdiv(7, 2), tl.float32.primitive_bitwidth, int8.int_bitwidth,"
        " j is jit, repr(k)]\n");
  EXPECT_EQ(resultOf("triton/ops/sums.py", readingKernels()), "[4, 32, 8, True, 'JITFunction(k)']");
}

/// Triton keeps the names that projects re-export it by where the module that does so is missing.
TEST_F(Import, TritonOfAMissingModule) {
  write("main.py", "from some_engine.triton_utils import HAS_TRITON, tl, triton\n"
                   "result = [HAS_TRITON, triton.cdiv(7, 2), tl.int8.int_bitwidth,"
                   " tl.uint64.is_uint64()]\n");
  EXPECT_EQ(resultOf("main.py", readingKernels()), "[True, 4, 8, True]");
}

/// Tables of configs lie beside the source; nothing else on the machine decides what is compiled.
TEST_F(Import, DataBesideTheSource) {
  write("configs.json",
        "{\"mm\": [{\"BLOCK\": 64, \"scale\": 2.5e0, \"even\": true, \"next\": null}],"
        " \"e\": {}}");
  write(
      "configs.yaml",
      "# tuned\nmm:\n  - META:\n      TILE_M: 32   # rows\n      name: 'a: b'\n    warps: [4, 8]\n"
      "  - {META: {TILE_M: 64}, fast: false}\nempty:\nlast: 1.5\n");
  write("main.py", "import collections, json, os, yaml\nhere = os.path.dirname(__file__)\n"
                   "with open(os.path.join(here, 'configs.json')) as f:\n    table = json.load(f)\n"
                   "with open(os.path.join(here, 'configs.yaml'), 'r', encoding='utf-8') as f:\n"
                   "    tuned = yaml.safe_load(f)\n"
                   "result = [table, tuned, os.path.exists('/etc/passwd'), os.path.isfile(here + "
                   "'/main.py')]\n");
  EXPECT_EQ(resultOf("main.py"),
            "[{'mm': [{'BLOCK': 64, 'scale': 2.5, 'even': True, 'next': None}], 'e': {}}, "
            "{'mm': [{'META': {'TILE_M': 32, 'name': 'a: b'}, 'warps': [4, 8]}, "
            "{'META': {'TILE_M': 64}, 'fast': False}], 'empty': None, 'last': 1.5}, False, True]");
  write("outside.py", "result = open('/etc/passwd').read()\n");
  EXPECT_THROW(resultOf("outside.py"), DiagnosticError);
  for (const char *text : {"[1, 2", "{1: }x", "[[[", "{'a' 1}", "[1] 2", "nothing"}) {
    write("broken.py",
          "import json\ntry:\n    json.loads(\"" + std::string(text) +
              "\")\n    result = 'read'\nexcept ValueError:\n    result = 'refused'\n");
    EXPECT_EQ(resultOf("broken.py"), "'refused'") << text;
  }
}

} // namespace
} // namespace pellucid::host
