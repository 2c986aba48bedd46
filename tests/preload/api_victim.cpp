// SPDX-License-Identifier: Apache-2.0
//
// The public header in C++: callbacks accept lambdas, weak references can be requested, no name
// collides with the language.
#define VRAMSCOPE_WEAK
#include "vramscope.h"

#include <cstdio>
#include <map>
#include <string>

int main()
{
    if (!vramscope_visit_statistics || !vramscope_snapshot) {
        std::puts("absent");
        return 0;
    }
    std::map<std::string, int64_t> all;
    int r = vramscope_visit_statistics(
        0,
        [](const char *key, int64_t value, void *arg) {
            (*static_cast<std::map<std::string, int64_t> *>(arg))[key] = value;
        },
        &all);
    vramscope_block block{};
    bool none = vramscope_copy_blocks(0, &block, 1) == 0;
    bool walked = vramscope_snapshot(
                      0, [](const vramscope_segment *, const vramscope_block *, void *) { return 1; },
                      nullptr) == 0;
    bool ok = r == 0 && none && walked && all.at("reserved_bytes.all.peak") == 0 &&
              all.at("max_split_size") == -1 && vramscope_torch_alloc(0, 0, nullptr) == nullptr;
    std::puts(ok ? "ok" : "wrong");
    return ok ? 0 : 1;
}
