// SPDX-License-Identifier: Apache-2.0
/// write_sample_package FILE: writes the sample model for tests in other languages.
#include "package/PackageWriter.h"
#include "package/SamplePackage.h"

#include <cstdio>

int main(int argc, char **argv) {
  pellucid::package::Status status =
      argc == 2 ? pellucid::package::writePackage(pellucid::test::sampleModel(), argv[1])
                : pellucid::package::Status::error("usage: write_sample_package FILE");
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
