// SPDX-License-Identifier: Apache-2.0
/// Files of state: what is saved is loaded, and nothing else is.
#include "package/Safetensors.h"
#include "runtime/StatePackage.h"

#include <filesystem>
#include <functional>
#include <sys/stat.h>

using namespace pellucid;
using namespace pellucid::test;
using package::TensorEntry;

namespace {

struct Tensor {
  std::string name;
  DataType dtype;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

std::vector<uint8_t> fileOf(std::vector<Tensor> tensors,
                            const package::TensorMetadata &metadata = {}) {
  std::vector<TensorEntry> entries;
  for (const Tensor &tensor : tensors)
    entries.push_back(
        {tensor.name, tensor.dtype, tensor.shape, 0, tensor.bytes.size(), false, nullptr});
  std::vector<uint8_t> file = package::safetensorsHeader(entries, metadata);
  for (const TensorEntry &entry : entries)
    for (const Tensor &tensor : tensors)
      if (tensor.name == entry.name)
        file.insert(file.end(), tensor.bytes.begin(), tensor.bytes.end());
  return file;
}

/// What countingModel's state takes, in an order of its own.
std::vector<Tensor> rightTensors() {
  std::vector<uint8_t> sums(32);
  for (int i = 0; i < 8; ++i) {
    float value = static_cast<float>(100 + i);
    std::memcpy(&sums[size_t(i) * 4], &value, 4);
  }
  return {{"none", DataType::Float32, {0}, {}},
          {"flags", DataType::Bool, {3}, {1, 0, 1}},
          {"sums", DataType::Float32, {8}, sums}};
}

class StateFile : public testing::Test {
protected:
  Loaded package{countingModel()};
  Instance instance{package};
  std::string path = temporaryFolder() + "/state.safetensors";

  void SetUp() override { ASSERT_EQ(instance.run(), PELLUCID_OK) << pellucid_last_error(); }
  void TearDown() override { std::filesystem::remove_all(path); }

