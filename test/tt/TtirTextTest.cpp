// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Pipeline.h"
#include "tt/AccessAnalysis.h"
#include "tt/Corpus.h"
#include "tt/Tt.h"
#include "tt/TtOps.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace pellucid;
using namespace pellucid::tt;

namespace {

struct TtirText : testing::Test {
  MLIRContext context;
  Diagnostics diagnostics;

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    auto module = parseTtir(text, &context, diagnostics);
    EXPECT_TRUE(module) << diagnostics.text();
    return module;
  }

  static size_t countOperations(ModuleOp module) {
    size_t count = 0;
    module.walk([&](Operation *) { ++count; });
    return count;
  }

  static void write(const std::filesystem::path &path, const std::string &text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
};

const std::pair<const char *, TtirVersion> versions[] = {{"3.6", TtirVersion::V3_6},
                                                         {"3.9", TtirVersion::V3_9}};

// What is printed is read again as the same text, in either spelling; printed files are left for
// Triton's own check.
TEST_F(TtirText, CorpusRoundTrips) {
  std::filesystem::path printed = std::filesystem::path(PELLUCID_BINARY_DIR) / "test/printed-ttir";
  for (const auto &[from, fromVersion] : versions) {
    ASSERT_GT(corpus::files(from).size(), 25u);
    for (const auto &path : corpus::files(from)) {
      SCOPED_TRACE(path.string());
      auto module = parse(corpus::read(path));
      ASSERT_TRUE(module);
      for (const auto &[to, toVersion] : versions) {
        std::string once = printTtir(*module, toVersion, /*withLocations=*/true);
        auto again = parse(once);
        ASSERT_TRUE(again);
        EXPECT_EQ(countOperations(*again), countOperations(*module));
        EXPECT_EQ(printTtir(*again, toVersion, /*withLocations=*/true), once);
        write(printed / to / from / path.filename(), once);
      }
    }
  }
}

// Left for pipeline_on_gpu.py, which runs both forms of every kernel.
TEST_F(TtirText, PipelineLeavesPlainKernels) {
  std::filesystem::path printed = std::filesystem::path(PELLUCID_BINARY_DIR) / "test/printed-ttir";
  for (const auto &path : corpus::files("3.6")) {
    SCOPED_TRACE(path.string());
    auto module = parse(corpus::read(path));
    ASSERT_TRUE(module);
    write(printed / "plain" / path.filename(), printTtir(*module));
    ASSERT_TRUE(runKernelPipeline(*module, diagnostics)) << diagnostics.text();
    ASSERT_TRUE(succeeded(verify(*module)));
    EXPECT_EQ(std::distance(module->getOps<FuncOp>().begin(), module->getOps<FuncOp>().end()), 1);
    module->walk([](Operation *op) {
      EXPECT_FALSE(
          (isa<CallOp, MakeTensorPtrOp, AdvanceOp, MakeTensorDescOp, DescriptorLoadOp,
               DescriptorStoreOp, DescriptorGatherOp, DescriptorScatterOp, DescriptorReduceOp>(op)))
          << op->getName().getStringRef().str();
      for (Region &region : op->getRegions())
        EXPECT_TRUE(region.empty() || region.hasOneBlock()) << op->getName().getStringRef().str();
    });
    write(printed / "pipeline" / path.filename(), printTtir(*module));
  }
}

TEST_F(TtirText, PipelineErrorsPointAtTheUsersLine) {
  auto module = parse(R"(
tt.func public @k(%n: i32) {
  tt.call @k(%n) : (i32) -> () loc("kernel.py":4:5)
  tt.return
})");
  ASSERT_TRUE(module);
  EXPECT_FALSE(runKernelPipeline(*module, diagnostics));
  EXPECT_EQ(diagnostics.text(),
            "kernel.py:4:5: error: 'tt.call' op calls 'k' recursively, which a kernel cannot\n");
}

const char *const kernelOf36 = R"(
tt.func public @k(%x: !tt.ptr<f32>, %d: !tt.tensordesc<tensor<4x8xf32>>, %n: i32) {
  %0 = tt.load %x cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : !tt.ptr<f32>
  tt.store %x, %0 evictionPolicy = evict_last : !tt.ptr<f32>
  gpu.barrier
  %1 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<tensor<4x8xf32>> -> tensor<4x8xf32>
  tt.descriptor_store %d[%n, %n], %1 : !tt.tensordesc<tensor<4x8xf32>>, tensor<4x8xf32>
  tt.return
}
)";

const char *const kernelOf39 = R"(
tt.func public @k(%x: !tt.ptr<f32>, %d: !tt.tensordesc<4x8xf32>, %n: i32) {
  %0 = tt.load %x {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>, isVolatile = true} : !tt.ptr<f32>
  tt.store %x, %0 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : !tt.ptr<f32>
  ttg.barrier all
  %1 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  tt.descriptor_store %d[%n, %n], %1 : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>
  tt.return
}
)";

TEST_F(TtirText, BothSpellingsAreOneModule) {
  auto older = parse(kernelOf36), newer = parse(kernelOf39);
  ASSERT_TRUE(older && newer);
  for (const auto &[name, version] : versions)
    EXPECT_EQ(printTtir(*older, version), printTtir(*newer, version)) << name;
}

