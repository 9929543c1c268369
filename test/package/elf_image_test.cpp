// SPDX-License-Identifier: Apache-2.0
#include "package/ElfImage.h"

#include "package/SamplePackage.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <random>

using namespace pellucid;
using namespace pellucid::package;

TEST(ElfImage, ReadsWhatTheLinkerWrites) {
  ImageLayout layout;
  Status status = readImageLayout(test::sampleImage(), layout);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_GT(layout.memoryBytes, 0u);
  uint64_t executable = 0;
  for (const ImageSegment &segment : layout.segments) {
    EXPECT_EQ(segment.address % 4096, 0u);
    EXPECT_EQ(segment.fileOffset % 4096, 0u);
    EXPECT_LE(segment.fileOffset + segment.bytes, test::sampleImage().size());
    executable += segment.executable;
  }
  EXPECT_GE(executable, 1u);
}

TEST(ElfImage, FindsFunctionsByName) {
  ImageLayout layout;
  ASSERT_TRUE(readImageLayout(test::sampleImage(), layout).ok());
  uint64_t first = 0, second = 0;
  ASSERT_TRUE(symbolAddress(test::sampleImage(), "scale_bias", first).ok());
  ASSERT_TRUE(symbolAddress(test::sampleImage(), "row_sum", second).ok());
  EXPECT_NE(first, second);
  EXPECT_TRUE(isExecutableAddress(layout, first));
  EXPECT_FALSE(isExecutableAddress(layout, layout.memoryBytes));
  Status missing = symbolAddress(test::sampleImage(), "absent", first);
  EXPECT_EQ(missing.message(), "the code image has no function 'absent'");
}

/// Changes the first program header of type `type` and returns the complaint.
static std::string complaintAfter(uint32_t type, auto change) {
  std::vector<uint8_t> image = test::sampleImage();
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    uint8_t *at = image.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr entry;
    std::memcpy(&entry, at, sizeof(entry));
    if (entry.p_type != type)
      continue;
    change(entry, image);
    std::memcpy(at, &entry, sizeof(entry));
    break;
  }
  ImageLayout layout;
  return readImageLayout(image, layout).message();
}

TEST(ElfImage, RefusesWhatCannotBeMapped) {
  EXPECT_EQ(complaintAfter(PT_LOAD, [](Elf64_Phdr &p, auto &) { p.p_flags |= PF_W; }),
            "the code image has writable data");
  EXPECT_EQ(complaintAfter(PT_LOAD, [](Elf64_Phdr &p, auto &) { p.p_filesz = uint64_t(1) << 60; }),
            "the code image has a segment beyond its end");
  EXPECT_EQ(complaintAfter(PT_LOAD, [](Elf64_Phdr &p, auto &) { p.p_memsz += 4096; }),
            "the code image has memory without bytes in the file");
  EXPECT_EQ(complaintAfter(PT_LOAD, [](Elf64_Phdr &p, auto &) { p.p_vaddr += 8; }),
            "the code image has a segment that cannot be mapped by whole pages");
  EXPECT_EQ(complaintAfter(PT_LOAD, [](Elf64_Phdr &p, auto &) { p.p_type = PT_TLS; }),
            "the code image has an interpreter or thread-local data");
}

static std::string complaintWithDynamicEntry(int64_t tag) {
  return complaintAfter(PT_DYNAMIC, [tag](Elf64_Phdr &p, std::vector<uint8_t> &image) {
    Elf64_Dyn entry{};
    entry.d_tag = tag;
    entry.d_un.d_val = 24;
    std::memcpy(image.data() + p.p_offset, &entry, sizeof(entry));
  });
}

TEST(ElfImage, RefusesRelocationsAndLibraries) {
  EXPECT_EQ(complaintWithDynamicEntry(DT_RELASZ), "the code image has relocations");
  EXPECT_EQ(complaintWithDynamicEntry(DT_NEEDED), "the code image needs a library");
  EXPECT_EQ(complaintWithDynamicEntry(DT_INIT),
            "the code image has initialisers or text relocations");
}

/// Damage of any kind is an answer, not a crash: what is accepted lies within the bytes.
TEST(ElfImage, SurvivesAnyBytes) {
  std::mt19937 random(3);
  size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> image = test::sampleImage();
    for (int i = 0; i < 4; ++i)
      image[random() % (round % 2 ? 1024 : image.size())] = static_cast<uint8_t>(random());
    if (round % 3 == 0)
      image.resize(random() % image.size());
    ImageLayout layout;
    if (!readImageLayout(image, layout).ok()) {
      ++refused;
      continue;
    }
    for (const ImageSegment &segment : layout.segments)
      ASSERT_LE(segment.fileOffset + segment.bytes, image.size());
    uint64_t address = 0;
    (void)symbolAddress(image, "scale_bias", address).ok();
  }
  EXPECT_GT(refused, 5000u);
}
