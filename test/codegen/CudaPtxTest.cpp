// SPDX-License-Identifier: Apache-2.0
// Kernels of every kind become PTX that ptxas takes, for each compute capability.
#include "codegen/cuda/CompileCudaKernel.h"

#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

std::string fileText(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The PTX, or "error: …". `arch` is 80, 90 or 90a.
std::string ptxOf(const std::string &ttir, const std::string &symbol, const std::string &arch,
                  uint32_t warps = 4, uint32_t stages = 3) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  Diagnostics diagnostics;
  CompiledPtx compiled;
  CudaKernelOptions options{.sm = arch == "80" ? 80u : 90u,
                            .numWarps = warps,
                            .numStages = stages,
                            .thisGenerationOnly = arch == "90a",
                            .tensorCopies = true};
  auto module = tt::parseTtir(ttir, &context, diagnostics, symbol + ".ttir");
  if (!module || !tt::runKernelPipeline(*module, diagnostics) ||
      !compileCudaKernel(*module, symbol, options, compiled, diagnostics))
    return "error: " + diagnostics.text();
  return compiled.ptx;
}

/// The first kernel's name.
std::string symbolIn(const std::string &ttir) {
  size_t begin = ttir.find("tt.func public @") + 16;
  return ttir.substr(begin, ttir.find('(', begin) - begin);
}

