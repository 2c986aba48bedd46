/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses vramscope_client.h without the library, as C and as C++: every call does nothing. */
#include <stdio.h>
#include <vramscope_client.h>

int main(void)
{
    struct vramscope_client_window window;
    int64_t number = vramscope_client_window_begin();
    vramscope_client_step(1);
    vramscope_client_annotate("weights");
    vramscope_client_range_push("load");
    vramscope_client_range_pop();
    vramscope_client_mark("here");
    vramscope_client_step_end();
    int none = number == -1 && vramscope_client_window_read(number, 0, &window) == -1 &&
               vramscope_client_window_end(number, 0, &window) == -1 &&
               vramscope_client_recording() == 0 && vramscope_client_stop_recording() == -1 &&
               vramscope_client_start_recording() == -1 && vramscope_client_dump("t.vst") == -1;
    puts(none ? "absent" : "wrong");
    return !none;
}
