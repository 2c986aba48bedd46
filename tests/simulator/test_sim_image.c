/* SPDX-License-Identifier: Apache-2.0
 *
 * Which image of a module the device runs, as cuFuncGetAttribute reports it. Images are made here:
 * fat binaries of headers alone, and ELF headers.
 *
 * A bug this guards against: both versions were the device's own. On an RTX 4090 (8.9) CUB then
 * looked for tuning of 8.9 among the images of PyTorch's wheel, which has 8.6, and failed with "invalid
 * device function"; sort did not work. */
#include <elf.h>

#include "sim_test.h"

#define ONE_ARCH (1ull << 20)

struct image { /* kind (1: PTX, 2: machine code), architecture, flags */
    unsigned kind, arch;
    unsigned long long flags;
};

struct fat { /* a fat binary and what start-up code registers */
    struct {
        uint32_t magic, version;
        const void *data;
        void *more;
    } wrapper;
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
        unsigned char entries[1024];
    } binary;
};

/* Each entry has a header of 72 bytes and 16 bytes of code. */
static void fat_make(struct fat *fat, const struct image *images, size_t count)
{
    memset(fat, 0, sizeof *fat);
    fat->wrapper.magic = 0x466243b1;
    fat->wrapper.version = 1;
    fat->wrapper.data = &fat->binary;
    fat->binary.magic = 0xba55ed50;
    fat->binary.version = 1;
    fat->binary.header_bytes = 16;
    fat->binary.bytes = count * 88;
    for (size_t i = 0; i < count; i++) {
        unsigned char *at = fat->binary.entries + i * 88;
        uint16_t kind = (uint16_t)images[i].kind;
        uint32_t header = 72, arch = images[i].arch;
        uint64_t bytes = 16, flags = images[i].flags;
        memcpy(at, &kind, 2);
        memcpy(at + 4, &header, 4);
        memcpy(at + 8, &bytes, 8);
        memcpy(at + 28, &arch, 4);
        memcpy(at + 40, &flags, 8);
    }
}

