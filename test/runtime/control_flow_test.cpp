// SPDX-License-Identifier: Apache-2.0
/// Branches, loops and their windows, by copies and fills alone: what they would compute is told by
/// which bytes end up where.
#include "runtime/Tensors.h"

using namespace pellucid;
using namespace pellucid::test;
using package::PlaceKind;
using package::Step;

namespace {

package::Place at(PlaceKind kind, uint32_t index, const char *offset = nullptr) {
  return {kind, index, offset ? code(offset) : package::Bytecode()};
}
const PlaceKind In = PlaceKind::Input, Out = PlaceKind::Output, Buffer = PlaceKind::Buffer,
                Window = PlaceKind::Window;

/// Inputs: u32 rows[batch, 2], u32 flags[batch]. Outputs: u32 last[2] and
/// u32 all[batch, 2].
package::Contents model(std::vector<Step> steps) {
  package::Manifest m;
  m.symbols.push_back({"batch", 0, 1 << 20, 1, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"rows", DataType::UInt32, codes({"batch", "2"}), true, {}});
  m.inputs.push_back({"flags", DataType::UInt32, codes({"batch"}), true, {}});
  m.outputs.push_back({"last", DataType::UInt32, codes({"2"})});
  m.outputs.push_back({"all", DataType::UInt32, codes({"batch", "2"})});
  package::Program program;
  // A condition, then places of what is carried.
  for (program.slots = 0; program.slots < 6; ++program.slots)
    program.buffers.push_back({"buffer" + std::to_string(program.slots), DataType::UInt8,
                               codes({"8"}), code("8"), program.slots});
  program.steps = std::move(steps);
  m.programs.push_back(std::move(program));
  package::Contents contents;
  contents.manifest = m;
  return contents;
}

struct Call {
  Array<uint32_t> rows, flags, last, all;

  explicit Call(std::vector<uint32_t> conditions)
      : rows({static_cast<int64_t>(conditions.size()), 2}),
        flags({static_cast<int64_t>(conditions.size())}), last({2}, 77),
        all({static_cast<int64_t>(conditions.size()), 2}, 99) {
    flags.data = std::move(conditions);
    for (size_t i = 0; i < rows.data.size(); ++i)
      rows.data[i] = static_cast<uint32_t>(10 + i);
  }
  std::vector<DLTensor> inputs() { return {rows.tensor(), flags.tensor()}; }
  std::vector<DLTensor> outputs() { return {last.tensor(), all.tensor()}; }

  std::string run(pellucid_package *package, const pellucid_run_options *options = nullptr) {
    auto in = inputs(), out = outputs();
    return pellucid_run_into(package, in.data(), 2, out.data(), 2, options) == PELLUCID_OK
               ? std::string()
               : pellucid_last_error();
  }
  /// The same through a prepared call, which ran with other numbers before.
  std::string runPrepared(pellucid_package *package) {
    auto in = inputs(), out = outputs();
    pellucid_call *call = nullptr;
    std::vector<uint32_t> wantedRows = rows.data, wantedFlags = flags.data;
    std::fill(rows.data.begin(), rows.data.end(), 0);
    for (uint32_t &flag : flags.data)
      flag = !(flag & 255);
    pellucid_status status = pellucid_call_create(package, in.data(), 2, out.data(), 2, &call);
    if (status == PELLUCID_OK)
      status = pellucid_call_run(call, nullptr);
    std::copy(wantedRows.begin(), wantedRows.end(), rows.data.begin());
    std::copy(wantedFlags.begin(), wantedFlags.end(), flags.data.begin());
    if (status == PELLUCID_OK)
      status = pellucid_call_run(call, nullptr);
    std::string error = status == PELLUCID_OK ? "" : pellucid_last_error();
    pellucid_call_destroy(call);
    return error;
  }
};

package::Fill fill(package::Place place, uint64_t value) { return {place, value, 4, code("8")}; }
package::Copy copy(package::Place from, package::Place to, const char *bytes = "8") {
  return {to, from, code(bytes)};
}

/// carry := the turn's row; all[turn] := what was carried.
std::vector<Step> carryRows() {
  package::Loop loop;
  loop.label = "loop";
  loop.turns = code("batch");
  loop.carries.push_back({at(Out, 0), at(Buffer, 1), code("8")});
  loop.slices.push_back({at(In, 0), code("8"), code("8")});
  loop.slices.push_back({at(Out, 1), code("8"), code("8")});
  loop.bodySteps = 2;
  return {fill(at(Out, 0), 5), loop, copy(at(Window, 0), at(Window, 3)),
          copy(at(Window, 2), at(Window, 1))};
}

/// Three rows, as far as their second words are set: what is left of them moves up in every turn.
std::vector<Step> moveUp() {
  package::Loop loop;
  loop.label = "loop";
  loop.predicate = at(Buffer, 0);
  loop.carries.push_back({at(Out, 0), at(Buffer, 1), code("8")});
  loop.carries.push_back({at(Buffer, 2), at(Buffer, 3), code("8")});
  loop.carries.push_back({at(Buffer, 4), at(Buffer, 5), code("8")});
  loop.conditionSteps = 1;
  loop.bodySteps = 3;
  return {copy(at(In, 0), at(Out, 0)),
          copy(at(In, 0, "8"), at(Buffer, 2)),
          copy(at(In, 0, "16"), at(Buffer, 4)),
          loop,
          copy(at(Window, 0, "4"), at(Buffer, 0), "1"),
          copy(at(Window, 2), at(Window, 1)),
          copy(at(Window, 4), at(Window, 3)),
          fill(at(Window, 5), 0),
          copy(at(Buffer, 2), at(Out, 1))};
}

} // namespace

