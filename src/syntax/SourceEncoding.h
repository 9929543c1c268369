// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/SourceFile.h"

namespace pellucid::syntax {

/// `file` as valid UTF-8 without byte order mark: itself when it already is, otherwise a decoded
/// copy under the same path. Honours the PEP 263 cookie for UTF-8, ASCII and Latin-1 and refuses
/// other encodings, NUL bytes and malformed UTF-8 with a DiagnosticError.
std::shared_ptr<const SourceFile> decodeSource(std::shared_ptr<const SourceFile> file);

} // namespace pellucid::syntax
