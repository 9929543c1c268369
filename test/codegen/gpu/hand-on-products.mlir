// RUN: pellucid-opt %S/../differential/staged_attention_wide.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s
// RUN: pellucid-opt %S/../differential/staged_attention.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s --check-prefix=SMALL
// RUN: pellucid-opt %S/../differential/staged_attention_wide.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-accumulate-products --ttgpu-pipeline-loops --ttgpu-choose-layouts | FileCheck %s --check-prefix=ROWS

// Only the next round uses what the second product gives: that round starts it, behind its own first
// product, and waits for that one alone before the softmax. What it reads lies in one more copy than
// what the first product reads; the first round multiplies zeros, and the last product stands behind
// the loop.
// CHECK-LABEL: @staged_attention_wide
// CHECK:       %[[K:.*]] = ttgpu.alloc_shared : <3 of tensor<64x64xbf16> along 1>
// CHECK:       %[[V:.*]] = ttgpu.alloc_shared : <4 of tensor<64x64xbf16> along 1>
// CHECK:       ttgpu.share %{{[^ ]*}}, %[[V]]
// CHECK:       %[[LOOP:.*]]:{{.*}} = scf.for {{.*}} iter_args(%{{[^ ]*}} = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}}, %[[SUMS:[^ ]*]] =
// CHECK:         ttgpu.await_copies 1
// CHECK:         %[[S:.*]] = tt.dot {{.*}}ttgpu.runs
// CHECK-NEXT:    %[[OLD:.*]] = ttgpu.read_shared %[[V]]
// CHECK-NEXT:    %[[D:.*]] = tt.dot %[[P:[^ ]*]], %[[OLD]], %[[SUMS]], {{.*}}ttgpu.runs
// CHECK:         ttgpu.async_copy {{.*}} to %[[K]][%[[AT:.*]]] if
// CHECK-NOT:     ttgpu.async_copy {{.*}} to %[[V]][%[[AT]]]
// CHECK:         ttgpu.async_copy {{.*}} to %[[V]]
// CHECK:         ttgpu.await_products %[[S]], 1
// CHECK:         math.exp
// CHECK:         %[[NEXT:.*]] = arith.truncf {{.*}} to tensor<128x64xbf16>
// CHECK:         %[[SUM:.*]] = ttgpu.await_products %[[D]], 0
// CHECK-NEXT:    %[[SCALED:.*]] = arith.mulf %[[SUM]]
// CHECK-NOT:     tt.dot
// CHECK:         scf.yield {{[^ ]*}}, {{[^ ]*}}, %[[SCALED]], {{.*}}%[[NEXT]], %{{[^ ]*}} :
// CHECK:       %[[LAST:.*]] = ttgpu.read_shared %[[V]]
// CHECK-NEXT:  tt.dot %[[LOOP]]#{{[0-9]+}}, %[[LAST]], %[[LOOP]]#2
// CHECK-NOT:   ttgpu.runs

// The maximum and the sum of a row stay where the product has its row, in every round.
// ROWS-LABEL: @staged_attention_wide
// ROWS:       scf.for
// ROWS-NOT:   ttgpu.convert_layout {{.*}} : tensor<128xf32,
// ROWS:       scf.yield

// Where three blocks or more share a multiprocessor, they hide what handing on would.
// SMALL-LABEL: @staged_attention
// SMALL-NOT:   ttgpu.alloc_shared : <4
// SMALL:       scf.for
// SMALL:         ttgpu.await_products
// SMALL-NOT:     ttgpu.await_products
// SMALL:         scf.yield
