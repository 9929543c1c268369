// SPDX-License-Identifier: Apache-2.0
/// Packages whose checksums are right and whose contents are not: a status each time.
#include "package/Crc32.h"
#include "package/ManifestBytes.h"
#include "package/Zip.h"
#include "runtime/Tensors.h"

#include <functional>
#include <random>

using namespace pellucid;
using namespace pellucid::package;
using namespace pellucid::test;

namespace {

struct RawRecord {
  std::string name;
  std::vector<uint8_t> bytes;
};

/// A well-formed archive of any records, with the checksums of what they hold.
std::vector<uint8_t> archive(const std::vector<RawRecord> &records) {
  std::vector<ZipEntry> entries;
  for (const RawRecord &record : records)
    entries.push_back({record.name, record.bytes.size(), crc32(record.bytes)});
  uint64_t directoryOffset = 0;
  EXPECT_TRUE(placeEntries(entries, directoryOffset));
  std::vector<uint8_t> out;
  auto append = [&](const std::vector<uint8_t> &piece) {
    out.insert(out.end(), piece.begin(), piece.end());
  };
  for (size_t i = 0; i < records.size(); ++i) {
    append(localHeader(entries[i]));
    append(records[i].bytes);
  }
  append(directory(entries, directoryOffset));
  return out;
}

std::vector<RawRecord> recordsOf(const Manifest &manifest) {
  std::vector<RawRecord> records = {{"manifest.bin", writeManifest(manifest)}};
  for (const Record &record : sampleModel().records)
    records.push_back({record.name, {record.data.begin(), record.data.end()}});
  return records;
}

/// Loads and asks everything that runs no kernel; true when it was loaded.
bool survives(const std::vector<uint8_t> &bytes) {
  pellucid_package *package = nullptr;
  pellucid_status status = pellucid_load_memory(bytes.data(), bytes.size(), nullptr, &package);
  if (status != PELLUCID_OK) {
    EXPECT_EQ(package, nullptr);
    EXPECT_STRNE(pellucid_last_error(), "");
    EXPECT_NE(status, PELLUCID_INTERNAL_ERROR) << pellucid_last_error();
    return false;
  }
  EXPECT_NE(pellucid_describe(package), nullptr);
  Array<float> x = countingArray({3, 64});
  DLTensor input = x.tensor();
  size_t count = pellucid_output_count(package);
  std::vector<int32_t> ranks(count + 1);
  std::vector<int64_t> shapes(64 * (count + 1));
  pellucid_output_shapes(package, &input, 1, ranks.data(), shapes.data(), count);
  pellucid_unload(package);
  return true;
}

/// What the load or a call with x[3, 64] says of sampleModel after `change`.
std::string complaintAfter(const std::function<void(Manifest &)> &change) {
  Manifest manifest = sampleModel().manifest;
  change(manifest);
  std::vector<uint8_t> bytes = archive(recordsOf(manifest));
  pellucid_package *package = nullptr;
  std::string complaint;
  if (pellucid_load_memory(bytes.data(), bytes.size(), nullptr, &package) != PELLUCID_OK)
    return pellucid_last_error();
  Array<float> x = countingArray({3, 64});
  DLTensor input = x.tensor();
  std::vector<DLManagedTensorVersioned *> outputs(pellucid_output_count(package));
  if (pellucid_run(package, &input, 1, outputs.data(), outputs.size(), nullptr) != PELLUCID_OK)
    complaint = pellucid_last_error();
  for (DLManagedTensorVersioned *output : outputs)
    if (output)
      output->deleter(output);
  pellucid_unload(package);
  return complaint;
}

Launch &launch(Manifest &m, size_t step) { return std::get<Launch>(m.programs[0].steps[step]); }

} // namespace

TEST(HostilePackage, AnyByteOfTheManifest) {
  std::vector<RawRecord> records = recordsOf(sampleModel().manifest);
  ASSERT_TRUE(survives(archive(records)));
  const std::vector<uint8_t> good = records[0].bytes;
  std::mt19937 random(3);
  size_t loaded = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<uint8_t> &bytes = records[0].bytes = good;
    static constexpr uint8_t extremes[] = {0, 1, 0x7f, 0x80, 0xff};
    for (unsigned change = 0; change <= random() % 3; ++change)
      bytes[random() % bytes.size()] = random() % 2 ? extremes[random() % 5] : uint8_t(random());
    loaded += survives(archive(records));
  }
  EXPECT_LT(loaded, 4000u);
}