TEST(ControlFlow, CarriesChangePlacesAndSlicesMoveOn) {
  Loaded package(model(carryRows()));
  for (size_t turns : {0, 1, 2, 5, 6})
    for (bool prepared : {false, true}) {
      Call call(std::vector<uint32_t>(turns, 1));
      ASSERT_EQ(prepared ? call.runPrepared(package) : call.run(package), "");
      for (size_t i = 0; i < 2 * turns; ++i)
        EXPECT_EQ(call.all.data[i], i < 2 ? 5 : 10 + i - 2) << turns << " turns, " << i;
      for (size_t i = 0; i < 2; ++i)
        EXPECT_EQ(call.last.data[i], turns ? 10 + 2 * (turns - 1) + i : 5) << turns << " turns";
    }
}

TEST(ControlFlow, ALoopTurnsAsLongAsItsConditionHolds) {
  Loaded package(model(moveUp()));
  for (bool prepared : {false, true})
    for (uint32_t turns : {0, 1, 2, 3}) {
      Call call({1, 1, 1});
      for (uint32_t i = 0; i < 3; ++i)
        call.rows.data[2 * i + 1] = i < turns ? 256 + 1 : 256;
      ASSERT_EQ(prepared ? call.runPrepared(package) : call.run(package), "");
      auto row = [&](uint32_t i) { return i < 3 ? call.rows.data[2 * i] : 0; };
      EXPECT_EQ(call.last.data[0], row(turns)) << turns << " turns";
      EXPECT_EQ(call.all.data[0], row(turns + 1)) << turns << " turns: both carries are settled";
    }
}

TEST(ControlFlow, SlicesLieWhereTheyShould) {
  std::vector<Step> steps = carryRows();
  std::get<package::Loop>(steps[1]).turns = code("batch+1");
  Loaded package(model(steps));
  EXPECT_EQ(Call({1, 1, 1}).run(package),
            "slice 3 of loop 'loop': 8 bytes at offset 24 lie outside "
            "input 'rows', which has 24");
}

TEST(ControlFlow, SlicesGoBackwards) {
  package::Loop loop;
  loop.label = "back";
  loop.turns = code("batch");
  loop.slices.push_back({at(In, 0, "batch*8-8"), code("0-8"), code("8")});
  loop.slices.push_back({at(Out, 1), code("8"), code("8")});
  loop.bodySteps = 1;
  Loaded package(model({fill(at(Out, 0), 1), loop, copy(at(Window, 0), at(Window, 1))}));
  for (size_t turns : {0, 1, 4}) {
    Call call(std::vector<uint32_t>(turns, 1));
    ASSERT_EQ(call.run(package), "");
    for (size_t i = 0; i < 2 * turns; ++i)
      EXPECT_EQ(call.all.data[i], 10 + 2 * (turns - 1 - i / 2) + i % 2);
  }
}

TEST(ControlFlow, OneSideOfABranchIsDone) {
  package::Branch inner, outer;
  inner.label = "inner";
  inner.condition = code("2 < batch");
  inner.whenTrue = inner.whenFalse = 1;
  outer.label = "outer";
  outer.predicate = at(In, 1);
  outer.whenTrue = 3;
  outer.whenFalse = 1;
  Loaded package(model({outer, inner, fill(at(Out, 0), 1), fill(at(Out, 0), 2), fill(at(Out, 0), 3),
                        fill(at(Out, 1), 4)}));
  for (bool prepared : {false, true})
    for (size_t n : {1, 3})
      for (uint32_t flag : {0, 1, 256}) {
        std::vector<uint32_t> flags(n, 0);
        flags[0] = flag;
        Call call(flags);
        ASSERT_EQ(prepared ? call.runPrepared(package) : call.run(package), "");
        EXPECT_EQ(call.last.data[0], flag == 1 ? (n > 2 ? 1 : 2) : 3);
        EXPECT_EQ(call.all.data[0], 4) << "behind the branch";
      }
}

