// SPDX-License-Identifier: Apache-2.0
// Whether a kernel's IR is still what its surroundings say.
#include "frontend/EmitKernel.h"

#include <algorithm>
#include <bit>

namespace pellucid::frontend {

using host::Kind;
using host::Value;

/// Whether nothing can change inside the value, so that it says all by being the same.
static bool isImmutable(const Value &value) {
  switch (value.kind()) {
  case Kind::List:
  case Kind::Dict:
  case Kind::Set:
    return false;
  case Kind::Tuple:
    return std::all_of(value.tuple().begin(), value.tuple().end(), isImmutable);
  case Kind::Object:
    if (auto *constant = value.as<host::Constexpr>())
      return isImmutable(constant->value);
    return true;
  default:
    return true;
  }
}

/// Stricter than Python's ==: 1, 1.0 and True are three constants for a kernel, 0.0 and -0.0 two.
static bool isSameConstant(const Value &a, const Value &b) {
  if (a.kind() != b.kind())
    return false;
  if (a.isFloat())
    return std::bit_cast<uint64_t>(a.real()) == std::bit_cast<uint64_t>(b.real());
  if (a.isTuple())
    return std::equal(a.tuple().begin(), a.tuple().end(), b.tuple().begin(), b.tuple().end(),
                      isSameConstant);
  auto *x = a.as<host::Constexpr>(), *y = b.as<host::Constexpr>();
  if (x && y)
    return isSameConstant(x->value, y->value);
  return a.isSame(b);
}

void HostReads::add(Read read) {
  repeatable &= isImmutable(read.value);
  if (repeatable)
    reads.push_back(std::move(read));
}

void HostReads::name(const host::JitFunction &reader, std::string_view name, const Value &value) {
  add({reader.function, Value(), std::string(name), value});
}

void HostReads::attribute(const Value &object, std::string_view name, const Value &value) {
  bool changes =
      object.as<host::Module>() || object.as<host::Class>() || object.as<host::Instance>();
  if (changes)
    add({nullptr, object, std::string(name), value});
}

bool HostReads::unchanged(host::Interpreter &interpreter) const {
  return repeatable && std::all_of(reads.begin(), reads.end(), [&](const Read &read) {
           auto now = read.reader ? read.reader->lookup(interpreter, read.name)
                                  : interpreter.findAttr(read.object, read.name);
           return now && isSameConstant(*now, read.value);
         });
}

} // namespace pellucid::frontend
