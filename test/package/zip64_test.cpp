// SPDX-License-Identifier: Apache-2.0
/// Packages beyond 4 GiB, as sparse files.
#include "package/PackageFile.h"
#include "package/PackageWriter.h"
#include "package/SamplePackage.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace pellucid;
using namespace pellucid::package;

/// Address space that reads as zeros but for a mark near its end.
static Record hugeRecord(std::string name, uint64_t bytes, uint8_t mark) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return {};
  uint8_t *begin = static_cast<uint8_t *>(memory);
  begin[bytes - 5] = mark;
  return {
      std::move(name), {begin, bytes}, std::shared_ptr<const void>(memory, [bytes](const void *p) {
        munmap(const_cast<void *>(p), bytes);
      })};
}

TEST(Zip64, RecordsBeyondFourGibibytesAreFound) {
  constexpr uint64_t fourGib = uint64_t(1) << 32;
  Contents contents = test::sampleModel();
  // One record larger than 32 bits, and records that begin beyond them.
  for (uint64_t bytes : {fourGib + 4096 + 7, uint64_t(3) << 20}) {
    std::string name = "weights/" + std::to_string(contents.records.size());
    contents.records.push_back(
        hugeRecord(name, bytes, static_cast<uint8_t>(contents.records.size())));
    ASSERT_FALSE(contents.records.back().data.empty());
    contents.manifest.weights.push_back(
        {name, DataType::UInt8, {static_cast<int64_t>(bytes)}, name, 0, bytes, 0});
  }
  std::string path = test::temporaryFolder() + "/huge.plc";
  if (std::filesystem::space(test::temporaryFolder()).available < (uint64_t(1) << 30))
    GTEST_SKIP() << "less than 1 GiB of disk";
  Status status = writePackage(contents, path);
  ASSERT_TRUE(status.ok()) << status.message();
  struct stat stat;
  ASSERT_EQ(::stat(path.c_str(), &stat), 0);
  EXPECT_GT(static_cast<uint64_t>(stat.st_size), fourGib);
  EXPECT_LT(static_cast<uint64_t>(stat.st_blocks) * 512, uint64_t(1) << 26) << "zeros are holes";
  std::unique_ptr<PackageFile> file;
  status = PackageFile::open(path, file);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(file->find("weights/3")->bytes, fourGib + 4096 + 7);
  EXPECT_EQ((*file->record("weights/3"))[fourGib + 4096 + 2], 3);
  EXPECT_GT(file->find("weights/4")->dataOffset, fourGib);
  EXPECT_EQ((*file->record("weights/4"))[(3u << 20) - 5], 4);
}
