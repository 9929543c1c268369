// SPDX-License-Identifier: Apache-2.0
/// Every rule about a call's tensors, and that the message names tensor, value and rule.
#include "runtime/Tensors.h"

using namespace pellucid;
using namespace pellucid::test;

/// x f32[batch, 64], w f32[batch, 2 * batch] with strides (2 * batch + 4, 1), c f32[4] mutated and
/// 16-byte aligned.
static package::Contents strictModel() {
  package::Manifest m;
  m.name = "strict";
  m.symbols.push_back({"batch", 2, 1024, 2, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"x", DataType::Float32, codes({"batch", "64"}), true, {}});
  m.inputs.push_back(
      {"w", DataType::Float32, codes({"batch", "2*batch"}), false, codes({"2*batch + 4", "1"})});
  m.inputs.push_back({"c", DataType::Float32, codes({"4"}), true, {}, true, 16});
  m.guards.push_back({code("batch <= 512"), "batch <= 512"});
  m.outputs.push_back({"y", DataType::Float32, codes({"batch"})});
  package::Program program;
  program.steps.push_back(
      package::Fill{{package::PlaceKind::Output, 0, {}}, 0x3f800000, 4, code("batch*4")});
  m.programs.push_back(std::move(program));
  package::Contents contents;
  contents.manifest = m;
  return contents;
}

class InputErrors : public testing::Test {
protected:
  Loaded package{strictModel()};
  Array<float> x{{8, 64}}, w{{8, 20}}, y{{8}};
  std::vector<float> c = std::vector<float>(16);
  int64_t wShape[2] = {8, 16}, wStrides[2] = {20, 1}, cShape[1] = {4};
  DLTensor inputs[3] = {x.tensor(), w.tensor(), {}};
  DLTensor output = y.tensor();

  void SetUp() override {
    inputs[1].shape = wShape;
    inputs[1].strides = wStrides;
    inputs[2] = inputs[0];
    inputs[2].ndim = 1;
    inputs[2].shape = cShape;
    inputs[2].data = alignedC();
  }
  float *alignedC() {
    uintptr_t at = reinterpret_cast<uintptr_t>(c.data());
    return reinterpret_cast<float *>((at + 15) / 16 * 16);
  }
  /// The message of a call that must be refused, "" for one that is not.
  std::string refusal(size_t count = 3) {
    pellucid_status status = pellucid_run_into(package, inputs, count, &output, 1, nullptr);
    if (status == PELLUCID_OK)
      return "";
    EXPECT_EQ(status, PELLUCID_INVALID_ARGUMENT);
    return pellucid_last_error();
  }
};

TEST_F(InputErrors, RightInputsPass) {
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(y.data[7], 1);
}

