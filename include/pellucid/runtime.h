/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of libpellucid_runtime.so: load a package, run it on DLPack tensors.
 *
 * Every function returns PELLUCID_OK (0) or a code below; pellucid_last_error() then says why, in
 * the thread that called. No function throws, prints or ends the process. Any function may be
 * called from any thread; one loaded package serves any number of threads at once. What that thread
 * has set for its arithmetic (rounding, subnormal numbers, exceptions) and the program for its
 * numbers (setlocale) changes no result.
 *
 * A package is code: load only packages you would run as a program. Checksums are against
 * accidents.
 */
#ifndef PELLUCID_RUNTIME_H
#define PELLUCID_RUNTIME_H

#include <pellucid/dlpack.h>

#include <stddef.h>
#include <stdint.h>

#if defined(PELLUCID_RUNTIME_BUILD)
#define PELLUCID_API __attribute__((visibility("default")))
#else
#define PELLUCID_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t pellucid_status;
enum {
  PELLUCID_OK = 0,
  PELLUCID_INVALID_ARGUMENT = 1, /* an input, output or option breaks a rule */
  PELLUCID_INVALID_PACKAGE = 2,  /* truncated, corrupted or of a newer version */
  PELLUCID_UNSUPPORTED = 3,      /* the package has nothing for this machine or device */
  PELLUCID_KERNEL_FAILED = 4,    /* a device_assert did not hold */
  PELLUCID_OUT_OF_MEMORY = 5,
  PELLUCID_IO_ERROR = 6,     /* the file cannot be opened or mapped */
  PELLUCID_DEVICE_ERROR = 7, /* the CUDA driver reported a failure */
  PELLUCID_INTERNAL_ERROR = 8,
  PELLUCID_CANCELLED = 9 /* pellucid_run_options: cancel or timeout_ms */
};

/* A loaded package. Its file stays mapped until pellucid_unload and must not be changed meanwhile.
 */
typedef struct pellucid_package pellucid_package;

/* What calls did, for chrome://tracing and Perfetto. Safe to share between threads. */
typedef struct pellucid_profile pellucid_profile;

/* Grows only at its end; set struct_size to sizeof of the struct you were compiled with, the rest
 * to 0. */
typedef struct pellucid_load_options {
  size_t struct_size;
  /* "cpu:x86-64-v3": no CPU level above this one; "cpu" or "cuda": only this device. NULL: the best
   * here. */
  const char *target;
  /* Non-zero: check the checksum of every record, weights too (reads the whole file). */
  int32_t verify;
} pellucid_load_options;

/* Memory for outputs. `allocate` returns at least `bytes` bytes at a multiple of `alignment` on
 * `device`, or NULL; what breaks that is refused. */
typedef struct pellucid_allocator {
  void *state;
  void *(*allocate)(void *state, size_t bytes, size_t alignment, DLDevice device);
  void (*release)(void *state, void *data, size_t bytes, DLDevice device);
} pellucid_allocator;

/* Grows only at its end, as above. */
typedef struct pellucid_run_options {
  size_t struct_size;
  /* Most threads that work on this call, the caller included; 0: as many as the process may use.
   * Results do not depend on it. */
  int32_t threads;
  /* CUDA: the CUstream to work on; NULL: the legacy default stream. The call returns when the work
   * is queued. */
  void *stream;
  /* Records this call when not NULL; a CUDA call then waits for its end. */
  pellucid_profile *profile;
  /* For outputs of pellucid_run; must outlive them. NULL: the run time's own. */
  const pellucid_allocator *allocator;
  /* Gets the lines of tl.device_print, from many threads, one call at a time. NULL: they are
   * dropped. */
  void (*print)(void *print_state, const char *line);
  void *print_state;
  /* The call ends with PELLUCID_CANCELLED soon after *cancel is not 0 any more; any thread, or a
   * signal handler, may store there. NULL: nothing is looked at. It is looked at between the
   * steps of a call and, on the CPU, between the programs of a launch: one program that never ends
   * cannot be interrupted, nor can a kernel that a GPU runs (there the steps that are not queued
   * yet are left out). Outputs and written inputs are then in any state. */
  const int32_t *cancel;
  /* Milliseconds after which a call ends in the same way; 0: none. */
  int64_t timeout_ms;
  /* To find accesses beside a tensor, on the CPU only: for this call every input, output, weight,
   * buffer and scratch memory is moved to memory of its own that ends (PELLUCID_GUARD_END) or
   * begins (PELLUCID_GUARD_BEGIN) at a page without access. A kernel that goes beyond it ends the
   * process with SIGSEGV. 0: off. */
  int32_t guard;
  /* What the call's random numbers start from, where `seeded` is not 0: with one seed and offset
   * they are the same for every number of threads and on every device. Each offset has numbers of
   * its own, so a loop that counts it up goes through one stream. Where `seeded` is 0, each loaded
   * package has a seed from the system and counts its calls. */
  int32_t seeded;
  uint64_t seed, offset;
} pellucid_run_options;

