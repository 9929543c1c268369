/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of libpellucid.so: from a Python file with Triton kernels, or a saved program, to
 * a package. Needs the program pellucid-worker beside the library, and libpellucid_runtime.so;
 * running a package needs the latter alone (pellucid/runtime.h, whose status codes these are).
 *
 * Every function returns PELLUCID_OK (0) or a code; pellucid_compile_error() then says why, in the
 * thread that called. No function throws, prints or ends the process. Any function may be called
 * from any thread with 320 KiB of stack; compilations of one process take turns while they trace.
 */
#ifndef PELLUCID_COMPILER_H
#define PELLUCID_COMPILER_H

#include <pellucid/runtime.h>

#include <stddef.h>
#include <stdint.h>

#if defined(PELLUCID_COMPILER_BUILD)
#define PELLUCID_COMPILER_API __attribute__((visibility("default")))
#else
#define PELLUCID_COMPILER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The words of `pellucid compile`, with the same meanings; NULL and 0: left out. Grows only at its
 * end; set struct_size to sizeof of the struct you were compiled with, the rest to 0. */
enum { PELLUCID_TF32_CONVOLUTIONS = 1, PELLUCID_TF32_PRODUCTS = 2 };

typedef struct pellucid_compile_options {
  size_t struct_size;
  /* One text per input: "x=bf16[batch:1..1024,128]". */
  const char *const *inputs;
  size_t input_count;
  const char *target;  /* "cpu:x86-64-v3,cuda:sm_90"; NULL: every CPU level */
  const char *init;    /* constructor arguments: "dim=96,raw=True" */
  const char *dtype;   /* of the parameters: "bf16" */
  const char *weights; /* a .safetensors or .npz file */
  const char *path;    /* a folder that absolute imports are looked up in */
  const char *worker;  /* the pellucid-worker to use; NULL: the one beside this library */
  uint64_t seed;       /* of the parameters where there are no weights */
  int32_t strict;      /* non-zero: as --strict */
  int32_t no_fusion;   /* non-zero: as --no-fusion */
  /* Gets warnings and notes, each with its place in the source, before the function returns. */
  void (*message)(void *message_state, const char *text);
  void *message_state;
  /* Non-zero: as --no-strict-weights: `weights` may lack tensors of the model and have others. */
  int32_t no_strict_weights;
  uint64_t host_steps;  /* as --host-steps; 0: the default */
  uint64_t host_memory; /* as --host-memory; 0: the default */
  /* As --kernels: files that define the triton_ops and custom_ops which an archive calls. */
  const char *const *kernels;
  size_t kernel_count;
  /* Non-zero: as --state-as-inputs: buffers that the model changes are inputs that a call writes
   * to, instead of state that an instance of the package owns. */
  int32_t state_as_inputs;
  int32_t train; /* non-zero: as --train */
  /* Which products of f32 on a device multiply tf32, which has 10 digits: 0 none,
   * PELLUCID_TF32_CONVOLUTIONS, PELLUCID_TF32_PRODUCTS (of matrices), or both added up. */
  int32_t tf32;
} pellucid_compile_options;

/* Compiles `model` ("FILE.py:CLASS", "FILE.py:FUNCTION", a saved program or an
 * archive of torch.export.save) and writes the package
 * to `package_path`, which holds a whole package or what it held before.
 * PELLUCID_INVALID_ARGUMENT: the model or an option is refused. PELLUCID_IO_ERROR: the package
 * cannot be written. */
PELLUCID_COMPILER_API pellucid_status pellucid_compile(const char *model, const char *package_path,
                                                       const pellucid_compile_options *options);

/* The package as bytes, for pellucid_load_memory; weights are copied into them. Free them with
 * pellucid_compile_free when no package loaded from them is left. On failure *data is NULL and
 * *bytes 0. */
PELLUCID_COMPILER_API pellucid_status pellucid_compile_memory(
    const char *model, void **data, size_t *bytes, const pellucid_compile_options *options);
PELLUCID_COMPILER_API void pellucid_compile_free(void *data); /* NULL is fine */

/* Why the last call of this thread failed, as the command line says it: "file.py:12:9: error: …"
 * with the line and a caret. "" if it did not fail. Valid until this thread's next call. */
PELLUCID_COMPILER_API const char *pellucid_compile_error(void);

#ifdef __cplusplus
}
#endif

#endif /* PELLUCID_COMPILER_H */