TEST(HostilePackage, AnyByteOfTheCode) {
  std::vector<RawRecord> records = recordsOf(sampleModel().manifest);
  std::vector<uint8_t> &image = records[1].bytes;
  ASSERT_EQ(records[1].name, "code/x86-64-v3.elf");
  const std::vector<uint8_t> good = image;
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    image = good;
    // Headers lie in front.
    for (unsigned change = 0; change <= random() % 3; ++change)
      image[random() % std::min<size_t>(image.size(), 512)] = uint8_t(random());
    survives(archive(records));
  }
  image.clear();
  EXPECT_FALSE(survives(archive(records)));
}

TEST(HostilePackage, RecordsThatAreNotThere) {
  std::vector<RawRecord> records = recordsOf(sampleModel().manifest);
  for (size_t gone = 1; gone < records.size(); ++gone) {
    std::vector<RawRecord> fewer = records;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(gone));
    EXPECT_EQ(survives(archive(fewer)), records[gone].name.starts_with("ir/"));
  }
  std::vector<RawRecord> twice = records;
  twice.push_back(records[1]);
  EXPECT_FALSE(survives(archive(twice)));
  EXPECT_FALSE(survives(archive({records[1], records[0]})));
  EXPECT_FALSE(survives(archive({})));
}

TEST(HostilePackage, PlacesOutsideOfTheirMemory) {
  auto pointAt = [](Manifest &m, size_t step, size_t argument, const char *offset) {
    auto &place = std::get<PointerArgument>(launch(m, step).variants[0].arguments[argument]).place;
    place.byteOffset = code(offset);
  };
  EXPECT_EQ(complaintAfter([](Manifest &) {}), "");
  EXPECT_EQ(complaintAfter([&](Manifest &m) { pointAt(m, 0, 1, "4096"); }),
            "launch 'scale_bias_0': argument 'bias': 0 bytes at offset 4096 lie outside weight "
            "'layer.bias', which has 256");
  EXPECT_EQ(complaintAfter([&](Manifest &m) { pointAt(m, 0, 2, "0-64"); }),
            "launch 'scale_bias_0': argument 'out': 0 bytes at offset -64 lie outside buffer "
            "'hidden', which has 768");
  EXPECT_EQ(complaintAfter([&](Manifest &m) { pointAt(m, 0, 0, "batch*1000"); }),
            "launch 'scale_bias_0': argument 'in': 0 bytes at offset 3000 lie outside input 'x', "
            "which has 768");
  EXPECT_EQ(complaintAfter([&](Manifest &m) { pointAt(m, 2, 1, "9223372036854775807"); }),
            "launch 'row_sum': argument 'out': 0 bytes at offset 9223372036854775807 lie outside "
            "output 'total', which has 12");
}

TEST(HostilePackage, CopiesAndFillsOutsideOfTheirMemory) {
  auto step = [](Step added) {
    return complaintAfter([&](Manifest &m) { m.programs[0].steps.push_back(added); });
  };
  Place y{PlaceKind::Output, 0, {}}, bias{PlaceKind::Weight, 0, {}}, x{PlaceKind::Input, 0, {}};
  EXPECT_EQ(step(Copy{y, bias, code("257")}),
            "a copy: 257 bytes at offset 0 lie outside weight 'layer.bias', which has 256");
  EXPECT_EQ(step(Copy{{PlaceKind::Output, 0, code("700")}, x, code("100")}),
            "a copy: 100 bytes at offset 700 lie outside output 'y', which has 768");
  EXPECT_EQ(
      step(Copy{y, {PlaceKind::Input, 0, code("5//(batch-3)")}, code("4")}),
      "a copy: the offset 5 // (batch + -3) into input 'x' divides by zero or exceeds 64 bits");
  EXPECT_EQ(step(Fill{y, 0, 8, code("12")}),
            "a fill of 12 bytes is not a multiple of its pattern's 8");
  EXPECT_EQ(step(Fill{{PlaceKind::Output, 1, code("8")}, 0, 4, code("8")}),
            "a fill: 8 bytes at offset 8 lie outside output 'total', which has 12");
  EXPECT_EQ(step(Copy{y, x, code("0-1")}), "the size of a copy is negative or exceeds 2^63 bytes");
}

