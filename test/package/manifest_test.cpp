// SPDX-License-Identifier: Apache-2.0
#include "package/ManifestBytes.h"

#include "package/SamplePackage.h"
#include "package/ValidateManifest.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <new>
#include <random>

using namespace pellucid;
using namespace pellucid::package;

/// The largest piece of memory that was asked for.
static size_t largestPiece = 0;
void *operator new(size_t bytes) {
  largestPiece = std::max(largestPiece, bytes);
  if (void *piece = std::malloc(bytes))
    return piece;
  throw std::bad_alloc();
}
void operator delete(void *piece) noexcept { std::free(piece); }
void operator delete(void *piece, size_t) noexcept { std::free(piece); }

/// Every field of every struct away from its default.
static Manifest fullManifest() {
  Manifest m = test::sampleModel().manifest;
  m.inputsMayOverlap = true;
  m.symbols.push_back({"stride", 2, 99, 4, SymbolSource::InputStride, 0, 1});
  m.inputs.push_back({"cache", DataType::BFloat16, test::codes({"batch", "8"}), false,
                      test::codes({"8", "1"}), true, 16});
  m.guards.push_back({test::code("batch <= 77"), "batch <= 77"});
  m.outputs.push_back({"cache_out", DataType::BFloat16, test::codes({"batch", "8"}), 1});
  Kernel &kernel = m.kernels[0];
  kernel.constants.push_back({"BLOCK", "256"});
  kernel.ordered = true;
  kernel.numerics = "fma=on";
  kernel.parameters[0].divisor = 16;
  kernel.parameters[0].written = false;
  Executable ptx;
  ptx.target = {Target::Kind::Cuda, CpuLevel::X86_64_v3, 90};
  ptx.format = CodeFormat::Ptx;
  ptx.record = "ir/program.txt";
  ptx.entry = "scale_bias";
  ptx.sharedBytes = 1024;
  ptx.numWarps = 8;
  ptx.numCtas = 2;
  ptx.dependentLaunch = true;
  ptx.messages.push_back({MessageKind::Print, "x: ", "kernels.py", 12, 9, true});
  kernel.executables.push_back(ptx);
  ptx.format = CodeFormat::GenerationPtx;
  ptx.tensorMaps.push_back({0, 2, 128, false, {{1000, 1, 64}, {77, 1008, 128}}});
  ptx.tensorMaps.push_back({0, 4, 128, true, {{1000, 1, 32}, {77, 1008, 128}}});
  kernel.executables.push_back(ptx);
  Program &program = m.programs[0];
  program.steps.push_back(Copy{
      {PlaceKind::Output, 0, test::code("batch")}, {PlaceKind::Weight, 0, {}}, test::code("4")});
  program.steps.push_back(
      Fill{{PlaceKind::Buffer, 0, {}}, 0x7fc07fc07fc07fc0, 8, test::code("batch*8")});
  m.state.push_back({"count", DataType::Int64, {2}, "weights/0", 64, 16, 7});
  program.steps.push_back(Fill{{PlaceKind::State, 0, {}}, 1, 8, test::code("16")});
  std::get<Launch>(program.steps[0]).variants[0].guard = test::code("batch < 5");
  return m;
}

static std::optional<uint64_t> everyRecordHas(const std::string &) { return 1 << 20; }

TEST(ManifestBytes, RoundTripKeepsEveryField) {
  std::vector<uint8_t> bytes = writeManifest(fullManifest());
  Manifest read;
  Status status = readManifest(bytes, read);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(writeManifest(read), bytes);
  EXPECT_TRUE(read.inputsMayOverlap);
  EXPECT_EQ(read.symbols[1].name, "stride");
  EXPECT_EQ(read.symbols[1].source, SymbolSource::InputStride);
  EXPECT_EQ(read.inputs[1].alignment, 16u);
  EXPECT_TRUE(read.inputs[1].mutated);
  EXPECT_EQ(read.inputs[1].strides, test::codes({"8", "1"}));
  EXPECT_EQ(read.outputs[2].aliasOfInput, 1);
  EXPECT_TRUE(read.kernels[0].ordered);
  EXPECT_EQ(read.kernels[0].parameters[0].divisor, 16u);
  EXPECT_EQ(read.kernels[0].executables[1].messages[0].column, 9u);
  EXPECT_EQ(std::get<Fill>(read.programs[0].steps[4]).pattern, 0x7fc07fc07fc07fc0u);
  ASSERT_EQ(read.state.size(), 1u);
  EXPECT_EQ(read.state[0].name, "count");
  EXPECT_EQ(read.state[0].offset, 64u);
  EXPECT_EQ(std::get<Fill>(read.programs[0].steps[5]).destination.kind, PlaceKind::State);
  EXPECT_TRUE(validateManifest(read, everyRecordHas).ok());
}