TEST_F(InputErrors, Count) {
  EXPECT_EQ(refusal(2), "2 inputs given, the package has 3");
  EXPECT_EQ(pellucid_run_into(package, nullptr, 3, &output, 1, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the array of inputs is null");
  EXPECT_EQ(pellucid_run_into(package, inputs, 3, &output, 0, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "0 outputs given, the package has 1");
  DLManagedTensorVersioned *outputs[3];
  EXPECT_EQ(pellucid_run(package, inputs, 3, outputs, 3, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "room for 3 outputs given, the package has 1");
  EXPECT_EQ(outputs[2], nullptr);
  EXPECT_EQ(pellucid_run(nullptr, inputs, 3, outputs, 3, nullptr), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the package is null");
}

TEST_F(InputErrors, Dtype) {
  inputs[0].dtype = {kDLFloat, 16, 1};
  EXPECT_EQ(refusal(), "input 'x': dtype is f16, must be f32");
  inputs[0].dtype = {kDLFloat, 32, 4};
  EXPECT_EQ(refusal(), "input 'x': dtype is DLPack code 2 with 32 bits and 4 lanes, must be f32");
}

TEST_F(InputErrors, Rank) {
  inputs[0].ndim = 1;
  EXPECT_EQ(refusal(), "input 'x': rank is 1, must be 2");
  inputs[0].ndim = -2;
  EXPECT_EQ(refusal(), "input 'x': rank is -2, must be 2");
}

TEST_F(InputErrors, Device) {
  inputs[0].device = {kDLCUDA, 1};
  EXPECT_EQ(refusal(), "input 'x': device is cuda:1, must be cpu");
  inputs[0].device = {kDLMetal, 0};
  EXPECT_EQ(refusal(), "input 'x': device is DLPack device type 8:0, must be cpu");
  inputs[0].device = {kDLCPU, 0};
  inputs[1].device = {kDLCUDA, 0};
  EXPECT_EQ(refusal(), "input 'w': device is cuda:0, must be cpu");
  inputs[1].device = {kDLCUDAHost, 0};
  EXPECT_EQ(refusal(), "") << "host memory that CUDA pinned is the CPU's";
}

TEST_F(InputErrors, Data) {
  inputs[0].data = nullptr;
  EXPECT_EQ(refusal(), "input 'x': data is null");
  inputs[0].data = x.data.data();
  inputs[0].shape = nullptr;
  EXPECT_EQ(refusal(), "input 'x': shape is null, must have 2 dims");
}

TEST_F(InputErrors, Range) {
  x.shape[0] = 1026;
  EXPECT_EQ(refusal(), "input 'x': dim 0 (batch) is 1026, must be in 2..1024");
  x.shape[0] = 0;
  EXPECT_EQ(refusal(), "input 'x': dim 0 (batch) is 0, must be in 2..1024");
  x.shape[0] = -4;
  EXPECT_EQ(refusal(), "input 'x': dim 0 is -4, must not be negative");
  x.shape[0] = 7;
  EXPECT_EQ(refusal(), "input 'x': dim 0 (batch) is 7, must be a multiple of 2");
}

TEST_F(InputErrors, Dims) {
  x.shape[1] = 63;
  EXPECT_EQ(refusal(), "input 'x': dim 1 is 63, must be 64");
  x.shape[1] = 64;
  wShape[1] = 18;
  EXPECT_EQ(refusal(), "input 'w': dim 1 is 18, must be 16 (2 * batch)");
  wShape[1] = 16;
  wShape[0] = 6;
  EXPECT_EQ(refusal(), "input 'w': dim 0 is 6, must be 8 (batch)");
}

TEST_F(InputErrors, Strides) {
  x.strides = {65, 1};
  inputs[0].strides = x.strides.data();
  EXPECT_EQ(refusal(), "input 'x': stride of dim 0 is 65, must be 64 (contiguous)");
  inputs[0].strides = nullptr;
  wStrides[0] = 16;
  EXPECT_EQ(refusal(), "input 'w': stride of dim 0 is 16, must be 20 ((2 * batch) + 4)");
  inputs[1].strides = nullptr;
  EXPECT_EQ(refusal(), "input 'w': stride of dim 0 is 16, must be 20 ((2 * batch) + 4)");
}

TEST_F(InputErrors, Alignment) {
  inputs[2].data = alignedC() + 1;
  EXPECT_EQ(refusal(), "input 'c': data is not aligned: its address must be a multiple of 16");
  inputs[2].data = alignedC();
  inputs[0].byte_offset = 2;
  EXPECT_EQ(refusal(), "input 'x': data is not aligned: its address must be a multiple of 4");
}

TEST_F(InputErrors, Guards) {
  Array<float> large({514, 64});
  inputs[0] = large.tensor();
  wShape[0] = 514;
  wShape[1] = 1028;
  wStrides[0] = 1032;
  Array<float> memory({514, 1032});
  inputs[1].data = memory.data.data();
  EXPECT_EQ(refusal(), "the sizes of the inputs break the rule batch <= 512");
}

TEST_F(InputErrors, Overlaps) {
  inputs[2].data =
      reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(x.data.data()) + 31) / 16 * 16);
  EXPECT_EQ(refusal(), "input 'c': is written to and overlaps input 'x'");
  inputs[2].data = alignedC();
  output.data = x.data.data() + 3;
  EXPECT_EQ(refusal(), "output 'y': overlaps input 'x'");
}

TEST_F(InputErrors, Outputs) {
  int64_t shape[] = {9}, stride[] = {2};
  output.shape = shape;
  EXPECT_EQ(refusal(), "output 'y': dim 0 is 9, must be 8 (batch)");
  output = y.tensor();
  output.strides = stride;
  EXPECT_EQ(refusal(), "output 'y': stride of dim 0 is 2, must be 1 (contiguous)");
  output = y.tensor();
  output.dtype = {kDLInt, 32, 1};
  EXPECT_EQ(refusal(), "output 'y': dtype is i32, must be f32");
  output = y.tensor();
  output.data = nullptr;
  EXPECT_EQ(refusal(), "output 'y': data is null");
}

/// A refusal changes nothing: the next call is right.
TEST_F(InputErrors, TheNextCallWorks) {
  x.shape[0] = 7;
  EXPECT_NE(refusal(), "");
  x.shape[0] = 8;
  EXPECT_EQ(refusal(), "");
  EXPECT_STREQ(pellucid_last_error(), "");
}