TEST(HostilePackage, SizesAndShapes) {
  const std::string wrong = "the package in memory cannot be loaded: its manifest is wrong: ";
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.outputs[0].aliasOfInput = 0; }),
            wrong + "output 'y' is an alias of input 'x', which is not written or has another "
                    "dtype or shape");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.outputs[0].shape.resize(65, code("1")); }),
            wrong + "output 'y' has 65 dims, more than 64");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.outputs[0].shape[0] = code("batch-4"); }),
            "output 'y': dim 0 (batch + -4) is negative or the tensor too large");
  EXPECT_EQ(
      complaintAfter([](Manifest &m) { m.outputs[0].shape[0] = code("4611686018427387904"); }),
      "output 'y': dim 0 (4611686018427387904) is negative or the tensor too large");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.programs[0].buffers[0].bytes = code("batch-9"); }),
            "the size of buffer 'hidden' is negative or exceeds 2^63 bytes for these inputs");
  EXPECT_EQ(complaintAfter(
                [](Manifest &m) { m.programs[0].buffers[0].bytes = code("9223372036854775807"); }),
            "cannot allocate 9223372036854775808 bytes: the machine or its control group has fewer "
            "left");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.symbols[0].divisor = -2; }),
            wrong + "symbol 'batch' has an empty range or a divisor below 1");
  EXPECT_EQ(complaintAfter([](Manifest &m) { launch(m, 0).variants[0].grid[1] = code("2-batch"); }),
            "launch 'scale_bias_0': grid[1] is -1, must be in 0..2147483647");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.kernels[0].executables[0].entryOffset = 1; }),
            "the package in memory cannot be loaded: the entry of kernel 'scale_bias' at 1 lies "
            "outside the code of record 'code/x86-64-v3.elf'");
}

/// Weights belong to all calls, and an input is the caller's: a plan writes to neither unasked.
TEST(HostilePackage, DestinationsThatNobodyDeclared) {
  const std::string wrong = "the package in memory cannot be loaded: its manifest is wrong: ";
  auto step = [](Step added) {
    return complaintAfter([&](Manifest &m) { m.programs[0].steps.push_back(added); });
  };
  Place y{PlaceKind::Output, 0, {}}, bias{PlaceKind::Weight, 0, {}}, x{PlaceKind::Input, 0, {}};
  EXPECT_EQ(step(Fill{bias, 0, 4, code("256")}), wrong + "a fill writes to weight 'layer.bias'");
  EXPECT_EQ(step(Copy{bias, y, code("256")}), wrong + "a copy writes to weight 'layer.bias'");
  EXPECT_EQ(step(Fill{x, 0, 4, code("256")}),
            wrong + "a fill writes to input 'x', which is not declared as written");
  EXPECT_EQ(step(Copy{x, y, code("256")}),
            wrong + "a copy writes to input 'x', which is not declared as written");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.kernels[0].parameters[1].written = true; }),
            wrong + "argument 'bias' of launch 'scale_bias_0' writes to weight 'layer.bias'");
  EXPECT_EQ(complaintAfter([](Manifest &m) { m.kernels[0].parameters[0].written = true; }),
            wrong + "argument 'in' of launch 'scale_bias_0' writes to input 'x', which is not "
                    "declared as written");
  EXPECT_EQ(step(Copy{{PlaceKind::Output, 0, code("64")}, y, code("128")}),
            "a copy of 128 bytes from output 'y' to output 'y' overlaps itself");
}

/// What is long is refused or read once, not compared with everything else.
TEST(HostilePackage, LongLists) {
  const std::string wrong = "the package in memory cannot be loaded: its manifest is wrong: ";
  Bytecode sum = code("batch");
  while (sum.size() <= 16384)
    sum.insert(sum.end(), {2, 0, 3}); // + batch
  EXPECT_EQ(complaintAfter([&](Manifest &m) { m.outputs[0].shape[0] = sum; }),
            wrong + "output 'y' has no well-formed expression of at most 16384 bytes");
  EXPECT_EQ(complaintAfter([](Manifest &m) {
              Executable ptx = m.kernels[0].executables[0];
              ptx.target = {Target::Kind::Cuda, CpuLevel::X86_64_v3, 0};
              ptx.format = CodeFormat::Ptx;
              for (uint32_t sm = 0; sm < 50'000; ++sm) {
                ptx.target.sm = sm;
                m.kernels[0].executables.push_back(ptx);
              }
              m.kernels[0].executables.push_back(ptx);
            }),
            wrong + "kernel 'scale_bias' for cuda:sm_49999 is there twice");
}

/// A name with a control sequence in it is shown, not carried out.
TEST(HostilePackage, NamesAreShownAsTheyAre) {
  EXPECT_EQ(complaintAfter([](Manifest &m) {
              m.outputs[0].name = "y\x1b[2J\xff";
              m.outputs[0].shape[0] = code("batch-4");
            }),
            "output 'y\\x1b[2J\\xff': dim 0 (batch + -4) is negative or the tensor too large");
}

/// A device number is the caller's nonsense, not a size.
TEST(HostilePackage, DeviceNumbers) {
  Loaded package(sampleModel());
  Array<float> x = countingArray({3, 64});
  DLManagedTensorVersioned *outputs[2];
  for (int32_t id : {-1, 1, INT32_MAX, INT32_MIN}) {
    DLTensor input = x.tensor();
    input.device = {kDLCUDA, id};
    EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, nullptr), PELLUCID_INVALID_ARGUMENT);
    EXPECT_EQ(outputs[0], nullptr);
  }
}
