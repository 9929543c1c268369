// SPDX-License-Identifier: Apache-2.0
/// What the program needs of its standard streams, whatever state they are in.
#pragma once

namespace pellucid::cli {

/// A stream that is closed counts as /dev/null: the files that are opened must not take its number.
/// A file that reaches the limit of its size is an error of that write, not the end of the process.
void prepareStandardStreams();

/// Writes out what was printed; when that fails, says so and makes an exit code of Ok one of
/// Refused.
int finishStandardOutput(int code);

} // namespace pellucid::cli
