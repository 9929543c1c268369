// SPDX-License-Identifier: Apache-2.0
#include "tt/AccessAnalysis.h"
#include "passes/tt/Pipeline.h"
#include "tt/Corpus.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pellucid;
using namespace pellucid::tt;

namespace {

struct Case {
  const char *kernel;
  /// The numbers of the arguments, in order.
  std::vector<int> reads, writes;
  bool unknownMemory = false;
  bool defeated = false;
};

std::ostream &operator<<(std::ostream &stream, const Case &c) { return stream << c.kernel; }

// The kernels of data/make_corpus.py; an argument is listed exactly when its memory is touched.
const Case cases[] = {
    {"add", {0, 1}, {2}},
    {"scalar_through_call", {0}, {2}},
    {"out_of_order", {2}, {0}},
    {"reduce_sum", {0}, {1}},
    {"argmax", {0}, {1}},
    {"cumsum_with_assert", {0}, {1}},
    {"call_returns_pointer", {0}, {2}},
    {"call_returns_pointers", {0}, {2}},
    {"nested_if", {0}, {2}},
    {"if_yields_pointers", {0}, {1, 2}},
    {"loop", {0, 1}, {2}},
    {"nested_loop", {0}, {2}},
    {"carried_pointers", {0}, {2}},
    {"carried_and_swapped", {0, 2}, {0, 2}},
    {"early_return", {0}, {2}},
    {"block_pointer_1d", {0}, {1}},
    {"block_pointer_for", {0}, {1}},
    {"block_pointer_while", {0}, {1}},
    {"descriptors", {0}, {1}},
    {"descriptor_kinds", {0, 2}, {1, 2}},
    {"in_place", {0}, {0}},
    {"asm_pure", {0, 1}, {2}},
    {"asm_impure", {0, 1, 2}, {0, 1, 2}, true, true},
    {"atomics", {0, 1}, {1}},
    {"locked", {0, 1}, {0, 1}},
    {"pointer_table", {0}, {1}, true},
    {"address_stored", {0}, {0, 1}, false, true},
    {"views", {0}, {1}},
    {"other_element_type", {0}, {1}},
    {"chosen_pointer", {0, 1}, {2}},
    {"matmul", {0, 1}, {2}},
    {"rearranged", {0, 2}, {1, 2}},
    {"block_pointer_edges", {0}, {1}},
    {"descriptor_edges", {0}, {1}},
    {"helper_returns_early", {0}, {0, 1}},
    {"carried_indices", {0}, {1}},
};

struct AccessOfCorpus : testing::TestWithParam<Case> {
  MLIRContext context;
  Diagnostics diagnostics;

  OwningOpRef<ModuleOp> parse(const std::string &version) {
    std::string name = std::string(GetParam().kernel) + ".ttir";
    auto module =
        parseTtir(corpus::read(corpus::folder(version) / name), &context, diagnostics, name);
    EXPECT_TRUE(module) << diagnostics.text();
    return module;
  }

  void expectTable(ModuleOp module) {
    AccessAnalysis analysis(diagnostics);
    FuncOp kernel;
    for (FuncOp function : module.getOps<FuncOp>())
      if (function.isKernel())
        kernel = function;
    const AccessSummary &summary = analysis.of(kernel);
    std::vector<int> reads, writes;
    for (size_t i = 0; i < summary.arguments.size(); ++i) {
      if (summary.arguments[i].read)
        reads.push_back(i);
      if (summary.arguments[i].written)
        writes.push_back(i);
    }
    EXPECT_EQ(reads, GetParam().reads);
    EXPECT_EQ(writes, GetParam().writes);
    EXPECT_EQ(summary.touchesUnknownMemory, GetParam().unknownMemory);
    EXPECT_EQ(summary.defeated, GetParam().defeated);
    EXPECT_EQ(diagnostics.all().empty(), !GetParam().defeated) << diagnostics.text();
    EXPECT_FALSE(diagnostics.hasErrors());
  }
};

TEST_P(AccessOfCorpus, BeforeThePipeline) {
  auto module = parse("3.6");
  ASSERT_TRUE(module);
  expectTable(*module);
}

// Inlining and rewriting must not change the answer.
TEST_P(AccessOfCorpus, AfterThePipeline) {
  auto module = parse("3.6");
  ASSERT_TRUE(module);
  PassManager pm(&context);
  pm.enableVerifier();
  buildKernelPipeline(pm);
  ASSERT_TRUE(succeeded(pm.run(*module)));
  expectTable(*module);
}

TEST_P(AccessOfCorpus, OfTriton39) {
  if (!std::filesystem::exists(corpus::folder("3.9") /
                               (std::string(GetParam().kernel) + ".ttir"))) {
    EXPECT_EQ(std::string(GetParam().kernel).rfind("block_pointer", 0), 0u);
    return;
  }
  auto module = parse("3.9");
  ASSERT_TRUE(module);
  expectTable(*module);
}

INSTANTIATE_TEST_SUITE_P(Kernels, AccessOfCorpus, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.kernel; });