enum { PELLUCID_GUARD_END = 1, PELLUCID_GUARD_BEGIN = 2 };

/* Maps the file and picks the code for this machine. `*out` is NULL on failure. */
PELLUCID_API pellucid_status pellucid_load(const char *path, pellucid_package **out);
PELLUCID_API pellucid_status pellucid_load_with(const char *path,
                                                const pellucid_load_options *options,
                                                pellucid_package **out);
/* From bytes, which must stay valid and unchanged until pellucid_unload. Where they begin at a
 * multiple of 64, weights are read in place, else they are copied. */
PELLUCID_API pellucid_status pellucid_load_memory(const void *data, size_t bytes,
                                                  const pellucid_load_options *options,
                                                  pellucid_package **out);
/* No call may be running. Outputs stay valid. NULL is fine. */
PELLUCID_API pellucid_status pellucid_unload(pellucid_package *package);

/* JSON: name, inputs, outputs, symbols with ranges, weights, state, kernels, targets. Valid until
 * pellucid_unload. */
PELLUCID_API const char *pellucid_describe(const pellucid_package *package);
PELLUCID_API size_t pellucid_input_count(const pellucid_package *package);
PELLUCID_API size_t pellucid_output_count(const pellucid_package *package);
/* The tensors that calls change, and their names; NULL for an index beyond them. */
PELLUCID_API size_t pellucid_state_count(const pellucid_package *package);
PELLUCID_API const char *pellucid_state_name(const pellucid_package *package, size_t index);

/* One call. `outputs[i]` receives a new tensor that the caller frees with its deleter (on failure
 * all are NULL). An output that is a mutated input is a tensor over the input's memory: it is valid
 * as long as that is. */
PELLUCID_API pellucid_status pellucid_run(pellucid_package *package, const DLTensor *inputs,
                                          size_t input_count, DLManagedTensorVersioned **outputs,
                                          size_t output_count, const pellucid_run_options *options);
/* One call into the caller's dense, row-major memory. Outputs must not overlap inputs or each
 * other, except that an output that is a mutated input may be that input. */
PELLUCID_API pellucid_status pellucid_run_into(pellucid_package *package, const DLTensor *inputs,
                                               size_t input_count, const DLTensor *outputs,
                                               size_t output_count,
                                               const pellucid_run_options *options);

/* A call of pellucid_run_into with these tensors, checked, planned and packed once. Only the
 * DLTensor structs are read here; their memory must stay valid, at its address, until the call is
 * destroyed, and so must the package. Each run reads what is there then. Nothing runs yet. On CUDA
 * the steps become one CUDA graph, but where tensors decide which steps are done (control flow):
 * those are queued one by one, and a run waits for the device, as it does where the package draws
 * random numbers. Each run has its own, from its options. `*out` is NULL on failure. */
typedef struct pellucid_call pellucid_call;
PELLUCID_API pellucid_status pellucid_call_create(pellucid_package *package, const DLTensor *inputs,
                                                  size_t input_count, const DLTensor *outputs,
                                                  size_t output_count, pellucid_call **out);
/* Runs it: no check, no lock, no allocation. One run at a time: while another thread runs the same
 * call it is refused with PELLUCID_INVALID_ARGUMENT. CUDA: queued on options->stream, behind the
 * last run of this call. Of the options threads, print, cancel and timeout_ms count on the CPU and
 * stream on CUDA, seed and offset on both; profile, allocator and guard are refused, and with a
 * CUDA graph cancel and timeout_ms too. */
PELLUCID_API pellucid_status pellucid_call_run(pellucid_call *call,
                                               const pellucid_run_options *options);
/* What was queued must have ended. NULL is fine. */
PELLUCID_API void pellucid_call_destroy(pellucid_call *call);