TEST_F(TtirText, EachVersionIsWrittenInItsSpelling) {
  auto module = parse(kernelOf36);
  std::string older = printTtir(*module, TtirVersion::V3_6),
              newer = printTtir(*module, TtirVersion::V3_9);
  for (const char *piece : {"cacheModifier = cg evictionPolicy = evict_first {isVolatile = true}",
                            "gpu.barrier", "!tt.tensordesc<tensor<4x8xf32>>"})
    EXPECT_NE(older.find(piece), std::string::npos) << piece << "\n" << older;
  for (const char *piece :
       {"cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>",
        "ttg.barrier all", "!tt.tensordesc<4x8xf32>", "eviction_policy = evict_last"})
    EXPECT_NE(newer.find(piece), std::string::npos) << piece << "\n" << newer;
  // Printing another version leaves the module as it was.
  EXPECT_EQ(printTtir(*module, TtirVersion::V3_6), older);
}

TEST_F(TtirText, SyntaxErrorsNameTheLine) {
  auto module =
      parseTtir("tt.func @f() {\n  %0 = tt.load %nothing : !tt.ptr<f32>\n  tt.return\n}\n",
                &context, diagnostics, "k.ttir");
  EXPECT_FALSE(module);
  EXPECT_EQ(diagnostics.text().substr(0, 11), "k.ttir:2:16") << diagnostics.text();
  EXPECT_NE(diagnostics.text().find("use of undeclared SSA value name"), std::string::npos)
      << diagnostics.text();
}

TEST_F(TtirText, VerifierErrorsPointAtTheUsersLine) {
  auto module = parseTtir(R"(tt.func @f() {
  %0 = tt.make_range {start = 0 : i32, end = 6 : i32} : tensor<6xi32> loc("kernel.py":12:9)
  tt.return
})",
                          &context, diagnostics);
  EXPECT_FALSE(module);
  EXPECT_EQ(diagnostics.text().substr(0, 22), "kernel.py:12:9: error:") << diagnostics.text();
}

/// `text` with one word or number exchanged for another of the same text, or with a few characters
/// missing.
std::string damaged(const std::string &text, std::mt19937 &random) {
  auto word = [&](size_t from) {
    size_t start =
        text.find_first_of("0123456789abcdefghijklmnopqrstuvwxyz%@!", from % text.size());
    if (start == std::string::npos)
      start = 0;
    size_t end = text.find_first_of(" ,:<>(){}[]\n", start);
    return std::pair(start, end == std::string::npos ? text.size() - start : end - start);
  };
  auto [at, length] = word(random());
  if (random() % 4 == 0)
    return text.substr(0, at) + text.substr(std::min(text.size(), at + random() % 12));
  auto [other, otherLength] = word(random());
  return text.substr(0, at) + text.substr(other, otherLength) + text.substr(at + length);
}

// Text from elsewhere may be anything; it is refused with a message, or it is a kernel.
TEST_F(TtirText, DamagedTextIsRefusedNotFatal) {
  std::mt19937 random(7);
  int refused = 0, accepted = 0;
  for (const auto &path : corpus::files("3.6")) {
    std::string whole = printTtir(*parse(corpus::read(path)));
    for (int round = 0; round < 100; ++round) {
      std::string text = damaged(whole, random);
      if (round % 2)
        text = damaged(text, random);
      MLIRContext fresh(MLIRContext::Threading::DISABLED);
      Diagnostics said;
      auto module = parseTtir(text, &fresh, said);
      if (module) {
        Diagnostics warnings;
        AccessAnalysis analysis(warnings);
        for (FuncOp function : module->getOps<FuncOp>())
          EXPECT_EQ(analysis.of(function).arguments.size(), function.getNumArguments());
      }
      bool ok = module && runKernelPipeline(*module, said);
      EXPECT_EQ(ok, !said.hasErrors()) << text << "\n" << said.text();
      (ok ? accepted : refused)++;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(accepted, 50);
}

TEST_F(TtirText, LocationsKeepNameAndCallSite) {
  auto module = parse(R"(
tt.func @f(%n: i32) -> i32 {
  %0 = arith.addi %n, %n : i32 loc(#call)
  tt.return %0 : i32
}
#line = loc("kernel.py":12:9)
#named = loc("total"(#line))
#call = loc(callsite(#named at "kernel.py":20:5))
)");
  ASSERT_TRUE(module);
  auto again = parse(printTtir(*module, TtirVersion::V3_6, /*withLocations=*/true));
  arith::AddIOp add;
  again->walk([&](arith::AddIOp op) { add = op; });
  auto call = dyn_cast<CallSiteLoc>(add.getLoc());
  ASSERT_TRUE(call);
  auto named = dyn_cast<NameLoc>(call.getCallee());
  ASSERT_TRUE(named);
  EXPECT_EQ(named.getName().str(), "total");
  SourceLocation where = sourceLocationOf(add.getLoc());
  EXPECT_EQ(where.name, "kernel.py");
  EXPECT_EQ(where.range.line, 12u);
  EXPECT_EQ(where.range.column, 9u);
}

} // namespace