struct AccessOf39 : AccessOfCorpus {};

TEST_P(AccessOf39, NewOperations) {
  auto module = parse("3.9");
  ASSERT_TRUE(module);
  expectTable(*module);
}

INSTANTIATE_TEST_SUITE_P(Kernels, AccessOf39, testing::Values(Case{"atomics_of_39", {0, 2}, {1}}));

TEST(AccessOfCorpusTable, NamesEveryKernel) {
  EXPECT_EQ(corpus::files("3.6").size(), std::size(cases));
}

//===--- hand-written cases -------------------------------------------------------------------===//

struct Access : testing::Test {
  MLIRContext context;
  Diagnostics diagnostics;
  AccessAnalysis analysis{diagnostics};
  OwningOpRef<ModuleOp> module;

  const AccessSummary &analyze(const std::string &text) {
    module = parseTtir(text, &context, diagnostics);
    EXPECT_TRUE(module) << diagnostics.text();
    return analysis.of(*module->getOps<FuncOp>().begin());
  }

  static std::string modes(const AccessSummary &summary) {
    std::string text;
    for (const ArgumentAccess &argument : summary.arguments)
      text += argument.atomic                     ? "a"
              : argument.read && argument.written ? "b"
              : argument.read                     ? "r"
              : argument.written                  ? "w"
                                                  : "-";
    return text;
  }
};

TEST_F(Access, WhileCarriesPerValue) {
  EXPECT_EQ(modes(analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %c: i1) {
  %r:2 = scf.while (%a = %x, %b = %y) : (!tt.ptr<f32>, !tt.ptr<f32>) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
    scf.condition(%c) %b, %a : !tt.ptr<f32>, !tt.ptr<f32>
  } do {
  ^bb0(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>):
    scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32>
  }
  %v = tt.load %r#0 : !tt.ptr<f32>
  tt.store %z, %v : !tt.ptr<f32>
  tt.return
})")),
            "-rw-");
}

TEST_F(Access, IfResultsDoNotTaintEachOther) {
  EXPECT_EQ(modes(analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %c: i1) {
  %r:2 = scf.if %c -> (!tt.ptr<f32>, !tt.ptr<f32>) {
    scf.yield %x, %z : !tt.ptr<f32>, !tt.ptr<f32>
  } else {
    scf.yield %y, %z : !tt.ptr<f32>, !tt.ptr<f32>
  }
  %v = tt.load %r#0 : !tt.ptr<f32>
  tt.store %r#1, %v : !tt.ptr<f32>
  tt.return
})")),
            "rrw-");
}

TEST_F(Access, AddressesMadeOfIntegersAreFollowed) {
  const AccessSummary &summary = analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i64) {
  %0 = tt.ptr_to_int %x : !tt.ptr<f32> -> i64
  %1 = arith.addi %0, %n : i64
  %2 = tt.int_to_ptr %1 : i64 -> !tt.ptr<f32>
  %v = tt.load %y : !tt.ptr<f32>
  tt.store %2, %v : !tt.ptr<f32>
  tt.return
})");
  EXPECT_EQ(modes(summary), "wr-");
  EXPECT_FALSE(summary.touchesUnknownMemory);
}

TEST_F(Access, IntegerArgumentAsAddressIsUnknownMemory) {
  const AccessSummary &summary = analyze(R"(
tt.func @k(%y: !tt.ptr<f32>, %n: i64) {
  %0 = tt.int_to_ptr %n : i64 -> !tt.ptr<f32>
  %v = tt.load %y : !tt.ptr<f32>
  tt.store %0, %v : !tt.ptr<f32>
  tt.return
})");
  EXPECT_EQ(modes(summary), "r-");
  EXPECT_TRUE(summary.touchesUnknownMemory);
  EXPECT_FALSE(summary.defeated);
}

