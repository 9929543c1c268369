// SPDX-License-Identifier: Apache-2.0
/// Results of calls: new outputs, the caller's outputs, aliases, dynamic dims, no elements.
#include "runtime/Tensors.h"

#include <cstring>

using namespace pellucid;
using namespace pellucid::test;
using package::PlaceKind;

TEST(Call, NewOutputsForEveryBatch) {
  Loaded package(sampleModel());
  for (int64_t batch : {1, 2, 7, 16, 1023, 1024, 3}) {
    Array<float> x = countingArray({batch, 64});
    DLTensor input = x.tensor();
    DLManagedTensorVersioned *outputs[2];
    ASSERT_EQ(pellucid_run(package, &input, 1, outputs, 2, nullptr), PELLUCID_OK)
        << pellucid_last_error();
    const DLTensor &y = outputs[0]->dl_tensor, &total = outputs[1]->dl_tensor;
    EXPECT_EQ(y.ndim, 2);
    EXPECT_EQ(y.shape[0], batch);
    EXPECT_EQ(y.strides[0], 64);
    EXPECT_EQ(y.strides[1], 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(y.data) % 64, 0u);
    EXPECT_EQ(outputs[0]->version.major, 1u);
    EXPECT_EQ(total.ndim, 1);
    expectSample(x, static_cast<float *>(y.data), static_cast<float *>(total.data));
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
  }
}

TEST(Call, OutputsOutliveThePackage) {
  Array<float> x = countingArray({4, 64});
  DLManagedTensorVersioned *outputs[2];
  {
    Loaded package(sampleModel());
    DLTensor input = x.tensor();
    ASSERT_EQ(pellucid_run(package, &input, 1, outputs, 2, nullptr), PELLUCID_OK);
  }
  expectSample(x, static_cast<float *>(outputs[0]->dl_tensor.data),
               static_cast<float *>(outputs[1]->dl_tensor.data));
  for (DLManagedTensorVersioned *output : outputs)
    output->deleter(output);
}