  /// The load fails with the sentence, and the state is what it was.
  void refuses(const std::vector<uint8_t> &file, const std::string &why) {
    writeFile(path, file);
    EXPECT_EQ(pellucid_instance_load(instance, path.c_str()), PELLUCID_INVALID_ARGUMENT) << why;
    EXPECT_EQ(pellucid_last_error(), "'" + path + "' cannot be loaded: " + why);
    EXPECT_EQ(instance.sums(), sumsAfter(1));
  }
  void refusesTensors(std::vector<Tensor> tensors, const std::string &why) {
    refuses(fileOf(std::move(tensors)), "it is not the state of package 'counting': " + why);
  }
};

TEST_F(StateFile, WhatIsSavedIsLoaded) {
  DLTensor flags{};
  ASSERT_EQ(pellucid_instance_state(instance, 1, &flags), PELLUCID_OK);
  static_cast<uint8_t *>(flags.data)[2] = 1;
  ASSERT_EQ(pellucid_instance_save(instance, path.c_str()), PELLUCID_OK) << pellucid_last_error();
  std::vector<uint8_t> file = readFile(path);
  std::vector<TensorEntry> entries;
  package::TensorMetadata metadata;
  ASSERT_TRUE(package::readSafetensors(file, entries, &metadata).ok());
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(metadata.at("pellucid.package"), "counting");
  for (const TensorEntry &entry : entries)
    if (entry.name == "sums") {
      float first = 0;
      std::memcpy(&first, file.data() + entry.offset, 4);
      EXPECT_EQ(first, 11);
    }
  Instance other(package);
  ASSERT_EQ(pellucid_instance_load(other, path.c_str()), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(other.sums(), sumsAfter(1));
  ASSERT_EQ(pellucid_instance_state(other, 1, &flags), PELLUCID_OK);
  EXPECT_EQ(static_cast<uint8_t *>(flags.data)[2], 1);
  ASSERT_EQ(other.run(), PELLUCID_OK);
  EXPECT_EQ(instance.sums(), sumsAfter(1));
  ASSERT_EQ(pellucid_instance_save(other, path.c_str()), PELLUCID_OK) << "over the old one";
  ASSERT_EQ(pellucid_instance_load(instance, path.c_str()), PELLUCID_OK);
  EXPECT_EQ(instance.sums(), sumsAfter(2));
}

TEST_F(StateFile, OfOthersIsLoadedWhereItFits) {
  writeFile(path, fileOf(rightTensors()));
  ASSERT_EQ(pellucid_instance_load(instance, path.c_str()), PELLUCID_OK) << pellucid_last_error();
  EXPECT_EQ(instance.sums()[7], 107);
  // The same model under another name, as after its file was moved.
  writeFile(path, fileOf(rightTensors(), {{"pellucid.package", "moved"}}));
  EXPECT_EQ(pellucid_instance_load(instance, path.c_str()), PELLUCID_OK) << pellucid_last_error();
}

TEST_F(StateFile, WrongTensorsAreAllNamed) {
  std::vector<Tensor> tensors = rightTensors();
  tensors[2].dtype = DataType::Int32;
  refusesTensors(tensors, "'sums' is i32[8], must be f32[8]");
  tensors[2].dtype = DataType::Float32;
  tensors[2].shape = {2, 4};
  refusesTensors(tensors, "'sums' is f32[2, 4], must be f32[8]");
  tensors.erase(tensors.begin());
  refusesTensors(tensors, "it lacks 'none'; 'sums' is f32[2, 4], must be f32[8]");
  tensors = rightTensors();
  tensors[1].bytes[1] = 2;
  refusesTensors(tensors, "'flags' holds bools that are neither 0 nor 1");
  tensors[1].bytes[1] = 0;
  tensors.push_back({"other", DataType::Int8, {1}, {7}});
  refusesTensors(tensors, "it holds 'other', which the package does not have");
  tensors.clear();
  for (int i = 0; i < 10; ++i)
    tensors.push_back({"t" + std::to_string(i), DataType::Int8, {1}, {1}});
  refuses(fileOf(tensors, {{"pellucid.package", "another.py:Model"}}),
          "it is not the state of package 'counting' but of 'another.py:Model': it lacks 'sums', "
          "'flags', 'none'; it holds 't0', 't1', 't2', 't3', 't4', 't5', 't6', 't7' and 2 more, "
          "which the package does not have");
}

TEST_F(StateFile, DamagedFilesAreRefused) {
  std::vector<uint8_t> file = fileOf(rightTensors());
  for (size_t size = 0; size < file.size(); ++size) {
    writeFile(path, std::span(file).first(size));
    ASSERT_NE(pellucid_instance_load(instance, path.c_str()), PELLUCID_OK) << size;
    ASSERT_EQ(instance.sums(), sumsAfter(1)) << size;
  }
  std::vector<uint8_t> longer = file;
  longer[0] ^= 0x40;
  writeFile(path, longer);
  EXPECT_NE(pellucid_instance_load(instance, path.c_str()), PELLUCID_OK);
  EXPECT_EQ(instance.sums(), sumsAfter(1));
}

TEST_F(StateFile, PlacesThatAreNoFiles) {
  std::string folder = temporaryFolder(), missing = folder + "/nothing/here.safetensors";
  EXPECT_EQ(pellucid_instance_load(instance, missing.c_str()), PELLUCID_IO_ERROR);
  EXPECT_NE(std::string(pellucid_last_error()).find("cannot be read"), std::string::npos);
  EXPECT_EQ(pellucid_instance_load(instance, folder.c_str()), PELLUCID_IO_ERROR);
  EXPECT_EQ(pellucid_instance_save(instance, missing.c_str()), PELLUCID_IO_ERROR);
  EXPECT_NE(std::string(pellucid_last_error()).find("cannot be written"), std::string::npos);
  EXPECT_EQ(pellucid_instance_save(instance, folder.c_str()), PELLUCID_IO_ERROR);
  std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(pellucid_instance_load(instance, pipe.c_str()), PELLUCID_IO_ERROR)
      << "nor does it wait";
  EXPECT_EQ(pellucid_instance_save(instance, pipe.c_str()), PELLUCID_IO_ERROR);
  EXPECT_EQ(instance.run(), PELLUCID_OK) << "an instance whose file is wrong goes on";
  EXPECT_EQ(instance.sums(), sumsAfter(2));
}

} // namespace