static CUresult versions(const void *image, int *binary, int *ptx)
{
    CUmodule module;
    CUfunction f;
    CUresult e = cuModuleLoadData(&module, image);
    if (e)
        return e;
    OK(cuModuleGetFunction(&f, module, "k"));
    OK(cuFuncGetAttribute(binary, CU_FUNC_ATTRIBUTE_BINARY_VERSION, f));
    OK(cuFuncGetAttribute(ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
    OK(cuModuleUnload(module));
    return CUDA_SUCCESS;
}

static void chooses(int expected_binary, int expected_ptx, const struct image *images, size_t count)
{
    struct fat fat;
    int binary = 0, ptx = 0;
    fat_make(&fat, images, count);
    assert_int_equal(GOT(int, versions(&fat.wrapper, &got, &ptx)), expected_binary);
    assert_int_equal(ptx, expected_ptx);
    OK(versions(&fat.binary, &binary, &ptx)); /* without the wrapper */
    assert_int_equal(binary, expected_binary);
}

#define CHOOSES(binary, ptx, ...)                                            \
    chooses(binary, ptx, (const struct image[]){__VA_ARGS__},                \
            sizeof((const struct image[]){__VA_ARGS__}) / sizeof(struct image))

/* The device is 8.9. */
TEST(the_newest_machine_code_of_the_major_version_runs)
{
    CHOOSES(86, 86, {2, 75, 0}, {2, 80, 0}, {2, 86, 0}, {2, 90, 0}, {2, 100, 0}, {2, 120, 0});
    CHOOSES(86, 86, {2, 86, 0}, {2, 80, 0});
    CHOOSES(89, 89, {2, 86, 0}, {2, 89, 0}, {1, 89, 0});
    CHOOSES(80, 80, {1, 86, 0}, {2, 80, 0}); /* PTX is not compiled when machine code runs */
    CHOOSES(86, 86, {2, 86, 0}, {2, 87, ONE_ARCH});
}

TEST(else_the_newest_ptx_is_compiled_for_the_device)
{
    CHOOSES(89, 80, {2, 75, 0}, {1, 70, 0}, {1, 80, 0}, {1, 90, 0});
    CHOOSES(89, 52, {1, 52, 0});
}

TEST(without_code_for_the_device_the_image_is_refused)
{
    const struct image images[] = {{2, 75, 0}, {2, 90, 0}, {1, 90, 0}};
    struct fat fat;
    int binary, ptx;
    CUlibrary library;
    fat_make(&fat, images, 3);
    FAILS(versions(&fat.wrapper, &binary, &ptx), CUDA_ERROR_NO_BINARY_FOR_GPU);
    FAILS(cuLibraryLoadData(&library, &fat.wrapper, NULL, NULL, 0, NULL, NULL, 0),
          CUDA_ERROR_NO_BINARY_FOR_GPU);
    FAILS(versions(".version 8.0\n.target sm_90\n", &binary, &ptx), CUDA_ERROR_INVALID_PTX);
    FAILS(versions(".version 8.0\n.target sm_80a\n", &binary, &ptx), CUDA_ERROR_INVALID_PTX);
}

/* Programs whose kernels are host functions alone have no device code. */
TEST(without_any_code_the_image_is_taken_for_the_device)
{
    struct fat fat;
    int binary, ptx;
    fat_make(&fat, NULL, 0);
    assert_int_equal(GOT(int, versions(&fat.wrapper, &got, &ptx)), 89);
    fat.wrapper.data = NULL;
    assert_int_equal(GOT(int, versions(&fat.wrapper, &binary, &got)), 89);
    CHOOSES(89, 89, {2, 75, 0}, {8, 90, 0}); /* LTO-IR */
}

TEST(a_ptx_text_has_the_version_of_its_target)
{
    int binary, ptx;
    OK(versions(".version 8.0\n.target sm_75, debug\n.address_size 64\n.entry k(){}", &binary, &ptx));
    assert_int_equal(binary, 89);
    assert_int_equal(ptx, 75);
    assert_int_equal(GOT(int, versions("something else", &got, &ptx)), 89);
    assert_int_equal(ptx, 89);
}

/* The flags are those that ptxas 12.4 writes for sm_86 and ptxas 13.0 for sm_80 and sm_90. */
TEST(machine_code_alone_has_the_version_of_its_elf_header)
{
    int binary, ptx;
    Elf64_Ehdr header = {.e_ident = "\x7f" "ELF\x02\x01\x01\x33\x07", .e_machine = 190,
                         .e_flags = 0x560556};
    assert_int_equal(GOT(int, versions(&header, &got, &ptx)), 86);
    assert_int_equal(ptx, 86);
    header.e_ident[EI_ABIVERSION] = 8;
    header.e_flags = 0x6005004;
    OK(versions(&header, &binary, &ptx));
    assert_int_equal(binary, 80);
    header.e_flags = 0x6005a04;
    FAILS(versions(&header, &binary, &ptx), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

/* The ninth library of a context and each later one take 4 MiB here; a library's handle what it asks for. */
TEST(modules_take_memory_until_they_are_unloaded)
{
    const size_t each = (size_t)4 << 20, handle = (size_t)24 << 20;
    CUlibrary library[10], refused;
    CUmodule module;
    Elf64_Ehdr image = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                        .e_machine = 190, .e_flags = 89 | 89 << 16};
    size_t before = sim_free_bytes();
    for (int i = 0; i < 10; i++) {
        OK(cuLibraryLoadData(&library[i], &image, NULL, NULL, 0, NULL, NULL, 0));
        assert_int_equal(before - sim_free_bytes(), i < 8 ? 0 : each * (size_t)(i - 7));
    }
    OK(cuModuleLoadData(&module, &image));
    assert_int_equal(before - sim_free_bytes(), 2 * each);
    OK(cuModuleUnload(module));
    image.e_entry = handle;
    OK(cuModuleLoadData(&module, &image));
    assert_int_equal(before - sim_free_bytes(), 2 * each + handle);
    CUdeviceptr rest = sim_alloc(sim_free_bytes() & ~(((size_t)2 << 20) - 1));
    FAILS(cuLibraryLoadData(&refused, &image, NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree(rest));
    OK(cuModuleUnload(module));
    for (int i = 0; i < 10; i++)
        OK(cuLibraryUnload(library[i]));
    assert_int_equal(sim_free_bytes(), before);
}

SIM_TESTS_ON("rtx4090-24g")