/* The state of one user of a package (counters, running statistics, caches), on one device. A
 * package with state is called through an instance only; instances share code and weights, and
 * cost the memory of the state. An instance does one thing at a time: what comes while a call,
 * load, save or reset of it is under way is refused with PELLUCID_INVALID_ARGUMENT. A call that is
 * refused, or fails before its first write to the state, leaves the state as it was. One that fails
 * later leaves it unfinished: calls and saves are then refused until a load or reset. */
typedef struct pellucid_instance pellucid_instance;

/* Grows only at its end, as above. */
typedef struct pellucid_instance_options {
  size_t struct_size;
  /* Where the state lies, and the only device of its calls. All zero: the CPU if the package has
   * code for one, else the first CUDA device. */
  DLDevice device;
  /* Non-zero: a call that fails leaves the state as it was before it. Takes the state's memory once
   * more, and a copy of it in each call. */
  int32_t restore_on_failure;
} pellucid_instance_options;

/* With the state that the package gives. The package must outlive it. `*out` is NULL on failure. */
PELLUCID_API pellucid_status pellucid_instance_create(pellucid_package *package,
                                                      const pellucid_instance_options *options,
                                                      pellucid_instance **out);
/* Its calls must have ended, prepared ones be destroyed. NULL is fine. */
PELLUCID_API void pellucid_instance_destroy(pellucid_instance *instance);

/* As the functions of their names without `instance`. CUDA: calls of one instance follow each other
 * on the device, whatever streams they are queued on. */
PELLUCID_API pellucid_status pellucid_instance_run(pellucid_instance *instance,
                                                   const DLTensor *inputs, size_t input_count,
                                                   DLManagedTensorVersioned **outputs,
                                                   size_t output_count,
                                                   const pellucid_run_options *options);
PELLUCID_API pellucid_status pellucid_instance_run_into(pellucid_instance *instance,
                                                        const DLTensor *inputs, size_t input_count,
                                                        const DLTensor *outputs,
                                                        size_t output_count,
                                                        const pellucid_run_options *options);
PELLUCID_API pellucid_status pellucid_instance_call_create(
    pellucid_instance *instance, const DLTensor *inputs, size_t input_count,
    const DLTensor *outputs, size_t output_count, pellucid_call **out);

/* Back to the state that the package gives. */
PELLUCID_API pellucid_status pellucid_instance_reset(pellucid_instance *instance);
/* A .safetensors file with every tensor of the state. `load` takes one whose names, types and
 * shapes are the package's and changes nothing otherwise; `save` leaves what the file held before,
 * or the whole state. CUDA: both wait for the instance's calls. */
PELLUCID_API pellucid_status pellucid_instance_load(pellucid_instance *instance, const char *path);
PELLUCID_API pellucid_status pellucid_instance_save(pellucid_instance *instance, const char *path);
/* A view of one tensor of the state, to read or write between calls. It stays at its address until
 * the instance is destroyed; inputs and outputs of the instance's calls must not overlap it. */
PELLUCID_API pellucid_status pellucid_instance_state(pellucid_instance *instance, size_t index,
                                                     DLTensor *out);

/* Computes the shapes that pellucid_run would return: for output i its rank in ranks[i] and its
 * dims in shapes[i * 64 ...]. */
PELLUCID_API pellucid_status pellucid_output_shapes(pellucid_package *package,
                                                    const DLTensor *inputs, size_t input_count,
                                                    int32_t *ranks, int64_t *shapes,
                                                    size_t output_count);

/* Why the last call of this thread failed; "" if it did not. Valid until this thread's next call.
 */
PELLUCID_API const char *pellucid_last_error(void);

PELLUCID_API pellucid_status pellucid_profile_create(pellucid_profile **out);
PELLUCID_API void pellucid_profile_destroy(pellucid_profile *profile);
/* Chrome trace-event JSON of all calls so far. Valid until the next call with this profile. */
PELLUCID_API const char *pellucid_profile_json(pellucid_profile *profile);

/* JSON: this machine's CPU level and threads, and the CUDA driver and devices or why there are
 * none. */
PELLUCID_API const char *pellucid_describe_system(void);

/* "0.1.0", and the newest format and ABI version of packages that it loads. */
PELLUCID_API const char *pellucid_version(void);
PELLUCID_API void pellucid_package_versions(uint32_t *format_version, uint32_t *abi_version);

#ifdef __cplusplus
}
#endif

#endif /* PELLUCID_RUNTIME_H */
