// RUN: pellucid-opt %S/../differential/staged_restart.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-restart-sums | FileCheck %s
// RUN: pellucid-opt %S/../differential/staged_restart.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-restart-sums --ttgpu-pipeline-loops | FileCheck %s --check-prefix=STAGED
// RUN: pellucid-opt %S/../differential/staged_restart.ttir --ttgpu-choose-products="stages=3" --ttgpu-restart-sums | FileCheck %s --check-prefix=WARP

// The sums stay in the product's registers: whether it begins anew is chosen where it starts.
// CHECK-LABEL: @staged_restart
// CHECK:       %[[NO:.*]] = arith.constant false
// CHECK:       scf.for {{.*}} iter_args(%[[SUM:.*]] = {{.*}}, %[[BEGINS:.*]] = %[[NO]])
// CHECK:         %[[START:.*]] = arith.select %[[BEGINS]], %{{.*}}, %[[SUM]]
// CHECK:         %[[D:.*]] = tt.dot {{.*}}, %[[START]]
// CHECK:         %[[ENDS:.*]] = arith.cmpi eq
// CHECK-NOT:     arith.select
// CHECK:         scf.if %[[ENDS]]
// CHECK:         scf.yield %[[D]], %[[ENDS]]

// It runs into the next round; the branch that stores it waits.
// STAGED-LABEL: @staged_restart
// STAGED:       scf.for
// STAGED:         %[[D:.*]] = tt.dot {{.*}}ttgpu.runs
// STAGED-NOT:     ttgpu.async_copy
// STAGED:         ttgpu.release_operands
// STAGED-NOT:     ttgpu.await_products
// STAGED:         %[[AFTER:.*]] = scf.if
// STAGED:           %[[WHOLE:.*]] = ttgpu.await_products %[[D]], 0
// STAGED:           tt.store {{.*}}, %[[WHOLE]]
// STAGED:           scf.yield %[[WHOLE]]
// STAGED:         } else {
// STAGED:           scf.yield %[[D]]
// STAGED:         scf.yield %[[AFTER]]

// mma.sync has no such choice.
// WARP-LABEL: @staged_restart
// WARP:         tt.dot
// WARP:         arith.select
