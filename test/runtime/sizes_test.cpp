// SPDX-License-Identifier: Apache-2.0
/// Sizes that steps read, by copies alone: which memory there is then, and what is refused.
#include "runtime/Tensors.h"

#include "package/ValidateManifest.h"

using namespace pellucid;
using namespace pellucid::test;
using package::PlaceKind;

namespace {

const std::vector<std::string> symbols = {"n", "u0", "u1"};
package::Bytecode size(const char *text) { return code(text, symbols); }
std::vector<package::Bytecode> sizes(std::initializer_list<const char *> texts) {
  return codes(texts, symbols);
}

package::Place at(PlaceKind kind, uint32_t index, const char *offset = nullptr) {
  return {kind, index, offset ? size(offset) : package::Bytecode()};
}
const PlaceKind In = PlaceKind::Input, Out = PlaceKind::Output, Buffer = PlaceKind::Buffer;

package::Copy copy(package::Place from, package::Place to, const char *bytes) {
  return {to, from, size(bytes)};
}

/// Inputs: i64 counts[2], i64 values[n]. Outputs: the first u0 of the values, the u1 behind them,
/// and counts again. Both go through buffers of their sizes.
package::Manifest manifest() {
  package::Manifest m;
  m.symbols.push_back({"n", 0, 1 << 20, 1, package::SymbolSource::InputDim, 1, 0});
  m.symbols.push_back({"u0", 0, 100, 1, package::SymbolSource::Step, 0, 0});
  m.symbols.push_back({"u1", 0, INT64_MAX, 1, package::SymbolSource::Step, 0, 0});
  m.inputs.push_back({"counts", DataType::Int64, sizes({"2"}), true, {}});
  m.inputs.push_back({"values", DataType::Int64, sizes({"n"}), true, {}});
  m.outputs.push_back({"first", DataType::Int64, sizes({"u0"})});
  m.outputs.push_back({"second", DataType::Int64, sizes({"u1", "1"})});
  m.outputs.push_back({"counts", DataType::Int64, sizes({"2"})});
  package::Program program;
  program.buffers = {{"a", DataType::UInt8, sizes({"u0"}), size("8*u0"), 0},
                     {"b", DataType::UInt8, sizes({"u1"}), size("8*u1 + 8*u0"), 1},
                     {"c", DataType::UInt8, sizes({"16"}), size("16"), 2}};
  program.slots = 3;
  program.steps = {
      copy(at(In, 0), at(Buffer, 2), "16"),
      package::ReadSize{1, at(Buffer, 2), size("n"), "model.py:3:9: nonzero"},
      copy(at(In, 1), at(Buffer, 0), "8*u0"),
      package::ReadSize{2, at(Buffer, 2, "8"), {}, "model.py:4:9: item()"},
      package::CheckSizes{size("u0 + u1 <= n"), "model.py:5:9: RuntimeError: too many"},
      copy(at(Buffer, 0), at(Out, 0), "8*u0"),
      copy(at(In, 1, "8*u0"), at(Buffer, 1), "8*u1"),
      copy(at(Buffer, 1), at(Out, 1), "8*u1"),
      copy(at(Buffer, 2), at(Out, 2), "16")};
  m.programs.push_back(std::move(program));
  return m;
}

package::Contents contents(package::Manifest m = manifest()) {
  package::Contents contents;
  contents.manifest = std::move(m);
  return contents;
}

struct Call {
  Array<int64_t> counts{{2}}, values;

  Call(int64_t first, int64_t second, int64_t n) : values({n}) {
    counts.data = {first, second};
    for (size_t i = 0; i < values.data.size(); ++i)
      values.data[i] = static_cast<int64_t>(100 + i);
  }
  std::string run(pellucid_package *package, DLManagedTensorVersioned **outputs) {
    DLTensor in[] = {counts.tensor(), values.tensor()};
    return pellucid_run(package, in, 2, outputs, 3, nullptr) == PELLUCID_OK ? std::string()
                                                                            : pellucid_last_error();
  }
};

std::string refusal(const package::Manifest &m) {
  return package::validateManifest(m, [](const std::string &) { return std::nullopt; }).message();
}

} // namespace

TEST(Sizes, OutputsHaveTheShapesThatValuesSay) {
  Loaded package(contents());
  // Larger and smaller again: memory of the call before is no matter.
  for (auto [first, second, n] : {std::array<int64_t, 3>{2, 3, 7},
                                  {0, 0, 7},
                                  {100, 900, 1000},
                                  {0, 7, 7},
                                  {7, 0, 7},
                                  {0, 0, 0}}) {
    Call call(first, second, n);
    DLManagedTensorVersioned *outputs[3];
    ASSERT_EQ(call.run(package, outputs), "");
    const DLTensor &a = outputs[0]->dl_tensor, &b = outputs[1]->dl_tensor;
    ASSERT_EQ(a.shape[0], first);
    ASSERT_EQ(b.shape[0], second);
    ASSERT_EQ(b.shape[1], 1);
    for (int64_t i = 0; i < first; ++i)
      EXPECT_EQ(static_cast<const int64_t *>(a.data)[i], 100 + i);
    for (int64_t i = 0; i < second; ++i)
      EXPECT_EQ(static_cast<const int64_t *>(b.data)[i], 100 + first + i);
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
  }
}