TEST(Call, IntoTheCallersMemory) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({9, 64}), y({9, 64}, -1), total({9}, -1);
  DLTensor input = x.tensor(), outputs[] = {y.tensor(), total.tensor()};
  ASSERT_EQ(pellucid_run_into(package, &input, 1, outputs, 2, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  expectSample(x, y.data.data(), total.data.data());
}

TEST(Call, ByteOffsetsAndUnitStridesAreHonoured) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({3, 64}), y({2, 64}), total({2});
  DLTensor input = x.tensor(), outputs[] = {y.tensor(), total.tensor()};
  int64_t shape[] = {1, 64}, strides[] = {12345, 1}, one[] = {1};
  input.shape = shape;
  input.strides = strides; // of a dim of size 1: does not matter
  input.byte_offset = 2 * 64 * sizeof(float);
  outputs[0].shape = shape;
  outputs[0].byte_offset = 64 * sizeof(float);
  outputs[1].shape = one;
  outputs[1].byte_offset = sizeof(float);
  ASSERT_EQ(pellucid_run_into(package, &input, 1, outputs, 2, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  Array<float> last({1, 64});
  std::copy(x.data.begin() + 128, x.data.end(), last.data.begin());
  expectSample(last, y.data.data() + 64, total.data.data() + 1);
  EXPECT_EQ(y.data[0], 0);
}

TEST(Call, ShapesWithoutRunning) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({11, 64});
  DLTensor input = x.tensor();
  int32_t ranks[2];
  int64_t shapes[128];
  ASSERT_EQ(pellucid_output_shapes(package, &input, 1, ranks, shapes, 2), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_EQ(ranks[0], 2);
  EXPECT_EQ(shapes[0], 11);
  EXPECT_EQ(shapes[1], 64);
  EXPECT_EQ(ranks[1], 1);
  EXPECT_EQ(shapes[64], 11);
}

/// data[i] += 5 for data f32[batch], returned as an alias of the input.
static package::Contents inPlaceModel() {
  package::Manifest m;
  m.name = "in_place";
  m.symbols.push_back({"batch", 0, 100, 1, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"data", DataType::Float32, codes({"batch"}), true, {}, true});
  m.outputs.push_back({"data_out", DataType::Float32, codes({"batch"}), 0});
  m.kernels.push_back(
      sampleKernel("add_in_place", {pointer("data"), scalar("amount", DataType::Float32)}));
  package::Launch launch;
  launch.label = "add_in_place_0";
  launch.variants.push_back({{}, 0, {code("batch")}, {address(PlaceKind::Input, 0), immediate(5)}});
  package::Program program;
  program.steps.push_back(std::move(launch));
  m.programs.push_back(std::move(program));
  return withImage(std::move(m));
}

TEST(Call, MutatedInputsComeBackAsThemselves) {
  Loaded package(inPlaceModel());
  Array<float> data({3}, 1);
  DLTensor input = data.tensor();
  DLManagedTensorVersioned *output = nullptr;
  ASSERT_EQ(pellucid_run(package, &input, 1, &output, 1, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_EQ(output->dl_tensor.data, data.data.data());
  EXPECT_EQ(data.data, (std::vector<float>{6, 6, 6}));
  output->deleter(output);
  ASSERT_EQ(pellucid_run_into(package, &input, 1, &input, 1, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_EQ(data.data[2], 11);
  Array<float> apart({3});
  DLTensor other = apart.tensor();
  ASSERT_EQ(pellucid_run_into(package, &input, 1, &other, 1, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_EQ(data.data[0], 16) << "the input is written all the same";
  EXPECT_EQ(apart.data[0], 16);
}

TEST(Call, NoElementsNoLaunch) {
  Loaded package(inPlaceModel());
  Array<float> none({0});
  DLTensor input = none.tensor();
  input.data = nullptr;
  DLManagedTensorVersioned *output = nullptr;
  ASSERT_EQ(pellucid_run(package, &input, 1, &output, 1, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_EQ(output->dl_tensor.shape[0], 0);
  output->deleter(output);
}

/// out = [7, 7, … | copy of in], through copy and fill steps alone; large enough for several
/// blocks.
TEST(Call, CopiesAndFills) {
  package::Manifest m;
  m.symbols.push_back({"batch", 0, 1 << 20, 1, package::SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"in", DataType::UInt32, codes({"batch"}), true, {}});
  m.outputs.push_back({"out", DataType::UInt32, codes({"batch*2"})});
  package::Program program;
  program.steps.push_back(
      package::Fill{{PlaceKind::Output, 0, {}}, 0xfeedbeef, 4, code("batch*4")});
  program.steps.push_back(package::Copy{
      {PlaceKind::Output, 0, code("batch*4")}, {PlaceKind::Input, 0, {}}, code("batch*4")});
  m.programs.push_back(std::move(program));
  package::Contents contents;
  contents.manifest = m;
  Loaded package(contents);
  for (int64_t count : {0, 1, 1000, 100001}) {
    Array<uint32_t> in({count}), out({2 * count});
    for (size_t i = 0; i < in.data.size(); ++i)
      in.data[i] = static_cast<uint32_t>(i * 2654435761u);
    DLTensor input = in.tensor(), output = out.tensor();
    ASSERT_EQ(pellucid_run_into(package, &input, 1, &output, 1, nullptr), PELLUCID_OK)
        << pellucid_last_error();
    for (size_t i = 0; i < in.data.size(); ++i) {
      ASSERT_EQ(out.data[i], 0xfeedbeef) << i;
      ASSERT_EQ(out.data[in.data.size() + i], in.data[i]) << i;
    }
  }
}

TEST(Call, TheCallersAllocatorGivesOutputs) {
  static int live = 0, calls = 0;
  pellucid_allocator allocator{};
  allocator.allocate = [](void *, size_t bytes, size_t alignment, DLDevice) -> void * {
    ++live;
    ++calls;
    return bytes == 13
               ? nullptr
               : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  allocator.release = [](void *, void *data, size_t, DLDevice) {
    --live;
    std::free(data);
  };
  Loaded package(sampleModel());
  Array<float> x = countingArray({4, 64});
  DLTensor input = x.tensor();
  DLManagedTensorVersioned *outputs[2];
  pellucid_run_options options = runOptions();
  options.allocator = &allocator;
  ASSERT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_OK)
      << pellucid_last_error();
  EXPECT_EQ(calls, 2);
  expectSample(x, static_cast<float *>(outputs[0]->dl_tensor.data),
               static_cast<float *>(outputs[1]->dl_tensor.data));
  for (DLManagedTensorVersioned *output : outputs)
    output->deleter(output);
  EXPECT_EQ(live, 0);
  allocator.allocate = [](void *, size_t, size_t, DLDevice) -> void * { return nullptr; };
  EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_OUT_OF_MEMORY);
  EXPECT_EQ(outputs[0], nullptr);
}

/// Results are the same, wherever they go, and every other call's memory is the caller's again.
TEST(Call, GuardedMemoryGivesTheSame) {
  for (int32_t guard : {PELLUCID_GUARD_END, PELLUCID_GUARD_BEGIN}) {
    pellucid_run_options options = runOptions();
    options.guard = guard;
    Loaded sample(sampleModel());
    for (int64_t rows : {1, 4, 33}) {
      Array<float> x = countingArray({rows, 64});
      DLTensor input = x.tensor();
      DLManagedTensorVersioned *outputs[2];
      ASSERT_EQ(pellucid_run(sample, &input, 1, outputs, 2, &options), PELLUCID_OK)
          << pellucid_last_error();
      expectSample(x, static_cast<float *>(outputs[0]->dl_tensor.data),
                   static_cast<float *>(outputs[1]->dl_tensor.data));
      for (DLManagedTensorVersioned *output : outputs)
        output->deleter(output);
      Array<float> y({rows, 64}), total({rows});
      DLTensor into[2] = {y.tensor(), total.tensor()};
      ASSERT_EQ(pellucid_run_into(sample, &input, 1, into, 2, &options), PELLUCID_OK)
          << pellucid_last_error();
      expectSample(x, y.data.data(), total.data.data());
    }
    Loaded inPlace(inPlaceModel());
    Array<float> data({3}, 1), apart({3}), none({0});
    DLTensor input = data.tensor(), other = apart.tensor(), empty = none.tensor();
    ASSERT_EQ(pellucid_run_into(inPlace, &input, 1, &input, 1, &options), PELLUCID_OK)
        << pellucid_last_error();
    EXPECT_EQ(data.data, (std::vector<float>{6, 6, 6}));
    ASSERT_EQ(pellucid_run_into(inPlace, &input, 1, &other, 1, &options), PELLUCID_OK)
        << pellucid_last_error();
    EXPECT_EQ(apart.data, (std::vector<float>{11, 11, 11}));
    ASSERT_EQ(pellucid_run_into(inPlace, &input, 1, &other, 1, nullptr), PELLUCID_OK)
        << pellucid_last_error();
    EXPECT_EQ(data.data[2], 16);
    EXPECT_EQ(pellucid_run_into(inPlace, &empty, 1, &empty, 1, &options), PELLUCID_OK)
        << pellucid_last_error();
  }
}

/// What every variant of a launch assumes of an address holds of guarded memory of any size.
TEST(Call, GuardedMemoryKeepsPromisedAlignment) {
  package::Contents contents = sampleModel();
  package::Manifest &manifest = contents.manifest;
  manifest.programs[0].buffers[0].bytes = code("batch*256 + 8");
  for (package::Kernel &kernel : manifest.kernels)
    for (package::KernelParameter &parameter : kernel.parameters)
      parameter.divisor = parameter.pointer ? 16 : 1;
  Loaded package(contents);
  for (int32_t guard : {PELLUCID_GUARD_END, PELLUCID_GUARD_BEGIN})
    for (int64_t rows : {1, 4, 33}) {
      pellucid_run_options options = runOptions();
      options.guard = guard;
      Array<float> x = countingArray({rows, 64});
      DLTensor input = x.tensor();
      DLManagedTensorVersioned *outputs[2];
      ASSERT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_OK)
          << pellucid_last_error();
      expectSample(x, static_cast<float *>(outputs[0]->dl_tensor.data),
                   static_cast<float *>(outputs[1]->dl_tensor.data));
      for (DLManagedTensorVersioned *output : outputs)
        output->deleter(output);
    }
}

/// Memory that a later variant takes wherever it lies ends at the page: 132 bytes are no multiple
/// of 16, so the variant for multiples, which sums one column, is passed over.
TEST(Call, GuardedMemoryEndsAtThePageWhereAVariantTakesIt) {
  package::Contents contents = sampleModel();
  package::Manifest &manifest = contents.manifest;
  manifest.kernels.push_back(manifest.kernels[1]);
  manifest.kernels.back().parameters[1].divisor = 16;
  auto &sum = std::get<package::Launch>(manifest.programs[0].steps[2]);
  package::LaunchVariant aligned = sum.variants[0];
  aligned.kernel = 2;
  aligned.arguments[2] = value("1");
  sum.variants.insert(sum.variants.begin(), aligned);
  Loaded package(contents);
  Array<float> x = countingArray({33, 64});
  DLTensor input = x.tensor();
  DLManagedTensorVersioned *outputs[2];
  pellucid_run_options options = runOptions();
  for (int32_t guard : {0, int32_t(PELLUCID_GUARD_END)}) {
    options.guard = guard;
    ASSERT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_OK)
        << pellucid_last_error();
    const auto *sums = static_cast<const float *>(outputs[1]->dl_tensor.data);
    const auto *rows = static_cast<const float *>(outputs[0]->dl_tensor.data);
    if (guard)
      expectSample(x, rows, sums);
    else
      EXPECT_EQ(sums[0], rows[0]);
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
  }
}

TEST(Call, OptionsAreChecked) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({4, 64});
  DLTensor input = x.tensor();
  DLManagedTensorVersioned *outputs[2];
  pellucid_run_options options = runOptions(-1);
  EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the option threads is -1, must not be negative");
  pellucid_allocator allocator{};
  options = runOptions();
  options.allocator = &allocator;
  EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the allocator lacks a function");
  options = runOptions();
  options.guard = 3;
  EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the option guard is 3, must be 0, PELLUCID_GUARD_END (1) or "
                                      "PELLUCID_GUARD_BEGIN (2)");
  options = {};
  EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the options' struct_size is 0, must be sizeof the struct");
}
