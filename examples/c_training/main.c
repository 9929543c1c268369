/* SPDX-License-Identifier: Apache-2.0 */
/* Trains from plain C: steps of a package that `pellucid compile --train` made of
 * examples/train_step.py, the loss of each printed.
 *
 *   pellucid compile examples/train_step.py:Train --train --input 'x=f32[rows:1..64,8]'
 *     --input 'y=f32[rows,1]' -o step.plc
 *   c_training step.plc STEPS STATE.safetensors
 *
 * Parameters and optimiser state are read from STATE.safetensors where it is there, and written
 * back at the end.
 *
 *   cc -std=c11 -Iinclude examples/c_training/main.c -Lbuild/release/lib -lpellucid_runtime
 *     -Wl,-rpath,$PWD/build/release/lib -o c_training     (in one line, from the checkout)
 */
#include <pellucid/runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16, COLUMNS = 8 };

/* What is learned: y = 2 x[0] - x[1] + 0.5, on other rows in every step. */
static void makeBatch(int step, float *x, float *y) {
  for (int row = 0; row < ROWS; ++row) {
    float *at = x + row * COLUMNS;
    for (int column = 0; column < COLUMNS; ++column)
      at[column] = (float)((row * 37 + column * 11 + step * 7) % 101) / 50 - 1;
    y[row] = 2 * at[0] - at[1] + 0.5f;
  }
}

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, pellucid_last_error());
  return 1;
}

static int exists(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file)
    fclose(file);
  return file != NULL;
}

static int takeSteps(pellucid_instance *instance, int steps) {
  float x[ROWS * COLUMNS], y[ROWS];
  int64_t shapeOfX[2] = {ROWS, COLUMNS}, shapeOfY[2] = {ROWS, 1};
  DLDataType f32 = {kDLFloat, 32, 1};
  DLTensor inputs[2] = {{x, {kDLCPU, 0}, 2, f32, shapeOfX, NULL, 0},
                        {y, {kDLCPU, 0}, 2, f32, shapeOfY, NULL, 0}};
  for (int step = 0; step < steps; ++step) {
    DLManagedTensorVersioned *loss = NULL;
    makeBatch(step, x, y);
    if (pellucid_instance_run(instance, inputs, 2, &loss, 1, NULL) != PELLUCID_OK)
      return fail("step");
    printf("%.9g\n", (double)*(float *)loss->dl_tensor.data);
    loss->deleter(loss);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s step.plc STEPS STATE.safetensors\n", argv[0]);
    return 1;
  }
  pellucid_package *package = NULL;
  pellucid_instance *instance = NULL;
  if (pellucid_load(argv[1], &package) != PELLUCID_OK)
    return fail("load");
  int result = 0;
  if (pellucid_instance_create(package, NULL, &instance) != PELLUCID_OK)
    result = fail("instance");
  else if (exists(argv[3]) && pellucid_instance_load(instance, argv[3]) != PELLUCID_OK)
    result = fail(argv[3]);
  else
    result = takeSteps(instance, atoi(argv[2]));
  if (result == 0 && pellucid_instance_save(instance, argv[3]) != PELLUCID_OK)
    result = fail("save");
  pellucid_instance_destroy(instance);
  pellucid_unload(package);
  return result;
}
