// SPDX-License-Identifier: Apache-2.0
/// What the program needs of its standard streams, whatever state they are in.
#pragma once

#include <cstdio>

namespace pellucid::cli {

/// A stream that is closed counts as /dev/null: the files that are opened must not take its number.
/// A file that reaches the limit of its size is an error of that write, not the end of the process.
/// From here on what is printed goes through printableStream.
void prepareStandardStreams();

/// A stream to `fd` on which names and texts of others can be printed: what a terminal would act on
/// is written as \x1b and the like (support/Printable.h). Null when there is no memory.
FILE *printableStream(int fd);

/// Writes out what was printed; when that fails, says so and makes an exit code of Ok one of
/// Refused.
int finishStandardOutput(int code);

} // namespace pellucid::cli
