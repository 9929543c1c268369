// SPDX-License-Identifier: Apache-2.0
/// A package that counts its calls in its state, for tests.
#pragma once

#include "package/Crc32.h"
#include "runtime/Tensors.h"

#include <cstring>

namespace pellucid::test {

/// What its state begins with: "sums" f32[8] is 10, 11, …; "flags" bool[3]; "none" f32[0].
inline std::vector<float> firstSums() { return {10, 11, 12, 13, 14, 15, 16, 17}; }

/// Where a call checks that every element of x is positive, which also prints it.
enum class Check { Never, BeforeWrites, AfterWrites };

/// seen f32[8] = sums += 1, for x f32[batch].
inline package::Contents countingModel(Check check = Check::Never) {
  using namespace package;
  Manifest m;
  m.producer = "pellucid test";
  m.name = "counting";
  m.symbols.push_back({"batch", 1, 4096, 1, SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"x", DataType::Float32, codes({"batch"}), true, {}});
  m.outputs.push_back({"seen", DataType::Float32, codes({"8"})});
  std::vector<uint8_t> bytes(128);
  std::vector<float> sums = firstSums();
  std::memcpy(bytes.data(), sums.data(), 32);
  bytes[65] = 1;
  auto state = [&](const char *name, DataType dtype, std::vector<int64_t> shape, uint64_t offset,
                   uint64_t size) {
    m.state.push_back({name, dtype, std::move(shape), "weights/0", offset, size,
                       crc32(std::span(bytes).subspan(offset, size))});
  };
  state("sums", DataType::Float32, {8}, 0, 32);
  state("flags", DataType::Bool, {3}, 64, 3);
  state("none", DataType::Float32, {0}, 0, 0);
  m.kernels.push_back(
      sampleKernel("add_in_place", {pointer("data"), scalar("amount", DataType::Float32)}));
  m.kernels.push_back(sampleKernel("check_positive", {source("in")}));
  m.kernels[1].ordered = true;
  m.kernels[1].executables[0].messages = {{MessageKind::Assert, "x >= 0", "kernels.py", 12, 9},
                                          {MessageKind::Print, "", "kernels.py", 13, 5},
                                          {MessageKind::Print, "", "kernels.py", 14, 5}};
  Launch add, positive;
  add.label = "add_0";
  add.variants.push_back({{}, 0, {code("8")}, {address(PlaceKind::State, 0), immediate(1)}});
  positive.label = "check_0";
  positive.variants.push_back({{}, 1, {code("batch")}, {address(PlaceKind::Input, 0)}});
  Program program;
  if (check == Check::BeforeWrites)
    program.steps.push_back(positive);
  program.steps.push_back(add);
  program.steps.push_back(Copy{{PlaceKind::Output, 0, {}}, {PlaceKind::State, 0, {}}, code("32")});
  if (check == Check::AfterWrites)
    program.steps.push_back(positive);
  m.programs.push_back(std::move(program));
  Contents contents = withImage(std::move(m));
  contents.records.push_back(ownedRecord("weights/0", std::move(bytes)));
  return contents;
}

/// Destroyed before its package is unloaded.
class Instance {
public:
  explicit Instance(pellucid_package *package, bool restores = false) {
    pellucid_instance_options options{};
    options.struct_size = sizeof(options);
    options.restore_on_failure = restores;
    EXPECT_EQ(pellucid_instance_create(package, &options, &handle), PELLUCID_OK)
        << pellucid_last_error();
  }
  ~Instance() { pellucid_instance_destroy(handle); }
  Instance(const Instance &) = delete;
  operator pellucid_instance *() const { return handle; }

  /// A call; `seen` has what it returned.
  pellucid_status run(Array<float> &x, const pellucid_run_options *options = nullptr) {
    DLTensor input = x.tensor();
    DLManagedTensorVersioned *output = nullptr;
    pellucid_status status = pellucid_instance_run(handle, &input, 1, &output, 1, options);
    EXPECT_EQ(output != nullptr, status == PELLUCID_OK);
    if (output) {
      const float *data = static_cast<float *>(output->dl_tensor.data);
      seen.assign(data, data + 8);
      output->deleter(output);
    }
    return status;
  }
  pellucid_status run(const pellucid_run_options *options = nullptr) {
    Array<float> x({4}, 1);
    return run(x, options);
  }
  /// The state itself.
  std::vector<float> sums() const {
    DLTensor view{};
    EXPECT_EQ(pellucid_instance_state(handle, 0, &view), PELLUCID_OK) << pellucid_last_error();
    const float *data = static_cast<float *>(view.data);
    return {data, data + 8};
  }

  std::vector<float> seen;

private:
  pellucid_instance *handle = nullptr;
};

/// firstSums() after so many calls.
inline std::vector<float> sumsAfter(int calls) {
  std::vector<float> sums = firstSums();
  for (float &sum : sums)
    sum += static_cast<float>(calls);
  return sums;
}

} // namespace pellucid::test
