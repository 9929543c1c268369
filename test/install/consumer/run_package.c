/* SPDX-License-Identifier: Apache-2.0 */
/* run_package MODEL.plc: calls a package of one f32[batch, 128] input and prints its output's
 * shape. */
#include <pellucid/runtime.h>

#include <stdio.h>

int main(int argc, char **argv) {
  static float data[3 * 128];
  int64_t shape[2] = {3, 128};
  DLTensor x = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLManagedTensorVersioned *y = NULL;
  pellucid_package *package = NULL;
  if (argc != 2 || pellucid_load(argv[1], &package) != PELLUCID_OK ||
      pellucid_run(package, &x, 1, &y, 1, NULL) != PELLUCID_OK) {
    fprintf(stderr, "%s\n", pellucid_last_error());
    return 1;
  }
  printf("%d x %d\n", (int)y->dl_tensor.shape[0], (int)y->dl_tensor.shape[1]);
  y->deleter(y);
  return pellucid_unload(package);
}
