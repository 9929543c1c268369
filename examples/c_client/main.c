/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a package from plain C: one float32 or bfloat16 input of shape [batch, columns], every
 * output printed.
 *
 *   c_client model.plc BATCH COLUMNS [f32|bf16] [INPUT.raw [OUTPUT.raw]]
 *
 * INPUT.raw holds the input's elements (without it they are made up); OUTPUT.raw receives those of
 * the first output.
 *
 *   cc -std=c11 -Iinclude examples/c_client/main.c -Lbuild/release/lib -lpellucid_runtime
 *     -Wl,-rpath,$PWD/build/release/lib -o c_client     (in one line, from the checkout)
 */
#include <pellucid/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint16_t toBfloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float fromBfloat16(uint16_t value) {
  uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

static void fillInput(void *data, int64_t count, int isBfloat16) {
  for (int64_t i = 0; i < count; ++i) {
    float value = (float)(i * 37 % 101) / 50 - 1;
    if (isBfloat16)
      ((uint16_t *)data)[i] = toBfloat16(value);
    else
      ((float *)data)[i] = value;
  }
}

static int readAll(const char *path, void *data, size_t bytes) {
  FILE *file = fopen(path, "rb");
  size_t got = file ? fread(data, 1, bytes, file) : 0;
  if (file)
    fclose(file);
  if (got == bytes)
    return 0;
  fprintf(stderr, "%s: has %zu bytes, the input takes %zu\n", path, got, bytes);
  return 1;
}

static int64_t elementCount(const DLTensor *tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i)
    count *= tensor->shape[i];
  return count;
}

static int writeAll(const char *path, const DLTensor *tensor) {
  size_t bytes = (size_t)elementCount(tensor) * tensor->dtype.bits / 8;
  FILE *file = fopen(path, "wb");
  size_t put = file ? fwrite(tensor->data, 1, bytes, file) : 0;
  if (!file || fclose(file) != 0 || put != bytes) {
    fprintf(stderr, "%s: cannot be written\n", path);
    return 1;
  }
  return 0;
}

static void printOutput(size_t index, const DLTensor *tensor) {
  printf("output %zu:", index);
  for (int32_t i = 0; i < tensor->ndim; ++i)
    printf(" %lld", (long long)tensor->shape[i]);
  printf(" :");
  for (int64_t i = 0; i < elementCount(tensor) && i < 8; ++i) {
    if (tensor->dtype.code == kDLFloat && tensor->dtype.bits == 32)
      printf(" %g", (double)((float *)tensor->data)[i]);
    else if (tensor->dtype.code == kDLBfloat)
      printf(" %g", (double)fromBfloat16(((uint16_t *)tensor->data)[i]));
  }
  printf("\n");
}

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, pellucid_last_error());
  return 1;
}

static int runOnce(pellucid_package *package, const DLTensor *input, const char *outputPath) {
  size_t count = pellucid_output_count(package);
  DLManagedTensorVersioned **outputs = calloc(count ? count : 1, sizeof *outputs);
  if (!outputs)
    return 1;
  int result = 0;
  /* What a package has of state, an instance of it owns. */
  pellucid_instance *instance = NULL;
  pellucid_status status = pellucid_instance_create(package, NULL, &instance);
  if (status == PELLUCID_OK)
    status = pellucid_instance_run(instance, input, 1, outputs, count, NULL);
  if (status != PELLUCID_OK) {
    result = fail("run");
  } else {
    for (size_t i = 0; i < count; ++i)
      printOutput(i, &outputs[i]->dl_tensor);
    if (outputPath && count)
      result = writeAll(outputPath, &outputs[0]->dl_tensor);
    for (size_t i = 0; i < count; ++i)
      outputs[i]->deleter(outputs[i]);
  }
  pellucid_instance_destroy(instance);
  free(outputs);
  return result;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s model.plc BATCH COLUMNS [f32|bf16] [INPUT.raw [OUTPUT.raw]]\n",
            argv[0]);
    return 1;
  }
  int64_t shape[2] = {atoll(argv[2]), atoll(argv[3])};
  int isBfloat16 = argc > 4 && strcmp(argv[4], "bf16") == 0;
  if (shape[0] < 0 || shape[1] < 0)
    return 1;
  DLDataType dtype = {isBfloat16 ? kDLBfloat : kDLFloat, isBfloat16 ? 16 : 32, 1};
  size_t bytes = (size_t)(shape[0] * shape[1]) * dtype.bits / 8;
  void *data = malloc(bytes ? bytes : 1);
  if (!data)
    return 1;
  if (argc > 5) {
    if (readAll(argv[5], data, bytes) != 0)
      return 1;
  } else {
    fillInput(data, shape[0] * shape[1], isBfloat16);
  }
  DLTensor input = {data, {kDLCPU, 0}, 2, dtype, shape, NULL, 0};
  pellucid_package *package = NULL;
  if (pellucid_load(argv[1], &package) != PELLUCID_OK)
    return fail("load");
  int result = runOnce(package, &input, argc > 6 ? argv[6] : NULL);
  pellucid_unload(package);
  free(data);
  return result;
}
