// SPDX-License-Identifier: Apache-2.0
#include "runtime/CodeImage.h"

#include "package/KernelAbi.h"
#include "package/SamplePackage.h"

#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace pellucid;
using namespace pellucid::runtime;

static float addFive(const CodeImage &image) {
  uint64_t address = 0;
  EXPECT_TRUE(package::symbolAddress(test::sampleImage(), "add_in_place", address).ok());
  auto entry = reinterpret_cast<package::KernelEntry>(const_cast<void *>(image.at(address)));
  float data[1] = {2};
  struct {
    float *data;
    float amount;
  } arguments = {data, 5};
  uint32_t grid[3] = {1, 1, 1};
  package::KernelContext context{};
  EXPECT_EQ(entry(&arguments, grid, 0, 1, nullptr, &context), 0);
  return data[0];
}

/// The system's line about the pages that hold `address`.
static std::string mappingOf(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    size_t dash = line.find('-');
    uintptr_t begin = std::stoull(line.substr(0, dash), nullptr, 16),
              end = std::stoull(line.substr(dash + 1), nullptr, 16);
    if (begin <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end)
      return line;
  }
  return {};
}

/// The pages with the sample's function.
static std::string mappingOfCode(const CodeImage &image) {
  uint64_t address = 0;
  EXPECT_TRUE(package::symbolAddress(test::sampleImage(), "add_in_place", address).ok());
  return mappingOf(image.at(address));
}

/// No page of this process is writable and executable.
static bool anyWritableAndExecutable() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(" rwx") != line.npos)
      return true;
  return false;
}

TEST(CodeImage, RunsMappedFromAFile) {
  std::string path = test::temporaryFolder() + "/image";
  std::vector<uint8_t> bytes(8192); // the image lies behind other records
  bytes.insert(bytes.end(), test::sampleImage().begin(), test::sampleImage().end());
  test::writeFile(path, bytes);
  int fd = open(path.c_str(), O_RDONLY);
  std::unique_ptr<CodeImage> image;
  Result result = CodeImage::map(test::sampleImage(), fd, 8192, image);
  close(fd);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_NE(mappingOfCode(*image).find("/image"), std::string::npos)
      << "mapped from the file, shared by processes";
  EXPECT_EQ(addFive(*image), 7);
  EXPECT_FALSE(anyWritableAndExecutable());
}

TEST(CodeImage, RunsCopiedFromMemory) {
  std::unique_ptr<CodeImage> image;
  Result result = CodeImage::map(test::sampleImage(), -1, 0, image);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(mappingOfCode(*image).find('/'), std::string::npos) << "pages of no file";
  EXPECT_EQ(addFive(*image), 7);
  EXPECT_FALSE(anyWritableAndExecutable());
}

TEST(CodeImage, RefusesWhatIsNoImage) {
  std::unique_ptr<CodeImage> image;
  std::vector<uint8_t> text(1000, 'x');
  Result result = CodeImage::map(text, -1, 0, image);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.code(), PELLUCID_INVALID_PACKAGE);
  EXPECT_EQ(result.message(), "the code image is not a 64-bit little-endian ELF file");
}
