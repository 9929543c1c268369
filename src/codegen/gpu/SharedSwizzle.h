// SPDX-License-Identifier: Apache-2.0
// Where elements lie in shared memory while a tile goes from one layout to another, so that the
// lanes of a warp meet in no bank, when they write as when they read.
#pragma once

#include "codegen/gpu/Layout.h"

#include <optional>

namespace pellucid::codegen {

/// Bits of an element's row-major number that are xored into lower ones.
class SharedSwizzle {
public:
  struct Exchange {
    unsigned from, to; ///< bit `from` is added to the lower bit `to`
  };
  /// `bytes` of an element. Without exchanges where lanes do not step by powers of two, or nothing
  /// is gained.
  SharedSwizzle(const Layout &written, const Layout &read, unsigned bytes);

  /// The place of the element with this number; of a sum of bits it is the sum of theirs.
  uint32_t placeOf(uint32_t number) const;

  std::vector<Exchange> exchanges;
};

/// Elements that both layouts hold in the same registers, side by side: they move through shared
/// memory together, up to 16 bytes of them. Which bits of a register's number run over them.
struct SharedWords {
  SharedWords(const Layout &written, const Layout &read, unsigned bytes);

  unsigned size() const { return 1u << inWritten.size(); } ///< elements of a word
  /// The layout of words, along one dim, by the numbers of their elements without those bits.
  Layout wordsOf(const Layout &layout, const std::vector<unsigned> &bits) const;
  /// The register of element `which` of a layout's word; `bits` are those of the layout.
  static unsigned registerOf(const std::vector<unsigned> &bits, unsigned word, unsigned which);

  std::vector<unsigned> inWritten, inRead; ///< of register numbers
  std::vector<unsigned> ofNumber;          ///< of the element's row-major number, the same ones
};

/// The row-major number of a point.
uint32_t rowMajor(const Layout &layout, const Layout::Point &point);

} // namespace pellucid::codegen
