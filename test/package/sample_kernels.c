// SPDX-License-Identifier: Apache-2.0
// Kernels as the code generator would emit them, for tests of the package and the run time.
#include <stdint.h>

typedef struct {
  int32_t failure, message;
  uint32_t program[3], reserved;
  void (*print)(void *state, int32_t message, const uint32_t program[3], int32_t kind,
                const void *values, uint64_t count);
  void *state;
} Context;

#define KERNEL(name)                                                                               \
  __attribute__((visibility("default"))) int32_t name(const void *packed, const uint32_t grid[3],  \
                                                      uint64_t first, uint64_t last,               \
                                                      void *scratch, Context *context)

// out[i] = in[i] * scale + bias[i % columns], 256 elements per program.
KERNEL(scale_bias) {
  const struct {
    const float *in, *bias;
    float *out;
    int32_t count, columns;
    float scale;
  } *a = packed;
  for (uint64_t p = first; p < last; ++p)
    for (int64_t i = (int64_t)p * 256; i < (int64_t)(p + 1) * 256 && i < a->count; ++i)
      a->out[i] = a->in[i] * a->scale + a->bias[i % a->columns];
  return 0;
}

// out[row] = sum of in[row, :], through the scratch memory.
KERNEL(row_sum) {
  const struct {
    const float *in;
    float *out;
    int32_t columns;
  } *a = packed;
  float *row = scratch;
  for (uint64_t p = first; p < last; ++p) {
    float sum = 0;
    for (int i = 0; i < a->columns; ++i)
      row[i] = a->in[p * a->columns + i];
    for (int i = 0; i < a->columns; ++i)
      sum += row[i];
    a->out[p] = sum;
  }
  return 0;
}

// data[i] += amount, one element per program; in place.
KERNEL(add_in_place) {
  const struct {
    float *data;
    float amount;
  } *a = packed;
  for (uint64_t p = first; p < last; ++p)
    a->data[p] += a->amount;
  return 0;
}

// Fails in every program whose value is negative; prints the others when asked to.
KERNEL(check_positive) {
  const struct {
    const float *in;
  } *a = packed;
  for (uint64_t p = first; p < last; ++p) {
    context->program[0] = (uint32_t)(p % grid[0]);
    context->program[1] = (uint32_t)(p / grid[0] % grid[1]);
    context->program[2] = (uint32_t)(p / grid[0] / grid[1]);
    if (a->in[p] < 0) {
      context->failure = 1;
      context->message = 0;
      return 1;
    }
    if (context->print) {
      double value = a->in[p];
      int64_t number = (int64_t)p;
      context->print(context->state, 1, context->program, 1, &value, 1);
      context->print(context->state, 2, context->program, 0, &number, 1);
    }
  }
  return 0;
}

// Some work per program, so that the pool has something to share out: out[p] = a hash of p.
KERNEL(busy) {
  const struct {
    uint32_t *out;
    int64_t rounds;
  } *a = packed;
  for (uint64_t p = first; p < last; ++p) {
    uint32_t h = (uint32_t)p + 1;
    for (int64_t i = 0; i < a->rounds; ++i)
      h = h * 1664525u + 1013904223u;
    a->out[p] = h;
  }
  return 0;
}

// Stores its scalar arguments as they arrived.
KERNEL(store_scalars) {
  const struct {
    int64_t *out;
    int64_t wide;
    int32_t word;
    int16_t half;
    uint8_t byte;
    uint8_t flag;
    float single;
    double real;
  } *a = packed;
  a->out[0] = a->wide;
  a->out[1] = a->word;
  a->out[2] = a->half;
  a->out[3] = a->byte;
  a->out[4] = a->flag;
  a->out[5] = (int64_t)a->single;
  a->out[6] = (int64_t)a->real;
  return 0;
}
