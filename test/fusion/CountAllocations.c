/* SPDX-License-Identifier: Apache-2.0
   LD_PRELOAD: how often and how much a program allocates, written at its end to
   COUNT_ALLOCATIONS.<pid>. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static atomic_ulong calls, bytes;

static void count(size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

void *malloc(size_t size) {
  count(size);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(number * size);
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count(size);
  return __libc_realloc(old, size);
}

__attribute__((destructor)) static void report(void) {
  const char *name = getenv("COUNT_ALLOCATIONS");
  if (!name)
    return;
  unsigned long made = atomic_load(&calls), size = atomic_load(&bytes);
  char path[4096];
  snprintf(path, sizeof path, "%s.%ld", name, (long)getpid());
  FILE *file = fopen(path, "w");
  if (!file)
    return;
  fprintf(file, "%lu %lu\n", made, size);
  fclose(file);
}