TEST(Sizes, ValuesOutsideTheirBoundsEndTheCall) {
  Loaded package(contents());
  struct Row {
    int64_t first, second, n;
    const char *said;
  };
  for (const Row &row :
       {Row{8, 0, 7, "model.py:3:9: nonzero: 'u0' is 8, must be in 0..7"},
        Row{101, 0, 200, "model.py:3:9: nonzero: 'u0' is 101, must be in 0..100"},
        Row{-1, 0, 7, "model.py:3:9: nonzero: 'u0' is -1, must be in 0..7"},
        Row{INT64_MIN, 0, 7, "must be in 0..7"},
        Row{2, -1, 7, "model.py:4:9: item(): 'u1' is -1, must be at least 0"},
        Row{2, 6, 7, "model.py:5:9: RuntimeError: too many (u0 = 2, u1 = 6, n = 7)"},
        Row{2, INT64_MAX, 7, "too large"}}) {
    Call call(row.first, row.second, row.n);
    DLManagedTensorVersioned *outputs[3];
    EXPECT_NE(call.run(package, outputs).find(row.said), std::string::npos)
        << pellucid_last_error();
    for (DLManagedTensorVersioned *output : outputs)
      EXPECT_EQ(output, nullptr);
  }
}

TEST(Sizes, MemoryOfTheCallerHasExactlyTheShape) {
  Loaded package(contents());
  Call call(2, 3, 7);
  DLTensor in[] = {call.counts.tensor(), call.values.tensor()};
  Array<int64_t> first({2}), second({3, 1}), wide({4, 1}), counts({2});
  DLTensor fits[] = {first.tensor(), second.tensor(), counts.tensor()},
           large[] = {first.tensor(), wide.tensor(), counts.tensor()};
  ASSERT_EQ(pellucid_run_into(package, in, 2, fits, 3, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_EQ(second.data, (std::vector<int64_t>{102, 103, 104}));
  EXPECT_NE(pellucid_run_into(package, in, 2, large, 3, nullptr), PELLUCID_OK);
  EXPECT_NE(std::string(pellucid_last_error()).find("output 'second': dim 0 is 4, must be 3 (u1)"),
            std::string::npos)
      << pellucid_last_error();
}

TEST(Sizes, CallsThatArePreparedAreRefused) {
  Loaded package(contents());
  Call call(2, 3, 7);
  DLTensor in[] = {call.counts.tensor(), call.values.tensor()};
  Array<int64_t> first({2}), second({3, 1}), counts({2});
  DLTensor out[] = {first.tensor(), second.tensor(), counts.tensor()};
  pellucid_call *prepared = nullptr;
  EXPECT_NE(pellucid_call_create(package, in, 2, out, 3, &prepared), PELLUCID_OK);
  EXPECT_NE(std::string(pellucid_last_error()).find("values decide sizes"), std::string::npos);
}

/// What no compiler writes, and would let a call use memory that is not there.
TEST(Sizes, PlansThatUseASizeTooEarlyAreRefused) {
  ASSERT_EQ(refusal(manifest()), "");
  auto refused = [](auto change, const char *said) {
    package::Manifest m = manifest();
    change(m, m.programs[0].steps);
    EXPECT_NE(refusal(m).find(said), std::string::npos) << refusal(m);
  };
  using Steps = std::vector<package::Step>;
  const char *early = "mentions a symbol before the step that reads its value";
  refused([](auto &, Steps &steps) { std::swap(steps[1], steps[2]); }, early);
  refused([](auto &, Steps &steps) { std::swap(steps[3], steps[4]); }, early);
  refused([](auto &, Steps &steps) { steps[1] = steps[0]; }, early);
  refused([](auto &, Steps &steps) { steps[0] = copy(at(In, 0), at(Out, 1), "8"); }, early);
  refused([](auto &, Steps &steps) { steps[0] = copy(at(In, 0), at(Buffer, 1), "8"); }, early);
  refused([](auto &m, Steps &) { m.inputs[1].shape = sizes({"u0"}); }, early);
  refused([](auto &m, Steps &) { m.guards.push_back({size("u0 < n"), "u0 < n"}); }, early);
  refused([](auto &, Steps &steps) { steps[3] = steps[1]; }, "a value that it has");
  refused([](auto &, Steps &steps) { std::get<package::ReadSize>(steps[1]).symbol = 0; },
          "a value that it has");
  refused([](auto &, Steps &steps) { std::get<package::ReadSize>(steps[1]).symbol = 9; },
          "is number 9");
  refused([](auto &m,
             Steps &) { m.symbols.push_back({"u2", 0, 9, 1, package::SymbolSource::Step, 0, 0}); },
          "is read by no step");
  refused([](auto &m, Steps &) { m.programs[0].buffers[2].slot = 1; }, "shares its slot");
  refused(
      [](auto &, Steps &steps) {
        package::Branch branch;
        branch.label = "branch";
        branch.condition = size("n");
        branch.whenTrue = 1;
        steps.insert(steps.begin() + 1, branch);
      },
      "after the branch or loop that reads its value");
}
