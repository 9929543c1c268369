// SPDX-License-Identifier: Apache-2.0
// A linked image is what the package's reader takes: no relocations, imports or writable data.
#include "codegen/KernelFixture.h"
#include "codegen/cpu/LinkImage.h"
#include "package/ElfImage.h"

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

using Image = KernelTest;

TEST_P(Image, IsReadableByThePackage) {
  // Kernels with constant tables, stack arrays, prints and division of 128-bit integers.
  std::vector<CompiledObject> objects;
  for (auto [file, symbol] :
       {std::pair{"add", "add"}, {"mathk_fp64", "mathk"}, {"debugk", "debugk"}, {"flash", "flash"}})
    objects.push_back(compile(file, symbol).object);
  std::vector<char> elf;
  std::vector<EntryOffset> entries;
  Diagnostics diagnostics;
  ASSERT_TRUE(linkImage(objects, GetParam(), elf, entries, diagnostics)) << diagnostics.text();
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(elf.data()), elf.size());
  package::ImageLayout layout;
  package::Status status = package::readImageLayout(bytes, layout);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(entries.size(), objects.size());
  for (const EntryOffset &entry : entries) {
    uint64_t address = 0;
    ASSERT_TRUE(package::symbolAddress(bytes, entry.symbol, address).ok());
    EXPECT_EQ(address, entry.vaddr);
    EXPECT_TRUE(package::isExecutableAddress(layout, address));
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Image, testing::ValuesIn(runnableLevels()), levelName);

} // namespace
