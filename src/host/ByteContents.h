// SPDX-License-Identifier: Apache-2.0
/// What bytes are made of: numbers, texts in an encoding, hexadecimal digits.
#pragma once

#include "host/ByteString.h"

namespace pellucid::host {

/// The bytes of a bytes-like object; raises TypeError for others.
const std::string &bytesOf(Interpreter &, const Value &);
/// One of them from a number; `what` is its name in an error.
char byteOf(Interpreter &, const Value &, const char *what);
/// bytes.decode() and str.encode().
Value decoded(Interpreter &, const std::string &bytes, const Value &encoding, const Value &errors);
std::string encoded(Interpreter &, const std::string &text, const Value &encoding,
                    const Value &errors);
/// bytes.fromhex().
std::string fromHex(Interpreter &, const std::string &text);
/// What bytes() and bytearray() are given: source, encoding, errors. `type` is which it is.
std::string contentsOf(Interpreter &, const std::vector<Value> &arguments, const char *type);

} // namespace pellucid::host