/// But those that CUDA refuses by name: CudaRefusals.
std::vector<std::string> kernelFiles() {
  std::vector<std::string> paths;
  for (const char *folder : {"ttir", "differential"})
    for (auto &entry : std::filesystem::directory_iterator(std::string(PELLUCID_SOURCE_DIR) +
                                                           "/test/codegen/" + folder))
      if (entry.path().extension() == ".ttir" && entry.path().stem() != "switches")
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// What ptxas says of `ptx`; empty when it takes it.
std::string ptxasRefusal(const std::string &ptx) {
  size_t target = ptx.find(".target ") + 8;
  std::string base =
      (std::filesystem::temp_directory_path() / ("pellucid_ptx_" + std::to_string(::getpid())))
          .string();
  std::ofstream(base + ".ptx") << ptx;
  std::string command = std::string(PELLUCID_PTXAS) +
                        " -arch=" + ptx.substr(target, ptx.find_first_of(",\n", target) - target) +
                        " " + base + ".ptx -o " + base + ".cubin > " + base + ".log 2>&1";
  int status = std::system(command.c_str());
  std::string log = fileText(base + ".log");
  for (const char *suffix : {".ptx", ".cubin", ".log"})
    std::filesystem::remove(base + suffix);
  return status == 0 ? "" : log + "\nexit status " + std::to_string(status);
}

class CudaPtx : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(CudaPtx, IsAcceptedByPtxas) {
  auto [arch, path] = GetParam();
  std::string ttir = fileText(path);
  std::string ptx = ptxOf(ttir, symbolIn(ttir), arch);
  ASSERT_EQ(ptx.substr(0, 7), "//\n// G") << ptx;
  bool byGroups = ptx.find("wgmma") != std::string::npos;
  bool isOfGeneration = byGroups || ptx.find(".target sm_90a") != std::string::npos;
  EXPECT_NE(ptx.find(arch == "80"     ? ".version 7.0\n.target sm_80"
                     : isOfGeneration ? ".version 8.0\n.target sm_90a"
                                      : ".version 7.8\n.target sm_90"),
            std::string::npos);
  if (!*PELLUCID_PTXAS)
    GTEST_SKIP() << "no ptxas";
  EXPECT_EQ(ptxasRefusal(ptx), "");
}

TEST(CudaRefusals, NameTheOperation) {
  std::string ttir = fileText(PELLUCID_SOURCE_DIR "/test/codegen/differential/switches.ttir");
  EXPECT_NE(ptxOf(ttir, "switches", "80").find("'scf.index_switch' is not supported by the CUDA"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaPtx,
                         testing::Combine(testing::Values("80", "90", "90a"),
                                          testing::ValuesIn(kernelFiles())),
                         [](const auto &point) {
                           return "sm_" + std::get<0>(point.param) + "_" +
                                  std::filesystem::path(std::get<1>(point.param)).stem().string();
                         });

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string ptxOfFile(const std::string &name, uint32_t warps) {
  std::string ttir =
      fileText(std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/ttir/" + name + ".ttir");
  return ptxOf(ttir, symbolIn(ttir), "90", warps);
}

//// Adds a product in elements of `type` to memory that is known to be aligned.
std::string atomicSumOf(const std::string &type, const std::string &masked) {
  std::string text = R"(
tt.func public @k(%p: !tt.ptr<T> {tt.divisibility = 16 : i32}, %x: f16, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %pitch = arith.constant dense<64> : tensor<64x1xi32>
  %a = tt.splat %x : f16 -> tensor<64x64xf16>
  %sum = tt.dot %a, %a, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %v = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xT>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %starts = arith.muli %rows, %pitch : tensor<64x1xi32>
  %columns = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %place = arith.addi %s, %c : tensor<64x64xi32>
  %ns = tt.splat %n : i32 -> tensor<64x64xi32>
  %m = arith.cmpi slt, %c, %ns : tensor<64x64xi32>
  %ps = tt.splat %p : !tt.ptr<T> -> tensor<64x64x!tt.ptr<T>>
  %at = tt.addptr %ps, %place : tensor<64x64x!tt.ptr<T>>, tensor<64x64xi32>
  %old = tt.atomic_rmw fadd, relaxed, gpu, %at, %vMASK : (tensor<64x64x!tt.ptr<T>>, tensor<64x64xT>KIND) -> tensor<64x64xT>
  tt.return
}
)";
  auto put = [&](const std::string &name, const std::string &what) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.replace(at, name.size(), what);
  };
  put("MASK", masked.empty() ? "" : ", %m");
  put("KIND", masked.empty() ? "" : ", tensor<64x64xi1>");
  put("<T>", "<" + type + ">");
  put("xT>", "x" + type + ">");
  return text;
}

// Where a mask may end between two neighbours, each is added by itself.
TEST(CudaAtomics, NeighboursAreAddedInPairs) {
  EXPECT_EQ(countOf(ptxOf(atomicSumOf("f16", ""), "k", "90"), "add.noftz.f16x2"), 16u);
  EXPECT_EQ(countOf(ptxOf(atomicSumOf("bf16", ""), "k", "90"), "add.noftz.bf16x2"), 16u);
  EXPECT_EQ(countOf(ptxOf(atomicSumOf("f16", "masked"), "k", "90"), "red.relaxed"), 0u);
  EXPECT_EQ(countOf(ptxOf(atomicSumOf("bf16", ""), "k", "80"), "red.relaxed"), 0u);
}

/// The text of a kernel that adds up a line of so many f32.
static std::string sumOfLine(const std::string &count) {
  std::string line = "tensor<" + count + "x";
  return ptxOf("tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {\n"
               "  %i = tt.make_range {start = 0 : i32, end = " +
                   count + " : i32} : " + line + "i32>\n  %xs = tt.splat %x : !tt.ptr<f32> -> " +
                   line + "!tt.ptr<f32>>\n  %p = tt.addptr %xs, %i : " + line + "!tt.ptr<f32>>, " +
                   line + "i32>\n  %v = tt.load %p : " + line +
                   "!tt.ptr<f32>>\n  %s = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
                   "  ^bb0(%a: f32, %b: f32):\n    %c = arith.addf %a, %b : f32\n"
                   "    tt.reduce.return %c : f32\n  }) : (" +
                   line + "f32>) -> f32\n  tt.store %y, %s : !tt.ptr<f32>\n  tt.return\n}\n",
               "k", "90");
}

// Where a tile alone is more than a thread's registers, no other block is asked for beside it.
TEST(CudaRegisters, LongTilesHaveAllOfThem) {
  EXPECT_EQ(countOf(sumOfLine("65536"), ".minnctapersm 1\n"), 1u);
  EXPECT_EQ(countOf(sumOfLine("16384"), ".minnctapersm"), 0u);
}

// A loop of known rounds runs four of them side by side where its body is short.
TEST(CudaLoops, ShortRoundsSideBySide) {
  auto loopTo = [](const std::string &end) {
    return ptxOf("tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n"
                 "  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n"
                 "  %end = arith.constant " +
                     end +
                     " : i32\n  scf.for %i = %zero to %end step %one : i32 {\n"
                     "    %at = tt.addptr %p, %i : !tt.ptr<f32>, i32\n"
                     "    %x = tt.load %at : !tt.ptr<f32>\n"
                     "    %y = arith.addf %x, %x : f32\n"
                     "    tt.store %at, %y : !tt.ptr<f32>\n  }\n  tt.return\n}\n",
                 "k", "90");
  };
  EXPECT_EQ(countOf(loopTo("64"), "add.f32") + countOf(loopTo("64"), "add.rn.f32"), 4u);
  EXPECT_EQ(countOf(loopTo("63"), "add.f32") + countOf(loopTo("63"), "add.rn.f32"), 1u);
}

// ptxas unrolls loops that count to their end and no others.
TEST(CudaLoops, EndWhereTheIndexIsTheEnd) {
  auto loopBy = [](const std::string &step) {
    return ptxOf("tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %s: i32) {\n"
                 "  %zero = arith.constant 0 : i32\n"
                 "  %four = arith.constant 4 : i32\n"
                 "  scf.for %i = %zero to %n step " +
                     step +
                     " : i32 {\n"
                     "    %at = tt.addptr %p, %i : !tt.ptr<f32>, i32\n"
                     "    %x = tt.load %at : !tt.ptr<f32>\n"
                     "    %y = arith.addf %x, %x : f32\n"
                     "    tt.store %at, %y : !tt.ptr<f32>\n"
                     "  }\n"
                     "  tt.return\n"
                     "}\n",
                 "k", "90");
  };
  std::string known = loopBy("%four"), unknown = loopBy("%s");
  EXPECT_GT(countOf(known, "setp.ne.b32") + countOf(known, "setp.eq.b32"),
            countOf(unknown, "setp.ne.b32") + countOf(unknown, "setp.eq.b32"));
  EXPECT_EQ(countOf(known, "setp.gt.u32") + countOf(known, "setp.lt.u32"), 0);
}

// 1024 f32 on 128 threads: two accesses of 16 bytes per thread and operand, and single ones behind
/// the mask.
TEST(CudaVectors, SixteenBytesPerAccess) {
  std::string ptx = ptxOfFile("add", 4);
  EXPECT_EQ(countOf(ptx, "ld.global.v4.b32"), 4) << ptx;
  EXPECT_EQ(countOf(ptx, "st.global.v4.b32"), 2) << ptx;
  EXPECT_EQ(countOf(ptx, "ld.global.b32"), 16) << ptx;
  EXPECT_EQ(countOf(ptx, "ld.param.b64"), 3) << "the scratch pointers are not read";
}

/// Eight bf16 are one access, rounded two by two; behind the mask each is rounded by itself.
TEST(CudaVectors, NarrowElementsShareAnAccess) {
  std::string ptx = ptxOfFile("silu_bf16", 4);
  EXPECT_EQ(countOf(ptx, "ld.global.v4.b32"), 1) << ptx;
  EXPECT_EQ(countOf(ptx, "st.global.v4.b32"), 1) << ptx;
  EXPECT_EQ(countOf(ptx, "ex2.approx.ftz.f32"), 8) << ptx;
  EXPECT_EQ(countOf(ptx, "cvt.rn.bf16x2.f32"), 4 + 8) << ptx;
  EXPECT_EQ(countOf(ptx, "cvt.rn.bf16.f32"), 0) << "runs on the special function unit";
}

/// A softmax of rows of up to 4096 on 8 warps.
std::string ptxOfLongRows(const std::string &name) {
  std::string ttir =
      fileText(std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/ttir/" + name + ".ttir");
  for (size_t at = ttir.find("256"); at != std::string::npos; at = ttir.find("256", at))
    ttir.replace(at, 3, "4096");
  return ptxOf(ttir, symbolIn(ttir), "90", 8);
}

/// A launch may be queued ahead of its turn, so that nothing is read or written before it waited;
/// devices that know no such launches have none.
TEST(CudaLaunches, NothingIsTouchedBeforeTheLaunchAheadHasEnded) {
  std::string ptx = ptxOfLongRows("softmax");
  EXPECT_EQ(countOf(ptx, "griddepcontrol.wait"), 1);
  EXPECT_LT(ptx.find("griddepcontrol.launch_dependents"), ptx.find("griddepcontrol.wait"));
  EXPECT_LT(ptx.find("griddepcontrol.wait"), ptx.find("ld.global"));
  EXPECT_EQ(countOf(ptxOfFile("add", 4), "griddepcontrol"), 0) << "its blocks are over at once";
  std::string ttir = fileText(std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/ttir/softmax.ttir");
  EXPECT_EQ(countOf(ptxOf(ttir, symbolIn(ttir), "80", 4), "griddepcontrol"), 0);
}

/// A mask that ends at a vector's border keeps the vectors: each is loaded or left out whole.
TEST(CudaVectors, WholeVectorsAreMasked) {
  std::string ptx = ptxOfLongRows("softmax_bf16");
  EXPECT_EQ(countOf(ptx, " ld.global.v4.b32 {"), countOf(ptx, "st.global.v4.b32")) << ptx;
  EXPECT_GE(countOf(ptx, " ld.global.v4.b32 {"), 1u);
}

/// Each reduction has a place of its own in shared memory, so that one barrier each is enough, and
/// the parts of the warps are read together.
TEST(CudaReductions, OneBarrierEach) {
  std::string ptx = ptxOfLongRows("softmax_bf16");
  EXPECT_EQ(countOf(ptx, "bar.sync"), 2u) << ptx;
  EXPECT_EQ(countOf(ptx, "ld.shared.v4.b32"), 4u) << ptx;
  EXPECT_EQ(countOf(ptx, "ld.shared.b32"), 0u) << ptx;
}

/// What ends in bf16 needs no exponential of f32 grade, also behind a sum.
TEST(CudaNumerics, ExponentialsOfNarrowResultsAreShort) {
  EXPECT_EQ(countOf(ptxOfLongRows("softmax_bf16"), "fma.rn.sat.f32"), 0u);
  EXPECT_GT(countOf(ptxOfLongRows("softmax"), "fma.rn.sat.f32"), 0u);
}

/// Where ptxas need not scale around it: weights that are added up and multiplied, and the parts
/// that other exponentials are made of. What is stored keeps results below 2^-126.
TEST(CudaNumerics, ExponentialsTakeOneInstruction) {
  std::string head = "tt.func public @k(%p: !tt.ptr<f32>) {\n"
                     "  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>\n"
                     "  %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>\n"
                     "  %q = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>\n"
                     "  %x = tt.load %q : tensor<128x!tt.ptr<f32>>\n"
                     "  %e = math.exp2 %x : tensor<128xf32>\n";
  std::string sum = "  %t = \"tt.reduce\"(%e) <{axis = 0 : i32}> ({\n"
                    "  ^bb0(%a: f32, %b: f32):\n"
                    "    %c = arith.addf %a, %b : f32\n"
                    "    tt.reduce.return %c : f32\n"
                    "  }) : (tensor<128xf32>) -> f32\n"
                    "  tt.store %p, %t : !tt.ptr<f32>\n  tt.return\n}\n";
  std::string store = "  tt.store %q, %e : tensor<128x!tt.ptr<f32>>\n  tt.return\n}\n";
  EXPECT_GT(countOf(ptxOf(head + sum, "k", "90"), "ex2.approx.ftz.f32"), 0u);
  EXPECT_EQ(countOf(ptxOf(head + store, "k", "90"), "ex2.approx.ftz.f32"), 0u);
  EXPECT_GT(countOf(ptxOf(head + store, "k", "90"), "ex2.approx.f32"), 0u);
  EXPECT_EQ(countOf(ptxOfLongRows("softmax"), "ex2.approx.f32"), 0u);
}

/// A kernel of 256 elements a program, two to a thread, between `%x` and a store of `%z`.
std::string elementwise(const std::string &from, const std::string &to, const std::string &body) {
  auto pointer = [](const std::string &name, const std::string &type) {
    std::string tile = "tensor<256x!tt.ptr<" + type + ">>";
    return "  %" + name + "s = tt.splat %" + name + " : !tt.ptr<" + type + "> -> " + tile +
           "\n  %" + name + "q = tt.addptr %" + name + "s, %r : " + tile + ", tensor<256xi32>\n";
  };
  return "tt.func public @k(%p: !tt.ptr<" + from + "> {tt.divisibility = 16 : i32}, %o: !tt.ptr<" +
         to +
         "> {tt.divisibility = 16 : i32}) {\n"
         "  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>\n" +
         pointer("p", from) + pointer("o", to) + "  %x = tt.load %pq : tensor<256x!tt.ptr<" + from +
         ">>\n" + body + "  tt.store %oq, %z : tensor<256x!tt.ptr<" + to + ">>\n  tt.return\n}\n";
}

/// A sigmoid that ends in 16 bits is divided without scaling: its divisor is not below one. The
/// same divisor of f32 grade, and one that may be small, keep the whole division.
TEST(CudaNumerics, DivisorsOfOneOrMoreAreNotScaled) {
  auto divided = [](const std::string &type, const std::string &constant) {
    std::string wide = "tensor<256xf32>", narrow = "tensor<256x" + type + ">";
    std::string widened = type == "f32" ? "  %w = arith.negf %x : " + wide + "\n"
                                        : "  %w = arith.extf %x : " + narrow + " to " + wide + "\n";
    return ptxOf(
        elementwise(type, type,
                    widened + "  %e = math.exp %w : " + wide + "\n  %c = arith.constant dense<" +
                        constant + "> : " + wide + "\n  %d = arith.addf %c, %e : " + wide +
                        "\n  %y = arith.divf %w, %d : " + wide + "\n" +
                        (type == "f32"
                             ? "  %z = arith.negf %y : " + wide + "\n"
                             : "  %z = arith.truncf %y : " + wide + " to " + narrow + "\n")),
        "k", "90");
  };
  EXPECT_EQ(countOf(divided("bf16", "1.0"), "div.full"), 0u) << divided("bf16", "1.0");
  EXPECT_GT(countOf(divided("bf16", "1.0"), "rcp.approx.ftz"), 0u);
  EXPECT_GT(countOf(divided("bf16", "0.5"), "div.full"), 0u);
  EXPECT_GT(countOf(divided("f32", "1.0"), "div.full"), 0u);
}

/// 16-bit arithmetic takes two elements at a time, and is as exact as by way of f32.
TEST(CudaNumerics, HalvesAreComputedInPairs) {
  struct {
    std::string type, body, instruction;
  } cases[] = {{"f16", "%z = arith.mulf %x, %x", "mul.rn.f16x2"},
               {"f16", "%z = arith.subf %x, %x", "sub.rn.f16x2"},
               {"f16", "%z = arith.maxnumf %x, %two", "max.f16x2"},
               {"f16", "%z = arith.minimumf %x, %two", "min.NaN.f16x2"},
               {"bf16", "%z = arith.addf %x, %x", "fma.rn.bf16x2"},
               {"bf16", "%z = arith.mulf %x, %x", "fma.rn.bf16x2"}};
  for (const auto &one : cases) {
    std::string ptx =
        ptxOf(elementwise(one.type, one.type,
                          "  %two = arith.constant dense<2.0> : tensor<256x" + one.type + ">\n  " +
                              one.body + " : tensor<256x" + one.type + ">\n"),
              "k", "80");
    EXPECT_EQ(countOf(ptx, one.instruction), 1u) << ptx;
    EXPECT_EQ(countOf(ptx, ".f32"), 0u) << ptx;
  }
  std::string absolute =
      ptxOf(elementwise("f16", "f16", "  %z = math.absf %x : tensor<256xf16>\n"), "k", "80");
  EXPECT_EQ(countOf(absolute, ".f32"), 0u) << absolute;
}

/// The conversion saturates by itself.
TEST(CudaNumerics, FloatsBecomeBytesByOneInstruction) {
  std::string ptx = ptxOf(
      elementwise("f32", "i8", "  %z = arith.fptosi %x : tensor<256xf32> to tensor<256xi8>\n"), "k",
      "80");
  EXPECT_EQ(countOf(ptx, "cvt.rzi.s8.f32"), 2u) << ptx;
  EXPECT_EQ(countOf(ptx, "min.f32") + countOf(ptx, "selp"), 0u) << ptx;
  if (*PELLUCID_PTXAS)
    EXPECT_EQ(ptxasRefusal(ptx), "");
}

/// Two elements a thread: one comparison for the minimum and the maximum of each.
TEST(CudaNumerics, MinimaAndMaximaShareTheirComparison) {
  for (std::string sign : {"s", "u"}) {
    std::string ptx =
        ptxOf(elementwise("i64", "i64",
                          "  %two = arith.constant dense<2> : tensor<256xi64>\n"
                          "  %small = arith.min" +
                              sign +
                              "i %x, %two : tensor<256xi64>\n"
                              "  %large = arith.max" +
                              sign +
                              "i %two, %x : tensor<256xi64>\n"
                              "  %square = arith.muli %large, %large : tensor<256xi64>\n"
                              "  %z = arith.xori %square, %small : tensor<256xi64>\n"),
              "k", "80");
    EXPECT_EQ(countOf(ptx, "min." + sign + "64") + countOf(ptx, "max." + sign + "64"), 0u) << ptx;
    EXPECT_EQ(countOf(ptx, "setp.") - countOf(ptx, "setp.lt.s32"), 2u) << ptx;
    EXPECT_EQ(countOf(ptx, "selp.b64"), 4u) << ptx;
    if (*PELLUCID_PTXAS)
      EXPECT_EQ(ptxasRefusal(ptx), "");
  }
}

/// What libdevice calls fast is one or two instructions, without the branch of a whole division.
TEST(CudaNumerics, FastFunctionsOfTheLibraryAreShort) {
  auto called = [](const std::string &symbol, bool isBinary) {
    std::string wide = "tensor<256xf32>";
    return ptxOf(
        elementwise("f32", "f32",
                    "  %z = tt.extern_elementwise %x" + std::string(isBinary ? ", %x" : "") +
                        " {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_fast_" +
                        symbol + "\"} : (" + wide + (isBinary ? ", " + wide : "") + ") -> " + wide +
                        "\n"),
        "k", "90");
  };
  EXPECT_EQ(countOf(called("fdividef", true), "div.approx.ftz.f32"), 2u);
  EXPECT_EQ(countOf(called("expf", false), "ex2.approx.ftz.f32"), 2u);
  EXPECT_EQ(countOf(called("logf", false), "lg2.approx.ftz.f32"), 2u);
  EXPECT_EQ(countOf(called("powf", true), "ex2.approx.ftz.f32"), 2u);
  EXPECT_EQ(countOf(called("tanf", false), "sin.approx.ftz.f32"), 2u);
}

/// Integers become 16-bit floats without doubles, and rounded once.
TEST(CudaNumerics, IntegersBecomeNarrowFloatsWithoutDoubles) {
  auto converted = [](const std::string &from, const std::string &to, const std::string &op) {
    std::string ptx = ptxOf(elementwise(from, to,
                                        "  %z = arith." + op + " %x : tensor<256x" + from +
                                            "> to tensor<256x" + to + ">\n"),
                            "k", "80");
    EXPECT_EQ(countOf(ptx, ".f64"), 0u) << ptx;
    if (*PELLUCID_PTXAS)
      EXPECT_EQ(ptxasRefusal(ptx), "");
    return ptx;
  };
  EXPECT_EQ(countOf(converted("i32", "f16", "sitofp"), "cvt.rn.f16.s32"), 2u);
  EXPECT_EQ(countOf(converted("i64", "f16", "uitofp"), "cvt.rn.f16.u64"), 2u);
  EXPECT_EQ(countOf(converted("i32", "bf16", "sitofp"), "cvt.rz.f32.s32"), 2u);
  EXPECT_EQ(countOf(converted("i64", "bf16", "uitofp"), "cvt.rz.f32.u64"), 2u);
  std::string few =
      ptxOf(elementwise("i32", "f16",
                        "  %m = arith.constant dense<15> : tensor<256xi32>\n"
                        "  %a = arith.andi %x, %m : tensor<256xi32>\n"
                        "  %d = arith.subi %a, %m : tensor<256xi32>\n"
                        "  %z = arith.sitofp %d : tensor<256xi32> to tensor<256xf16>\n"),
            "k", "90");
  EXPECT_EQ(countOf(few, "cvt.rn.f32.s32"), 2u) << few; // all digits fit
  EXPECT_EQ(countOf(few, "cvt.rn.f16.s32"), 0u) << few;
}

/// A division in what combines is as short as one of tiles.
TEST(CudaNumerics, DivisionsInReductionsAreNotScaled) {
  std::string ptx =
      ptxOf(elementwise("f32", "f32",
                        "  %t = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n"
                        "  ^bb0(%a: f32, %b: f32):\n    %c = arith.divf %a, %b : f32\n"
                        "    tt.reduce.return %c : f32\n  }) : (tensor<256xf32>) -> f32\n"
                        "  %z = tt.splat %t : f32 -> tensor<256xf32>\n"),
            "k", "90");
  EXPECT_NE(countOf(ptx, "div.full.f32"), 0u) << ptx;
  EXPECT_EQ(countOf(ptx, "div.rn.f32"), 0u) << ptx;
}

/// Weights of a running maximum that a loop adds up are short; what is stored is not.
TEST(CudaNumerics, WeightsOfRunningMaximaAreShort) {
  auto kernel = [](bool stores) {
    return "tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n"
           "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n"
           "  %low = arith.constant 0xFF800000 : f32\n  %zero = arith.constant 0.0 : f32\n"
           "  %m, %s = scf.for %i = %c0 to %n step %c1 iter_args(%m0 = %low, %s0 = %zero) -> (f32, "
           "f32) : i32 {\n"
           "    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32\n"
           "    %x = tt.load %q : !tt.ptr<f32>\n"
           "    %m1 = arith.maxnumf %m0, %x : f32\n"
           "    %d = arith.subf %m0, %m1 : f32\n    %w = math.exp %d : f32\n"
           "    %t = arith.mulf %s0, %w : f32\n    %s1 = arith.addf %t, %x : f32\n" +
           std::string(stores ? "    tt.store %q, %w : !tt.ptr<f32>\n" : "") +
           "    scf.yield %m1, %s1 : f32, f32\n  }\n"
           "  tt.store %p, %s : !tt.ptr<f32>\n  tt.return\n}\n";
  };
  EXPECT_EQ(countOf(ptxOf(kernel(false), "k", "90"), "fma.rn.sat.f32"), 0u);
  EXPECT_EQ(countOf(ptxOf(kernel(true), "k", "90"), "fma.rn.sat.f32"), 1u);
}

/// A thread knows which of its own elements comes first: of 32 that it looks for the largest one
/// in, places are compared between lanes and warps alone.
TEST(CudaReductions, PlacesOfAThreadAreNotCompared) {
  std::string text = elementwise(
      "f32", "f32",
      "  %t:2 = \"tt.reduce\"(%x, %r) <{axis = 0 : i32}> ({\n"
      "  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):\n    %e = arith.cmpf oeq, %a, %b : f32\n"
      "    %l = arith.cmpi slt, %ai, %bi : i32\n    %n = arith.andi %e, %l : i1\n"
      "    %g = arith.cmpf ogt, %a, %b : f32\n    %c = arith.ori %g, %n : i1\n"
      "    %v = arith.select %c, %a, %b : f32\n    %w = arith.select %c, %ai, %bi : i32\n"
      "    tt.reduce.return %v, %w : f32, i32\n"
      "  }) : (tensor<256xf32>, tensor<256xi32>) -> (f32, i32)\n"
      "  %u = arith.sitofp %t#1 : i32 to f32\n  %z = tt.splat %u : f32 -> tensor<256xf32>\n");
  for (size_t at = text.find("256"); at != std::string::npos; at = text.find("256", at))
    text.replace(at, 3, "4096");
  std::string ptx = ptxOf(text, "k", "90");
  EXPECT_NE(countOf(ptx, "setp.lt.s32"), 0u) << ptx;
  EXPECT_LT(countOf(ptx, "setp.lt.s32"), 20u) << ptx;
}

/// A product's sums that are an operand of the next one are put down by whole matrices, where the
/// device has an instruction for it; across the rows of memory as well.
TEST(CudaMatrixMoves, SumsArePutDownByWholeMatrices) {
  auto kernel = [](bool transposed) {
    std::string tile = "tensor<32x32x", h = tile + "f16>", f = tile + "f32>";
    std::string operand = transposed ? "%t" : "%h";
    return "tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> "
           "{tt.divisibility = 16 : i32}) {\n"
           "  %zero = arith.constant dense<0.0> : " +
           f +
           "\n  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>\n"
           "  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>\n"
           "  %s32 = arith.constant dense<32> : tensor<32x1xi32>\n"
           "  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>\n"
           "  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>\n"
           "  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>\n"
           "  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>\n"
           "  %off = arith.addi %r3, %k2 : tensor<32x32xi32>\n"
           "  %xs = tt.splat %x : !tt.ptr<f16> -> " +
           tile + "!tt.ptr<f16>>\n  %xp = tt.addptr %xs, %off : " + tile +
           "!tt.ptr<f16>>, tensor<32x32xi32>\n  %a = tt.load %xp : " + tile +
           "!tt.ptr<f16>>\n  %d = tt.dot %a, %a, %zero : " + h + " * " + h + " -> " + f +
           "\n  %h = arith.truncf %d : " + f + " to " + h +
           "\n  %t = tt.trans %h {order = array<i32: 1, 0>} : " + h + " -> " + h +
           "\n  %e = tt.dot %a, " + operand + ", %zero : " + h + " * " + h + " -> " + f +
           "\n  %ys = tt.splat %y : !tt.ptr<f32> -> " + tile +
           "!tt.ptr<f32>>\n  %yp = tt.addptr %ys, %off : " + tile +
           "!tt.ptr<f32>>, tensor<32x32xi32>\n  tt.store %yp, %e : " + tile +
           "!tt.ptr<f32>>\n  tt.return\n}\n";
  };
  for (bool transposed : {false, true}) {
    std::string ptx = ptxOf(kernel(transposed), "k", "90");
    EXPECT_EQ(countOf(ptx, "stmatrix.sync.aligned.m8n8.x4"), 1u) << ptx;
    EXPECT_EQ(countOf(ptxOf(kernel(transposed), "k", "80"), "stmatrix"), 0u);
    if (*PELLUCID_PTXAS)
      EXPECT_EQ(ptxasRefusal(ptx), "");
  }
}

/// Of hundreds of elements in a thread each is computed right before it is stored; shorter blocks
/// are left to ptxas.
TEST(CudaOrder, LongBlocksAreOrderedByUse) {
  auto kernel = [](const std::string &size) {
    std::string text = elementwise("f32", "f32",
                                   "  %e = math.exp %x : tensor<256xf32>\n"
                                   "  %z = arith.addf %e, %x : tensor<256xf32>\n");
    for (size_t at = text.find("256"); at != std::string::npos; at = text.find("256", at))
      text.replace(at, 3, size), at += size.size();
    return ptxOf(text, "k", "90");
  };
  std::string large = kernel("65536"), small = kernel("4096");
  EXPECT_LT(large.find("st.global"), large.rfind("ex2.approx"));
  EXPECT_GT(small.find("st.global"), small.rfind("ex2.approx"));
  EXPECT_LT(large.rfind("ld.global"), large.find("ex2.approx")); // still ahead of their use
}

/// The parts of many warps are combined by lanes: a load and a shuffle for each halving.
TEST(CudaReductions, PartsOfManyWarpsAreCombinedByLanes) {
  auto shuffles = [](uint32_t warps) {
    std::string ttir = fileText(PELLUCID_SOURCE_DIR "/test/codegen/ttir/softmax.ttir");
    for (size_t at = ttir.find("256"); at != std::string::npos; at = ttir.find("256", at))
      ttir.replace(at, 3, "4096");
    std::string ptx = ptxOf(ttir, symbolIn(ttir), "90", warps);
    return std::pair(countOf(ptx, "shfl.sync.bfly"), countOf(ptx, "ld.shared.b32"));
  };
  EXPECT_EQ(shuffles(32), std::pair(size_t(20), size_t(2)));
  EXPECT_EQ(shuffles(16), std::pair(size_t(18), size_t(2)));
  EXPECT_EQ(shuffles(8).first, 2 * 5u);
}

/// Text of the kernel's own gets as many elements at once as it asks for, packed into its
/// registers.
TEST(CudaInlineAssembly, TakesPackedElements) {
  std::string pairs = "  %z = tt.elementwise_inline_asm \"add.f16x2 $0, $1, $1;\" {constraints = "
                      "\"=r,r\", packed_element = 2 : i32, pure = true} %x : tensor<256xf16> -> "
                      "tensor<256xf16>\n";
  std::string ptx = ptxOf(elementwise("f16", "f16", pairs), "k", "80");
  EXPECT_EQ(countOf(ptx, "add.f16x2 "), 1u) << ptx;
  std::string singles =
      "  %z = tt.elementwise_inline_asm \"ex2.approx.f32 $0, $1;\" {constraints = "
      "\"=f,f\", packed_element = 1 : i32, pure = false} %x : tensor<256xf32> -> "
      "tensor<256xf32>\n";
  ptx = ptxOf(elementwise("f32", "f32", singles), "k", "80");
  EXPECT_EQ(countOf(ptx, "ex2.approx.f32 "), 2u) << ptx;
  if (*PELLUCID_PTXAS)
    EXPECT_EQ(ptxasRefusal(ptx), "");
}

/// A number that the text holds itself.
TEST(CudaInlineAssembly, TakesNumbersThatAreKnown) {
  auto kernel = [](const std::string &argument) {
    return elementwise("i32", "i32",
                       "  %n = arith.constant dense<252> : tensor<256xi32>\n"
                       "  %z = tt.elementwise_inline_asm \"lop3.b32 $0, $1, 15, 7, $2;\" "
                       "{constraints = \"=r,r,n\", "
                       "packed_element = 1 : i32, pure = true} %x, " +
                           argument + " : tensor<256xi32>, tensor<256xi32> -> tensor<256xi32>\n");
  };
  std::string ptx = ptxOf(kernel("%n"), "k", "80");
  EXPECT_EQ(countOf(ptx, ", 15, 7, 252;"), 2u) << ptx;
  if (*PELLUCID_PTXAS)
    EXPECT_EQ(ptxasRefusal(ptx), "");
  std::string refused = ptxOf(kernel("%x"), "k", "80");
  EXPECT_NE(refused.find("'n' wants a number that is known now"), std::string::npos) << refused;
}

TEST(CudaInlineAssembly, RefusesWhatDoesNotFit) {
  auto refusal = [](const std::string &constraints, int pack) {
    std::string body = "  %z = tt.elementwise_inline_asm \"mov.b32 $0, $1;\" {constraints = \"" +
                       constraints + "\", packed_element = " + std::to_string(pack) +
                       " : i32, pure = true} %x : tensor<256xf32> -> tensor<256xf32>\n";
    return ptxOf(elementwise("f32", "f32", body), "k", "80");
  };
  EXPECT_NE(refusal("=r,r", 2).find("constraints for 1 results, but its results take 2 registers"),
            std::string::npos)
      << refusal("=r,r", 2);
  EXPECT_NE(refusal("=r,x", 1).find("the constraint 'x' is unknown"), std::string::npos);
  EXPECT_NE(refusal("=r,h", 1).find("32 bits whose constraint names a register of 16"),
            std::string::npos);
  EXPECT_NE(refusal("=r,1", 1).find("tied to output 1, which is not there"), std::string::npos);
}

/// A lock that is given free: what was stored before it comes before it, what is loaded behind it
/// comes behind it.
TEST(CudaAtomics, OrderIsKeptByFences) {
  auto lock = [](const char *order) {
    return ptxOf("tt.func public @k(%x: !tt.ptr<f32>, %lock: !tt.ptr<i32>) {\n"
                 "  %a = arith.constant 1.0 : f32\n"
                 "  %zero = arith.constant 0 : i32\n"
                 "  %true = arith.constant true\n"
                 "  tt.store %x, %a : !tt.ptr<f32>\n"
                 "  %old = tt.atomic_rmw exch, " +
                     std::string(order) +
                     ", gpu, %lock, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                     "  tt.return\n}\n",
                 "k", "80");
  };
  auto placesOf = [](const std::string &ptx) {
    size_t atomic = ptx.find("atom.");
    return std::pair{ptx.rfind("fence.acq_rel.gpu", atomic) != std::string::npos,
                     ptx.find("fence.acq_rel.gpu", atomic) != std::string::npos};
  };
  EXPECT_EQ(placesOf(lock("acq_rel")), std::pair(true, true)) << lock("acq_rel");
  EXPECT_EQ(placesOf(lock("release")), std::pair(true, false)) << lock("release");
  EXPECT_EQ(placesOf(lock("acquire")), std::pair(false, true)) << lock("acquire");
  EXPECT_EQ(countOf(lock("relaxed"), "fence."), 0u);
}

/// A load that another block's store ends a loop by is one of the L2, masked or not.
TEST(CudaVectors, VolatileLoadsAreReadAgain) {
  auto load = [](const char *attributes) {
    return ptxOf("tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %m: i1) {\n"
                 "  %a = tt.load %x " +
                     std::string(attributes) +
                     " : !tt.ptr<i32>\n"
                     "  %b = tt.load %x, %m " +
                     attributes +
                     " : !tt.ptr<i32>\n"
                     "  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>\n"
                     "  %s = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>\n"
                     "  %p = tt.addptr %s, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>\n"
                     "  %c = tt.load %p " +
                     attributes +
                     " : tensor<512x!tt.ptr<i32>>\n"
                     "  %d = arith.addi %a, %b : i32\n"
                     "  %e = tt.splat %d : i32 -> tensor<512xi32>\n"
                     "  %f = arith.addi %c, %e : tensor<512xi32>\n"
                     "  tt.store %p, %f : tensor<512x!tt.ptr<i32>>\n"
                     "  tt.return\n}\n",
                 "k", "80");
  };
  EXPECT_EQ(countOf(load(""), "ld.volatile.global"), 0u);
  std::string ptx = load("{isVolatile = true}");
  EXPECT_EQ(countOf(ptx, "ld.volatile.global"), 3u) << ptx;
  EXPECT_EQ(countOf(ptx, "ld.volatile.global.v4"), 1u) << ptx;
}

std::string stagedPtx(const std::string &name, const std::string &arch, uint32_t stages) {
  std::string path = std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/differential/";
  return ptxOf(fileText(path + name + ".ttir"), name, arch, 4, stages);
}

/// bf16 products go through the matrix units; f32 ones where tf32 may be taken.
TEST(CudaProducts, NarrowOperandsUseMatrixUnits) {
  std::string ptx = ptxOfFile("matmul_bf16", 4);
  EXPECT_GT(countOf(ptx, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), 0u) << ptx;
  EXPECT_GT(countOf(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 0u);
  // Sums, which neighbouring lanes store where rows may be odd, come to them as words.
  EXPECT_EQ(countOf(ptx, "ld.shared.b16"), 0u);
  EXPECT_GT(countOf(ptxOfFile("matmul_fp32", 4), "mma.sync.aligned.m16n8k8.row.col.f32.tf32"), 0u);
  EXPECT_EQ(countOf(stagedPtx("lanes", "90a", 3), "mma"), 0u) << "f32 is not to lose bits";
}

/// tf32 is read along the inner dim by wgmma; mma.sync reads it either way.
TEST(CudaProducts, SinglesMayBeTruncated) {
  for (const char *name : {"tf32", "tf32_along", "tf32_across"}) {
    bool isAlong = name == std::string("tf32_along");
    EXPECT_EQ(countOf(stagedPtx(name, "90a", 3), "k8.f32.tf32.tf32") > 0, isAlong);
    EXPECT_EQ(countOf(stagedPtx(name, "80", 3), "ldmatrix") > 0, isAlong);
    EXPECT_GT(countOf(stagedPtx(name, "80", 3), "mma.sync.aligned.m16n8k8"), 0u);
  }
  EXPECT_GT(countOf(stagedPtx("tf32_across", "90a", 3), "cp.async.cg.shared.global"), 0u);
}

/// Copies by box round to tf32 by themselves; what copies vectors leaves it to the threads.
TEST(CudaProducts, BoxesRoundSingles) {
  std::string ptx = stagedPtx("tf32_rounded", "90a", 3);
  EXPECT_EQ(countOf(ptx, "cp.async.bulk.tensor.2d"), 3 * 2u);
  EXPECT_EQ(countOf(ptx, "-8192"), 0u) << ptx;
  EXPECT_GT(countOf(ptx, "k8.f32.tf32.tf32"), 0u);
  EXPECT_GT(countOf(stagedPtx("tf32_rounded", "90", 3), "-8192"), 0u);
  EXPECT_GT(countOf(stagedPtx("tf32_rounded", "80", 3), "-8192"), 0u);
}

/// A product's sums lie in registers as a left operand of 16 bits does, and not as one of tf32:
/// that goes through shared memory.
TEST(CudaProducts, SumsAreNoSinglesInRegisters) {
  std::string ptx = stagedPtx("tf32_chained", "90a", 3);
  EXPECT_GE(countOf(ptx, "k8.f32.tf32.tf32"), 2u) << ptx;
  EXPECT_EQ(countOf(ptx, "}, {"), 0u) << ptx;
}

/// fp8 along the inner dim is multiplied as it is; else as f16, to which sm_90 brings two at once.
TEST(CudaProducts, Float8IsMultipliedOrWidened) {
  EXPECT_GT(countOf(stagedPtx("float8_along", "90a", 3), "k32.f32.e4m3.e5m2"), 0u);
  EXPECT_GT(countOf(stagedPtx("float8_along", "90a", 3), "cp.async.cg.shared.global"), 0u);
  std::string across = stagedPtx("float8_across", "90a", 3);
  EXPECT_GT(countOf(across, "k16.f32.f16.f16"), 0u) << across;
  EXPECT_GT(countOf(across, "cvt.rn.f16x2.e5m2x2"), 0u);
  EXPECT_GT(countOf(stagedPtx("float8_along", "80", 3), "mma.sync.aligned.m16n8k16"), 0u);
  std::string path = PELLUCID_SOURCE_DIR "/test/codegen/differential/float8_along.ttir";
  std::string precise = fileText(path);
  precise.replace(precise.find("1073741824"), 10, "32");
  EXPECT_EQ(countOf(ptxOf(precise, "float8_along", "90a"), "e4m3.e5m2"), 0u)
      << "sums are to be precise";
}

/// Both operands are copied two rounds ahead, by 16 bytes, in front of the loop and in it, and each
/// round waits for the oldest copies only. A 64x32 tile is two copies of each of 128 threads.
TEST(CudaStages, LoadsBecomeCopiesAheadOfTheProducts) {
  std::string ptx = stagedPtx("staged", "80", 3);
  EXPECT_EQ(countOf(ptx, "cp.async.cg.shared.global"), 3u * (2 + 2)) << ptx;
  EXPECT_EQ(countOf(ptx, "cp.async.commit_group"), 3u);
  EXPECT_EQ(countOf(ptx, "cp.async.wait_group \t1;"), 1u);
  EXPECT_EQ(countOf(stagedPtx("staged", "80", 4), "cp.async.wait_group \t2;"), 1u);
  EXPECT_EQ(countOf(stagedPtx("staged", "80", 1), "cp.async"), 0u) << "one stage loads in place";
}

// One thread's instruction for each panel of a tile: of two rounds ahead of the loop, and in it.
TEST(CudaStages, TilesOfTensorsAreCopiedByBox) {
  std::string ptx = stagedPtx("boxes", "90a", 3);
  EXPECT_EQ(countOf(ptx, "cp.async.bulk.tensor.3d"), 3 * (1u + 2u));
  EXPECT_EQ(countOf(ptx, "cp.async.cg"), 0u);
  EXPECT_EQ(countOf(ptx, "mbarrier.init"), 3u);
  EXPECT_EQ(countOf(ptx, ".param .align 64 .b8 boxes_param_"), 2u);
  EXPECT_EQ(countOf(stagedPtx("boxes_across", "90a", 3), "cp.async.bulk.tensor.2d"), 3 * 2u);
  EXPECT_EQ(countOf(stagedPtx("boxes_described", "90a", 3), "cp.async.bulk.tensor.2d"), 3 * 3u);
  EXPECT_EQ(countOf(stagedPtx("boxes", "90", 3), "bulk.tensor"), 0u);
}

/// A sum that only grows is awaited a round later; one that is read in its round is not.
TEST(CudaStages, ProductsRunIntoTheNextRound) {
  std::string ptx = stagedPtx("staged", "90a", 3);
  EXPECT_GT(countOf(ptx, "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"), 0u) << ptx;
  EXPECT_EQ(countOf(ptx, "wgmma.wait_group.sync.aligned \t1;"), 1u);
  EXPECT_EQ(countOf(stagedPtx("staged_transposed", "90a", 3), "wgmma.wait_group.sync.aligned \t1;"),
            0u);
}

/// What a product gives and the next one takes as its left operand stays in registers.
TEST(CudaStages, ProbabilitiesStayInRegisters) {
  std::string ptx = stagedPtx("staged_attention", "90a", 2);
  EXPECT_NE(ptx.find("}, {%r"), std::string::npos) << ptx;
}

/// A result that ends in the middle of a loop is awaited in its branch alone, and the next one
/// begins with a product that adds to nothing: the sums are set to zero by no instruction of their
/// own.
TEST(CudaStages, SumsBeginAnewInTheProduct) {
  std::string ptx = stagedPtx("staged_restart", "90a", 3);
  EXPECT_EQ(countOf(ptx, "setp.eq.b32 q,"), 1u) << ptx;
  EXPECT_EQ(countOf(ptx, "wgmma.wait_group.sync.aligned \t1;"), 1u);
  EXPECT_EQ(countOf(ptx, "selp.f32"), 0u);
}

/// f32 is multiplied out of vectors in shared memory, copied ahead: 64x64 sums of 128 threads are 4
/// rows by 8 columns each, so four of k take at most 4 + 8 loads of 16 bytes, and every element of
/// a row that is not aligned is a copy by itself.
TEST(CudaProducts, SinglesAreMultipliedByVectors) {
  for (const char *name : {"lanes", "lanes_transposed"}) {
    std::string ptx = stagedPtx(name, "90", 3);
    EXPECT_GT(countOf(ptx, "ld.shared.v4.b32"), 0u) << ptx;
    EXPECT_EQ(countOf(ptx, "ld.shared.b32"), 0u) << ptx;
    EXPECT_GE(countOf(ptx, "fma.rn.f32"), 20 * countOf(ptx, "ld.shared.v4.b32") / 12) << name;
    EXPECT_GT(countOf(ptx, "cp.async.cg.shared.global"), 0u);
  }
  EXPECT_GT(countOf(stagedPtx("lanes", "90", 3), "cp.async.ca.shared.global"), 0u);
}

/// i8 that lies along the inner dim is multiplied by warpgroups where it was copied to.
TEST(CudaProducts, BytesOfRowsAreMultipliedByWarpgroups) {
  std::string ptx = stagedPtx("staged_bytes", "90a", 3);
  EXPECT_EQ(countOf(ptx, "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8"), 4u) << ptx;
  EXPECT_EQ(countOf(ptx, "mma.sync.aligned"), 0u);
}

/// A failed assertion ends the launch through the driver, which names text, file, line and kernel.
TEST(CudaMessages, AssertionsCallTheDriver) {
  std::string ptx =
      ptxOf(fileText(std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/differential/asserts.ttir"),
            "asserts", "90");
  EXPECT_EQ(countOf(ptx, "__assertfail,"), 2u) << ptx;
}

/// Another thread may have stored what is loaded; a thread's own elements need no barrier.
TEST(CudaOrder, BarriersBetweenThreadsOnly) {
  std::string folder = std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/differential/";
  EXPECT_GE(countOf(ptxOf(fileText(folder + "overlap.ttir"), "overlap", "90"), "bar.sync"), 3u);
  EXPECT_GE(countOf(ptxOf(fileText(folder + "scatter.ttir"), "scatter", "90"), "bar.sync"), 1u);
  EXPECT_EQ(countOf(ptxOf(fileText(folder + "adam.ttir"), "adam", "90"), "bar.sync"), 0u);
}

/// Elements far apart stay single.
TEST(CudaVectors, StridedElementsAreLoadedEachByItself) {
  std::string ptx =
      ptxOf(fileText(std::string(PELLUCID_SOURCE_DIR) + "/test/codegen/differential/strided.ttir"),
            "strided", "90");
  EXPECT_EQ(countOf(ptx, "ld.global.v"), 0) << ptx;
}

} // namespace
