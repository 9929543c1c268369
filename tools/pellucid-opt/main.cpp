// SPDX-License-Identifier: Apache-2.0
int pellucidOptMain(int argc, char **argv);

int main(int argc, char **argv) { return pellucidOptMain(argc, argv); }
