/* SPDX-License-Identifier: Apache-2.0 */
#include <pellucid/compiler.h>

/* The smallest use in C: everything left to the defaults. */
pellucid_status compileInC(const char *model, const char *input, const char *path) {
  const char *inputs[] = {input};
  pellucid_compile_options options = {
      .struct_size = sizeof options, .inputs = inputs, .input_count = 1};
  return pellucid_compile(model, path, &options);
}
