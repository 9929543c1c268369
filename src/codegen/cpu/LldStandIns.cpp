// SPDX-License-Identifier: Apache-2.0
// What lld names for link-time optimisation and images never use: Polly, whose archive is in a
// package of its own, and the targets that no code is generated for. Without these stand-ins a
// static build would carry all of them.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "no-polly", "0", [](llvm::PassBuilder &) {}, nullptr};
}

#define STAND_IN(target)                                                                           \
  extern "C" void LLVMInitialize##target##TargetInfo() {}                                          \
  extern "C" void LLVMInitialize##target##Target() {}                                              \
  extern "C" void LLVMInitialize##target##TargetMC() {}                                            \
  extern "C" void LLVMInitialize##target##AsmPrinter() {}                                          \
  extern "C" void LLVMInitialize##target##AsmParser() {}

STAND_IN(AArch64)
STAND_IN(AMDGPU)
STAND_IN(ARM)
STAND_IN(AVR)
STAND_IN(BPF)
STAND_IN(Hexagon)
STAND_IN(Lanai)
STAND_IN(LoongArch)
STAND_IN(M68k)
STAND_IN(MSP430)
STAND_IN(Mips)
STAND_IN(PowerPC)
STAND_IN(RISCV)
STAND_IN(SPIRV)
STAND_IN(Sparc)
STAND_IN(SystemZ)
STAND_IN(VE)
STAND_IN(WebAssembly)
STAND_IN(XCore)
STAND_IN(Xtensa)
