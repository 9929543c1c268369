// SPDX-License-Identifier: Apache-2.0
/// The instructions of a pickle of protocol 2, as torch.save writes it.
#pragma once

#include "support/DataType.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::archive {

class PickleWriter {
public:
  void none() { put('N'); }
  void boolean(bool value) { put(value ? 0x88 : 0x89); }
  void integer(int64_t value);
  void real(double value);
  void text(std::string_view value);
  /// Elements come between the two calls.
  void beginTuple() { put('('); }
  void endTuple() { put('t'); }
  void beginList() { put(']'), put('('); }
  void endList() { put('e'); }
  void beginDict() { put('}'), put('('); }
  void beginOrderedDict();
  void endDict() { put('u'); }
  /// A class or a constant by its name.
  void global(std::string_view module, std::string_view name);
  /// Calls the two values before it: a global and a tuple.
  void call() { put('R'); }
  /// A tensor in the record `data/KEY` of `count` elements. Offset and strides are in elements.
  struct Place {
    std::string key;
    int64_t count = 0, offset = 0;
    std::vector<int64_t> sizes, strides;
  };
  void tensor(DataType dtype, const Place &place, bool requiresGrad);
  /// What was written last is kept under a number, and written again by it.
  void remember(uint32_t number);
  void recall(uint32_t number);
  /// Around a tensor: begins before it, ends behind it.
  void beginParameter();
  void endParameter(bool requiresGrad);
  /// The whole pickle.
  std::vector<uint8_t> finish();

private:
  void put(uint8_t byte) { out.push_back(byte); }
  void little(uint64_t value, int size);
  void integers(const std::vector<int64_t> &values);
  void storage(std::string_view type, const std::string &key, int64_t count);

  std::vector<uint8_t> out = {0x80, 2};
};

} // namespace pellucid::archive