TEST(ControlFlow, ALoopWithoutEndIsCancelled) {
  std::vector<Step> steps = moveUp();
  steps[7] = fill(at(Window, 5), 1);
  Loaded package(model(steps));
  Call call({1, 1, 1});
  std::fill(call.rows.data.begin(), call.rows.data.end(), 1);
  pellucid_run_options options = runOptions();
  options.timeout_ms = 20;
  EXPECT_EQ(call.run(package, &options), "the call took longer than its limit of 20 ms");
  int32_t cancel = 1;
  options = runOptions();
  options.cancel = &cancel;
  EXPECT_NE(call.run(package, &options), "");
  auto in = call.inputs(), out = call.outputs();
  pellucid_call *prepared = nullptr;
  ASSERT_EQ(pellucid_call_create(package, in.data(), 2, out.data(), 2, &prepared), PELLUCID_OK)
      << pellucid_last_error();
  options = runOptions();
  options.timeout_ms = 20;
  EXPECT_EQ(pellucid_call_run(prepared, &options), PELLUCID_CANCELLED);
  pellucid_call_destroy(prepared);
}

/// A loop in a loop whose body has other windows; the inner one begins anew in every outer turn.
TEST(ControlFlow, LoopsInLoops) {
  package::Loop outer, inner;
  outer.label = "outer";
  outer.turns = code("batch");
  outer.slices.push_back({at(Out, 1), code("8"), code("8")});
  outer.bodySteps = 3;
  inner.label = "inner";
  inner.turns = code("2");
  inner.carries.push_back({at(Out, 0), at(Buffer, 1), code("8")});
  inner.slices.push_back({at(Window, 0), code("4"), code("4")});
  inner.bodySteps = 1;
  Loaded package(model({outer, inner, copy(at(In, 0), at(Window, 3), "4"), fill(at(Out, 0), 6)}));
  Call call({1, 1, 1});
  ASSERT_EQ(call.run(package), "");
  EXPECT_EQ(call.all.data, std::vector<uint32_t>(6, 10));
}

TEST(ControlFlow, WhatNoCompilerWritesIsRefused) {
  auto complaint = [](std::vector<Step> steps) {
    // The writer holds what it writes against the same rules as the reader what it reads.
    std::vector<uint8_t> bytes;
    std::string error = package::packageBytes(model(std::move(steps)), bytes).message();
    std::string wrong = "its manifest is wrong: ";
    size_t begin = error.find(wrong);
    return begin == std::string::npos ? error : error.substr(begin + wrong.size());
  };
  package::Branch branch;
  branch.label = "b";
  branch.predicate = at(Buffer, 0);
  branch.whenTrue = 2;
  EXPECT_EQ(complaint({branch, fill(at(Out, 0), 1)}), "branch 'b' has 2 steps where 1 follow");
  branch.whenTrue = branch.whenFalse = UINT32_MAX;
  EXPECT_EQ(complaint({branch}), "branch 'b' has 8589934590 steps where 0 follow");
  package::Loop loop;
  loop.label = "l";
  loop.turns = code("batch");
  loop.slices.push_back({at(In, 0), code("8"), code("8")});
  loop.bodySteps = 1;
  EXPECT_EQ(complaint({loop, fill(at(Window, 0), 1)}),
            "a fill writes through window 0 to what is not written");
  EXPECT_EQ(complaint({loop, copy(at(Window, 1), at(Out, 0))}),
            "a place of a copy is number 1 of 1");
  EXPECT_EQ(complaint({loop, copy(at(Window, 0), at(Out, 0)), copy(at(Window, 0), at(Out, 0))}),
            "a place of a copy is window 0 of another loop");
  package::Loop carried = loop;
  carried.carries.push_back({at(In, 0), at(Buffer, 0), code("8")});
  EXPECT_EQ(complaint({carried, fill(at(Out, 0), 1)}),
            "loop 'l' writes to input 'rows', which is not declared as written");
  package::Loop open = loop;
  open.turns.clear();
  open.predicate = at(Buffer, 0);
  EXPECT_EQ(complaint({open, fill(at(Out, 0), 1)}), "loop 'l' has slices and no number of turns");
  loop.conditionSteps = 1;
  loop.bodySteps = 0;
  EXPECT_EQ(complaint({loop, fill(at(Out, 0), 1)}),
            "loop 'l' counts its turns and has 1 steps of a condition");
  std::vector<Step> deep;
  for (uint32_t i = 0; i < 100; ++i) {
    package::Branch one;
    one.label = "deep";
    one.condition = code("batch");
    one.whenTrue = 99 - i;
    deep.push_back(one);
  }
  EXPECT_EQ(complaint(deep), "its control flow is nested more than 64 levels deep");
}
