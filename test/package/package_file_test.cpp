// SPDX-License-Identifier: Apache-2.0
#include "package/FileKind.h"
#include "package/PackageFile.h"

#include "counted/CountedWork.h"
#include "package/Crc32.h"
#include "package/PackageWriter.h"
#include "package/SamplePackage.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

using namespace pellucid;
using namespace pellucid::package;

static std::vector<uint8_t> sampleBytes() {
  std::vector<uint8_t> bytes;
  Status status = packageBytes(test::sampleModel(), bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  return bytes;
}

static Status openBytes(std::span<const uint8_t> bytes) {
  std::unique_ptr<PackageFile> file;
  return PackageFile::openMemory(bytes, file);
}

TEST(PackageFile, ReadsWhatWasWritten) {
  std::string path = test::temporaryFolder() + "/sample.plc";
  Status status = writePackage(test::sampleModel(), path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(test::readFile(path), sampleBytes());
  std::unique_ptr<PackageFile> file;
  status = PackageFile::open(path, file);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(file->manifest().name, "sample");
  EXPECT_EQ(file->record("ir/program.txt")->size(), 30u);
  EXPECT_FALSE(file->record("absent"));
  for (const ZipEntry &entry : file->entries())
    EXPECT_EQ(entry.dataOffset % 4096, 0u) << entry.name;
  EXPECT_TRUE(file->verify().ok());
  std::vector<uint8_t> bytes = sampleBytes();
  EXPECT_TRUE(looksLikePackage(std::span(bytes).first(64)));
}

TEST(PackageFile, SameContentsGiveSameBytes) { EXPECT_EQ(sampleBytes(), sampleBytes()); }

TEST(PackageFile, FileErrorsNameThePath) {
  std::unique_ptr<PackageFile> file;
  std::string folder = test::temporaryFolder();
  EXPECT_EQ(PackageFile::open(folder + "/absent.plc", file).message(),
            "cannot open '" + folder + "/absent.plc': No such file or directory");
  EXPECT_EQ(PackageFile::open(folder, file).message(), "'" + folder + "' is no regular file");
  test::writeFile(folder + "/empty.plc", {});
  EXPECT_EQ(PackageFile::open(folder + "/empty.plc", file).message(),
            "'" + folder + "/empty.plc' is empty");
  std::vector<uint8_t> text(5000, 'x');
  test::writeFile(folder + "/text.plc", text);
  EXPECT_EQ(PackageFile::open(folder + "/text.plc", file).message(),
            "'" + folder + "/text.plc' cannot be loaded: expects a package, got text");
}

TEST(PackageFile, WhatItIsInstead) {
  auto kind = [](std::string_view text) {
    return toString(fileKind({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(fileKind(sampleBytes()), FileKind::Package);
  EXPECT_EQ(kind(""), "an empty file");
  EXPECT_EQ(kind("pellucid.program 1\n"), "a saved program");
  EXPECT_EQ(kind("\x93NUMPY\1\0v\0"sv), "an .npy file");
  EXPECT_EQ(kind("PK\3\4model/archive_format"), "an archive of torch.export or torch.save");
  EXPECT_EQ(kind("PK\3\4archive/data.pkl"), "an archive of torch.export or torch.save");
  EXPECT_EQ(kind("PK\3\4weight.npy"), "an .npz file");
  EXPECT_EQ(kind("PK\3\4manifest.bin at another place"), "a zip archive");
  EXPECT_EQ(kind("\x10\0\0\0\0\0\0\0{\"w\":{}}"sv), "a .safetensors file");
  EXPECT_EQ(kind("import torch\n"), "text");
  EXPECT_EQ(kind("gr\xc3\xbc\xc3\x9f dich"), "text");
  EXPECT_EQ(kind("a\0b"sv), "a binary file");
}

TEST(PackageFile, TruncationIsRefusedAtEveryBorderAndAroundIt) {
  std::vector<uint8_t> bytes = sampleBytes();
  std::unique_ptr<PackageFile> file;
  ASSERT_TRUE(PackageFile::openMemory(bytes, file).ok());
  std::vector<size_t> cuts = {
      0, 1, 29, 30, 63, bytes.size() - 1, bytes.size() - 22, bytes.size() - 42, bytes.size() - 98};
  for (const ZipEntry &entry : file->entries())
    for (uint64_t border : {entry.headerOffset, entry.dataOffset, entry.dataOffset + entry.bytes})
      for (int64_t near : {-1, 0, 1})
        if (border + near < bytes.size())
          cuts.push_back(border + near);
  for (size_t cut : cuts)
    EXPECT_FALSE(openBytes(std::span(bytes).first(cut)).ok()) << cut;
  for (size_t cut = 0; cut < bytes.size(); cut += 97)
    ASSERT_FALSE(openBytes(std::span(bytes).first(cut)).ok()) << cut;
}

TEST(PackageFile, AppendedBytesAreRefused) {
  std::vector<uint8_t> bytes = sampleBytes();
  bytes.push_back(0);
  EXPECT_FALSE(openBytes(bytes).ok());
}

/// Every byte of the manifest, the code, their headers and the directory is covered at load.
TEST(PackageFile, ChangedBytesAreRefused) {
  std::vector<uint8_t> bytes = sampleBytes();
  std::unique_ptr<PackageFile> file;
  ASSERT_TRUE(PackageFile::openMemory(bytes, file).ok());
  auto changeIsRefused = [&](size_t at) {
    bytes[at] ^= uint8_t(1 << at % 8);
    bool refused = !openBytes(bytes).ok();
    bytes[at] ^= uint8_t(1 << at % 8);
    return refused;
  };
  for (const char *name : {"manifest.bin", "code/x86-64-v3.elf"}) {
    const ZipEntry &entry = *file->find(name);
    for (size_t at = entry.headerOffset; at < entry.dataOffset; ++at)
      ASSERT_TRUE(changeIsRefused(at)) << name << " header " << at;
    size_t step = entry.name == "manifest.bin" ? 1 : 13;
    for (size_t at = entry.dataOffset; at < entry.dataOffset + entry.bytes; at += step)
      ASSERT_TRUE(changeIsRefused(at)) << name << " data " << at;
  }
  const ZipEntry &last = file->entries().back();
  for (size_t at = last.dataOffset + last.bytes; at < bytes.size(); ++at) {
    // The directory's checksum of a record that is not looked at, and such a record's name, show in
    // verify.
    bytes[at] ^= 4;
    std::unique_ptr<PackageFile> changed;
    bool refused = !PackageFile::openMemory(bytes, changed).ok() || !changed->verify().ok();
    bytes[at] ^= 4;
    ASSERT_TRUE(refused) << "directory " << at;
  }
}

/// No byte of the file is beyond verification.
TEST(PackageFile, VerifyFindsEveryChangedByte) {
  std::vector<uint8_t> bytes = sampleBytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= uint8_t(1 << at % 8);
    std::unique_ptr<PackageFile> file;
    ASSERT_FALSE(PackageFile::openMemory(bytes, file).ok() && file->verify().ok()) << at;
    bytes[at] ^= uint8_t(1 << at % 8);
  }
}

TEST(PackageFile, VerifyFindsChangedWeights) {
  std::vector<uint8_t> bytes = sampleBytes();
  std::unique_ptr<PackageFile> file;
  ASSERT_TRUE(PackageFile::openMemory(bytes, file).ok());
  bytes[file->find("weights/0")->dataOffset + 100] ^= 1;
  ASSERT_TRUE(PackageFile::openMemory(bytes, file).ok()) << "weights are not read at load";
  EXPECT_EQ(file->verify().message(),
            "the checksum of its record 'weights/0' does not match: it is corrupted");
}

TEST(PackageFile, NewerVersionIsRefusedBeforeAnythingElse) {
  std::vector<uint8_t> bytes = sampleBytes();
  bytes[4096 + 8] = 2;
  bytes.resize(bytes.size() - 50);
  EXPECT_EQ(openBytes(bytes).message(),
            "the package in memory cannot be loaded: the package has format version 2, "
            "this run time loads up to version 1");
}

TEST(PackageWriter, RefusesContentsThatNoReaderWouldTake) {
  std::vector<uint8_t> bytes;
  Contents contents = test::sampleModel();
  contents.records.push_back(textRecord("ir/program.txt", "again"));
  EXPECT_EQ(packageBytes(contents, bytes).message(),
            "a package cannot hold the record name 'ir/program.txt' twice");
  contents = test::sampleModel();
  contents.records.push_back(textRecord("../escape", ""));
  EXPECT_EQ(packageBytes(contents, bytes).message(),
            "a package cannot hold the record name '../escape'");
  contents = test::sampleModel();
  contents.manifest.kernels[1].executables[0].entryOffset = 1 << 30;
  EXPECT_EQ(packageBytes(contents, bytes).message(),
            "the entry of kernel 'row_sum' at 1073741824 lies outside the "
            "code of record 'code/x86-64-v3.elf'");
}

TEST(PackageWriter, AFailedWriteLeavesNothingBehind) {
  std::string folder = test::temporaryFolder() + "/failed";
  std::filesystem::create_directory(folder);
  Contents contents = test::sampleModel();
  contents.manifest.programs.clear();
  EXPECT_FALSE(writePackage(contents, folder + "/x.plc").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  Status status = writePackage(test::sampleModel(), folder + "/no/such/x.plc");
  EXPECT_EQ(status.message(),
            "cannot write '" + folder + "/no/such/x.plc': No such file or directory");
}

static void writeAndOpen(int weights) {
  Contents contents = test::sampleModel();
  for (int i = 0; i < weights; ++i) {
    std::string name = "weights/layer." + std::to_string(i);
    contents.records.push_back(ownedRecord(name, std::vector<uint8_t>(64, uint8_t(i))));
    contents.manifest.weights.push_back({name, DataType::UInt8, {64}, name, 0, 64, 0});
  }
  std::vector<uint8_t> bytes;
  Status status = packageBytes(contents, bytes);
  ASSERT_TRUE(status.ok()) << status.message();
  std::unique_ptr<PackageFile> file;
  status = PackageFile::openMemory(bytes, file);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ((*file->record("weights/layer." + std::to_string(weights - 1)))[63],
            uint8_t(weights - 1));
}

/// Neither writing nor loading is quadratic in the number of weights.
TEST(PackageFile, GrowsLinearlyWithItsWeights) {
  double growth = test::growthOverEightfold(writeAndOpen, 1000);
  EXPECT_GT(growth, 6.5) << "the work is not counted";
  EXPECT_LT(growth, 10);
}