// An alignment test looks at an address without giving it away.
TEST_F(Access, ComparedAddressesAreHarmless) {
  EXPECT_EQ(modes(analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %z: !tt.ptr<i1>) {
  %0 = tt.ptr_to_int %x : !tt.ptr<f32> -> i64
  %c = arith.constant 15 : i64
  %1 = arith.andi %0, %c : i64
  %zero = arith.constant 0 : i64
  %2 = arith.cmpi eq, %1, %zero : i64
  tt.store %z, %2 : !tt.ptr<i1>
  tt.return
})")),
            "-w");
  EXPECT_TRUE(diagnostics.all().empty()) << diagnostics.text();
}

TEST_F(Access, CallsOfUnknownFunctionsDefeatWithTheirLine) {
  const AccessSummary &summary = analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  tt.call @elsewhere(%n) : (i32) -> () loc("kernel.py":7:3)
  tt.return
}
tt.func private @elsewhere(i32)
)");
  EXPECT_EQ(modes(summary), "bb-");
  EXPECT_TRUE(summary.defeated);
  EXPECT_EQ(diagnostics.text().substr(0, 24), "kernel.py:7:3: warning: ") << diagnostics.text();
}

TEST_F(Access, UnknownRegionOperationsDefeat) {
  const AccessSummary &summary = analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %i: index) {
  scf.parallel (%a) = (%i) to (%i) step (%i) {
    scf.reduce
  }
  tt.return
})");
  EXPECT_EQ(modes(summary), "b-");
  EXPECT_TRUE(summary.defeated);
}

TEST_F(Access, CalleesAreAnalysedOnceAndPerArgument) {
  const AccessSummary &summary = analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>) {
  tt.call @copy(%x, %y) : (!tt.ptr<f32>, !tt.ptr<f32>) -> ()
  tt.call @copy(%x, %z) : (!tt.ptr<f32>, !tt.ptr<f32>) -> ()
  tt.return
}
tt.func private @copy(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>) {
  %v = tt.load %a : !tt.ptr<f32>
  tt.store %b, %v : !tt.ptr<f32>
  tt.return
}
)");
  EXPECT_EQ(modes(summary), "rww");
  EXPECT_TRUE(summary.hasCalls);
  EXPECT_FALSE(summary.isSingleStore(1));
}

TEST_F(Access, RecursionDefeats) {
  EXPECT_EQ(modes(analyze(R"(
tt.func @k(%x: !tt.ptr<f32>) {
  tt.call @k(%x) : (!tt.ptr<f32>) -> ()
  tt.return
}
)")),
            "b");
}

TEST_F(Access, AccessesAreListedInOrder) {
  const AccessSummary &summary = analyze(R"(
tt.func @k(%x: !tt.ptr<f32>, %z: !tt.ptr<f32>, %m: i1, %o: f32, %n: i32) {
  %v = tt.load %x, %m, %o : !tt.ptr<f32>
  tt.store %z, %v, %m : !tt.ptr<f32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %w = tt.load %x : !tt.ptr<f32>
  }
  tt.return
})");
  ASSERT_EQ(summary.accesses.size(), 3u);
  const MemoryAccess &load = summary.accesses[0], &store = summary.accesses[1],
                     &inner = summary.accesses[2];
  EXPECT_EQ(load.kind, AccessKind::Load);
  EXPECT_EQ(load.argument, 0);
  EXPECT_TRUE(load.mask && load.other);
  EXPECT_FALSE(load.inLoop);
  EXPECT_EQ(store.kind, AccessKind::Store);
  EXPECT_EQ(store.value, load.value);
  EXPECT_EQ(store.mask, load.mask);
  EXPECT_TRUE(inner.inLoop);
  EXPECT_TRUE(summary.isSingleStore(1));
  EXPECT_EQ(summary.accessesOf(0).size(), 2u);
}

TEST_F(Access, StoreInLoopOrOfUnclearArgumentIsNotSingle) {
  const AccessSummary &inLoop = analyze(R"(
tt.func @k(%z: !tt.ptr<f32>, %v: f32, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    tt.store %z, %v : !tt.ptr<f32>
  }
  tt.return
})");
  EXPECT_FALSE(inLoop.isSingleStore(0));
  AccessAnalysis fresh(diagnostics);
  auto other = parseTtir(R"(
tt.func @k(%y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %v: f32, %c: i1) {
  tt.store %z, %v : !tt.ptr<f32>
  %p = arith.select %c, %y, %z : !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
})",
                         &context, diagnostics);
  EXPECT_FALSE(fresh.of(*other->getOps<FuncOp>().begin()).isSingleStore(1));
}

} // namespace
