// SPDX-License-Identifier: Apache-2.0
/// Messages between a compiler and its code generation worker: frames of a 1-byte tag, an 8-byte
/// length and a payload.
#pragma once

#include "driver/CodegenJob.h"

#include <optional>
#include <string>
#include <string_view>

namespace pellucid::driver {

enum class FrameTag : char {
  Job = 'J',    ///< to the worker: one encoded CodegenJob
  Kernel = 'K', ///< from it: the symbol it starts on
  Alive = 'A',  ///< from it, every second: it is there, however long a kernel takes
  Result = 'R', ///< from it: the encoded CodegenResult; the last frame
  Error = 'E',  ///< from it: encoded diagnostics; the last frame
};

std::string encodeJob(const CodegenJob &job);
std::optional<CodegenJob> decodeJob(std::string_view bytes);
std::string encodeResult(const CodegenResult &result);
std::optional<CodegenResult> decodeResult(std::string_view bytes);
std::string encodeDiagnostics(const Diagnostics &diagnostics);
bool decodeDiagnostics(std::string_view bytes, Diagnostics &diagnostics);

/// Writes one frame to a file descriptor; false when the other side is gone.
bool writeFrame(int descriptor, FrameTag tag, std::string_view payload);
enum class FrameStatus {
  Whole,
  Ended,  ///< end of file, an error, or a frame beyond 4 GiB
  Silent, ///< nothing came for too long
};
/// Reads one frame; `secondsOfSilence` below zero waits for ever.
FrameStatus readFrame(int descriptor, FrameTag &tag, std::string &payload,
                      int secondsOfSilence = -1);

} // namespace pellucid::driver