TEST(ManifestBytes, WrongTensorMapsAreRefused) {
  auto isValid = [](auto change) {
    Manifest m = fullManifest();
    change(m.kernels[0].executables.back(), m.kernels[0].executables.back().tensorMaps[0]);
    return validateManifest(m, everyRecordHas).ok();
  };
  EXPECT_TRUE(isValid([](auto &, auto &) {}));
  EXPECT_FALSE(isValid([](auto &code, auto &) { code.format = CodeFormat::Ptx; }));
  EXPECT_FALSE(isValid([](auto &code, auto &map) { code.tensorMaps.assign(17, map); }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.parameter = 1; })); // is aligned to 8 alone
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.parameter = 999; }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.elementBytes = 3; }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.elementBytes = 16; }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.swizzleBytes = 64; }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.roundsToTf32 = true; })); // of 2 bytes
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.dims.clear(); }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.dims.resize(6); }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.dims[0].stride = 2; }));
  for (int64_t size : {int64_t(0), int64_t(-1), int64_t(1) << 31})
    EXPECT_FALSE(isValid([&](auto &, auto &map) { map.dims[1].size = size; })) << size;
  for (int64_t stride : {int64_t(0), int64_t(-1008), int64_t(1004), int64_t(1) << 39})
    EXPECT_FALSE(isValid([&](auto &, auto &map) { map.dims[1].stride = stride; })) << stride;
  for (int32_t parameter : {-2, 0, 99}) { // no parameter, a pointer, beyond the last
    EXPECT_FALSE(isValid([&](auto &, auto &map) { map.dims[1].sizeParameter = parameter; }));
    EXPECT_FALSE(isValid([&](auto &, auto &map) { map.dims[1].strideParameter = parameter; }));
  }
  EXPECT_TRUE(isValid([](auto &, auto &map) { map.dims[1].strideParameter = 3; }));
  EXPECT_FALSE(isValid([](auto &, auto &map) { map.dims[0].strideParameter = 3; }));
  for (uint32_t box : {0u, 257u})
    EXPECT_FALSE(isValid([&](auto &, auto &map) { map.dims[1].box = box; })) << box;
}

TEST(ManifestBytes, EveryTruncationIsRefused) {
  std::vector<uint8_t> bytes = writeManifest(fullManifest());
  for (size_t size = 0; size < bytes.size(); ++size) {
    Manifest read;
    ASSERT_FALSE(readManifest(std::span(bytes).first(size), read).ok()) << size;
  }
  bytes.push_back(0);
  Manifest read;
  EXPECT_EQ(readManifest(bytes, read).message(), "its manifest has bytes after its end");
}

/// Without its checksum, a changed byte may give another valid manifest, but never undefined
/// behaviour, nor more memory than a manifest of that length can ask for.
TEST(ManifestBytes, AnyChangedByteIsReadOrRefused) {
  std::vector<uint8_t> bytes = writeManifest(fullManifest());
  std::mt19937 random(11);
  size_t refused = 0, total = 0;
  largestPiece = 0;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (uint8_t change : {uint8_t(0xff), uint8_t(1 << random() % 8), uint8_t(random() | 1)}) {
      std::vector<uint8_t> changed = bytes;
      changed[at] ^= change;
      Manifest read;
      bool fine = readManifest(changed, read).ok() && validateManifest(read, everyRecordHas).ok();
      refused += !fine;
      ++total;
    }
  EXPECT_GT(refused, total / 4);
  EXPECT_LT(largestPiece, 100 * bytes.size());
}

TEST(ManifestBytes, NewerVersionsAreNamed) {
  std::vector<uint8_t> bytes = writeManifest(fullManifest());
  Manifest read;
  bytes[8] = 2;
  EXPECT_EQ(readManifest(bytes, read).message(),
            "the package has format version 2, this run time loads up to version 1");
  bytes[8] = 1;
  bytes[12] = 9;
  EXPECT_EQ(readManifest(bytes, read).message(),
            "the package has ABI version 9, this run time loads up to version 1");
  bytes[0] = 'p';
  EXPECT_EQ(readManifest(bytes, read).message(), "its manifest does not begin with 'PELLUCID'");
}

static std::string complaintAfter(auto change) {
  Manifest m = fullManifest();
  change(m);
  return validateManifest(m, everyRecordHas).message();
}

TEST(ValidateManifest, NamesWhatIsWrong) {
  const std::string wrong = "its manifest is wrong: ";
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.symbols[0].input = 7; }),
            wrong + "the input of symbol 'batch' is number 7 of 2");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.symbols[0].dim = 2; }),
            wrong + "the dim of symbol 'batch' is number 2 of 2");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.inputs[0].shape[0] = {2, 9}; }),
            wrong + "input 'x' has no well-formed expression of at most 16384 bytes");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.inputs[1].strides.pop_back(); }),
            wrong + "input 'cache' has 1 strides for 2 dims");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.outputs[2].aliasOfInput = 2; }),
            wrong + "the input that output 'cache_out' is an alias of is number 2 of 2");
  EXPECT_EQ(
      complaintAfter([](Manifest &m) { m.weights[0].offset = 1 << 20; }),
      wrong +
          "weight 'layer.bias' needs bytes up to 1048832 of record 'weights/0', which has 1048576");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.weights[0].shape = {65}; }),
            wrong + "weight 'layer.bias' has 256 bytes at offset 0 where its shape takes 260");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.kernels[0].parameters[3].offset = 2; }),
            wrong + "kernel 'scale_bias': parameter 'count' has 4 bytes at offset 2");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.programs[0].buffers[0].slot = 3; }),
            wrong + "the slot of buffer 'hidden' is number 3 of 1");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.programs[0].slots = 4000000000; }),
            wrong + "program for cpu has 4000000000 slots for 1 buffers");
  EXPECT_EQ(complaintAfter([](Manifest &m) {
              std::get<Launch>(m.programs[0].steps[0]).variants[0].kernel = 2;
            }),
            wrong + "the kernel of launch 'scale_bias_0' is number 2 of 2");
  EXPECT_EQ(
      complaintAfter([](Manifest &m) {
        std::get<Launch>(m.programs[0].steps[0]).variants[0].arguments.pop_back();
      }),
      wrong + "launch 'scale_bias_0' has 5 arguments for the 6 parameters of kernel 'scale_bias'");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.programs.push_back(m.programs[0]); }),
            wrong + "its programs are not ordered by device");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.programs.clear(); }), wrong + "it has no program");
  auto none = [](const std::string &) { return std::optional<uint64_t>(); };
  EXPECT_EQ(validateManifest(fullManifest(), none).message(),
            wrong + "weight 'layer.bias' lies in record 'weights/0', which is missing");
}
