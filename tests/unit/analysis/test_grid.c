/* SPDX-License-Identifier: Apache-2.0
 *
 * The screen of the live view in memory: what is cut, what a terminal must not see. */
#include <string.h>

#include "support/cmocka_test.h"
#include "viewer/top/grid.h"
#include "viewer/top/top_frame.h"

static char text[4096];

static const char *line(const struct vs_grid *grid, unsigned row)
{
    text[0] = 0;
    for (unsigned i = 0; i < grid->columns; i++)
        strcat(text, *vs_grid_at(grid, row, i)->text ? vs_grid_at(grid, row, i)->text : " ");
    return text;
}

TEST(text_is_cut_at_its_end)
{
    struct vs_grid grid = {0};
    vs_grid_begin(&grid, 2, 10);
    assert_int_equal(vs_grid_put(&grid, 0, 1, 8, VS_PLAIN, "%s", "abcdefgh"), 8);
    assert_string_equal(line(&grid, 0), " abcdef…  ");
    assert_int_equal(vs_grid_put(&grid, 1, 5, 99, VS_PLAIN, "%s", "abcde"), 10);
    assert_string_equal(line(&grid, 1), "     abcde");
    vs_grid_put(&grid, 7, 0, 10, VS_PLAIN, "outside");
    vs_grid_put(&grid, 0, 12, 14, VS_PLAIN, "outside");
    vs_grid_right(&grid, 1, 4, 4, VS_PLAIN, "%s", "xy");
    assert_string_equal(line(&grid, 1), "  xy abcde");
    vs_grid_free(&grid);
}

TEST(characters_that_a_terminal_would_interpret_are_replaced)
{
    struct vs_grid grid = {0};
    vs_grid_begin(&grid, 1, 12);
    vs_grid_put(&grid, 0, 0, 12, VS_PLAIN, "%s", "a\x1b[2J\x07\x7f\xc2\x9b\xff" "é");
    assert_string_equal(line(&grid, 0), "a?[2J????é  ");
    vs_grid_put(&grid, 0, 0, 12, VS_PLAIN, "%s", "漢̀\xe2\x80\x8b\xe2\x80\xae▆─");
    assert_string_equal(line(&grid, 0), "????▆─???é  ");
    grid.ascii = true;
    vs_grid_put(&grid, 0, 0, 5, VS_PLAIN, "%s", "é▆abcd");
    assert_string_equal(line(&grid, 0), "??ab~─???é  ");
    vs_grid_free(&grid);
}

/* Any size, also ones in which nothing fits. */
TEST(every_size_can_be_drawn)
{
    struct vs_top_process process = {.pid = 4242,
                                     .view = {.exe = "/usr/bin/python3.11", .running = true,
                                              .cmdline = "python3 -u /home/me/train.py --x 1.py",
                                              .path = "x.vst", .complete = true}};
    struct vs_memory_history history = {.count = 3, .highest = {1, 2, 3}, .period_ns = 1};
    struct vs_watch_device device = {
        .name = "Test", .allocated = 1 << 20, .peak = 3, .reserved = 2 << 20, .cached = 1 << 20,
        .total = 4 << 20, .used = 1 << 20, .used_known = true, .history = &history, .growing = true,
        .growth = {.per_step = 7, .confidence = 1},
        .forecast = {.known = true, .steps_known = true, .steps = 7, .per_step = 7},
        .sites = {{.bytes = 9, .name = "f (a.py:1)", .chain = "f (a.py:1) < g < main\nx = y < 3"}},
        .site_count = 1, .sites_bytes = 9};
    struct vs_top_model *model = calloc(1, sizeof *model);
    struct vs_grid grid = {0};
    process.view.devices = &device;
    process.view.device_count = 1;
    *model = (struct vs_top_model){.processes = &process, .count = 1, .interval_ms = 1000};
    vs_top_sort_rows(model);
    assert_int_equal(model->row_count, 1);
    for (unsigned rows = 1; rows < 40; rows++)
        for (unsigned columns = 1; columns < 130; columns += 3) {
            model->expanded = rows % 2;
            model->help = columns % 5 == 0;
            vs_grid_begin(&grid, rows, columns);
            vs_top_draw(model, &grid);
        }
    model->expanded = model->help = false;
    vs_grid_begin(&grid, 24, 80);
    vs_top_draw(model, &grid);
    assert_non_null(strstr(line(&grid, 3), "4242"));
    assert_non_null(strstr(line(&grid, 3), " train.py "));
    static const struct { uint64_t steps; const char *text; } left[] = {
        {7, "  7 st."}, {994, "990 st."}, {995, "1.0k st."}, {3600, "3.6k st."}, {36000, "36k st."},
        {994999, "995k st."}, {UINT64_MAX, "18E st."},
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        device.forecast.steps = left[i].steps;
        vs_grid_begin(&grid, 24, 40);
        vs_top_draw(model, &grid);
        assert_non_null(strstr(line(&grid, 3), left[i].text));
    }
    model->expanded = true; /* the source line below its function */
    vs_grid_begin(&grid, 24, 80);
    vs_top_draw(model, &grid);
    unsigned of_code = 0;
    while (of_code < 22 && !strstr(line(&grid, of_code), "main > g > f (a.py:1)"))
        of_code++;
    assert_non_null(strstr(line(&grid, of_code + 1), "    x = y < 3"));
    model->expanded = false;
    device.sites[0].name = "a_long_line_of_code(with, many, arguments, to, be, cut) (train.py:123)";
    device.sites[0].growing = true;
    device.sites[0].growth_per_step = 5;
    vs_grid_begin(&grid, 24, 80);
    vs_top_draw(model, &grid);
    bool found = false; /* its place is whole */
    for (unsigned row = 0; row < 24; row++)
        found |= strstr(line(&grid, row), "a_long_line_of_code(with,… (train.py:123) +5 B/step") != NULL;
    assert_true(found);
    device.sites_omitted = 24; /* beyond those that were read */
    vs_grid_begin(&grid, 24, 40);
    vs_top_draw(model, &grid);
    for (unsigned row = found = false; row < 24; row++)
        found |= strstr(line(&grid, row), "24 more call sites") != NULL;
    assert_true(found);
    /* the graph fills the rest; the tree joins what the chains share */
    device.sites[0].name = "f (a.py:1)";
    device.sites[0].chain = "f (a.py:1) < g < main";
    device.sites[1] = (struct vs_watch_site){.bytes = 3, .growing = true, .growth_per_step = 8,
                                             .name = "h (a.py:2)",
                                             .chain = "h (a.py:2) < k:5 < g < main"};
    device.site_count = 2;
    device.sites_bytes = 12;
    model->expanded = true;
    static const char *const trees[2][3] = {
        {"+13 B main > g", "  f (a.py:1)", "k (a.py:5) > h (a.py:2)"},
        {"+13 B main > g", "k (a.py:5) > h (a.py:2)", "  f (a.py:1)"}};
    for (unsigned by = 0; by < 2; by++) {
        model->by_growth = by;
        vs_grid_begin(&grid, 40, 80);
        vs_top_draw(model, &grid);
        unsigned at = 0;
        while (at < 30 && !strstr(line(&grid, at), "CALL TREE"))
            at++;
        for (unsigned i = 0; i < 3; i++)
            assert_non_null(strstr(line(&grid, at + 1 + i), trees[by][i]));
    }
    for (unsigned row = found = false; row < 24; row++)
        found |= strstr(line(&grid, row), "       3 B │    ") != NULL;
    assert_true(found);
    assert_non_null(strstr(line(&grid, 37), "│█████"));
    assert_non_null(strstr(line(&grid, 38), "0 B  0 s"));
    process.error = "x.vst: no such file";
    vs_top_draw(model, &grid);
    for (unsigned row = 0; row < 24; row++)
        assert_null(strstr(line(&grid, row), "running"));
    vs_grid_free(&grid);
    free(model);
}

TEST(the_newest_period_is_in_the_graph)
{
    struct vs_memory_history history = {.count = 64, .highest = {[63] = 8}, .period_ns = 10};
    struct vs_watch_device device = {.peak = 8, .history = &history};
    struct vs_grid grid = {0};
    vs_grid_begin(&grid, 8, 43);
    vs_top_graph(&device, 631, &grid, 0, 8);
    assert_string_equal(vs_grid_at(&grid, 0, 41)->text, "█");
    assert_string_equal(vs_grid_at(&grid, 6, 40)->text, "");
    vs_grid_free(&grid);
}

static struct vs_top_process processes[3];
static struct vs_watch_device devices[3];

TEST(the_selected_row_stays_selected_when_the_order_changes)
{
    struct vs_top_model *model = calloc(1, sizeof *model);
    for (unsigned i = 0; i < 3; i++) {
        devices[i].allocated = (i + 1) % 3;
        processes[i] = (struct vs_top_process){
            .pid = 10 + i, .view = {.exe = "", .cmdline = "", .devices = &devices[i], .device_count = 1}};
    }
    model->processes = processes;
    model->count = 3;
    vs_top_sort_rows(model);
    assert_int_equal(model->rows[0].process, 0);
    model->selected = 2;
    model->chosen = true;
    model->sort = VS_TOP_BY_ALLOCATED; /* 1: 2 bytes, 0: 1, 2: 0 */
    vs_top_sort_rows(model);
    assert_int_equal(model->rows[0].process, 1);
    assert_int_equal(model->rows[model->selected].process, 2);
    model->sort = VS_TOP_BY_DANGER; /* by pid until a running one is about to fail */
    model->chosen = false;
    devices[2].growing = true;
    devices[2].forecast = (struct vs_forecast){.known = true, .time_known = true, .seconds = 60};
    for (unsigned running = 0; running < 2; running++) {
        processes[2].view.running = running;
        vs_top_sort_rows(model);
        assert_int_equal(model->rows[0].process, running ? 2 : 0);
        assert_int_equal(model->selected, 0);
    }
    model->sort = VS_TOP_BY_PID; /* those that have ended come last */
    vs_top_sort_rows(model);
    assert_int_equal(model->rows[0].process, 2);
    free(model);
}

TEST(a_figure_that_is_not_known_has_no_sample)
{
    static char metrics[16384];
    struct vs_watch_device device = {.uuid = "", .cached = 5};
    struct vs_top_process process = {.pid = 1, .view = {.exe = "x", .cmdline = "x", .job = "", .rank = "", .running = true,
                                                        .events = 1, .devices = &device, .device_count = 1}};
    struct vs_top_model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->processes = &process;
    model->count = 1;
    for (unsigned known = 0; known < 2; known++) {
        device.total = (uint64_t)known << 34;
        device.holes.count = known;
        FILE *out = fmemopen(metrics, sizeof metrics, "w");
        vs_top_metrics(model, out);
        fclose(out);
        assert_non_null(strstr(metrics, "\nvramscope_cached_bytes{"));
        assert_int_equal(strstr(metrics, "\nvramscope_device_total_bytes{") != NULL, known);
        assert_int_equal(strstr(metrics, "\nvramscope_largest_hole_bytes{") != NULL, known);
        assert_null(strstr(metrics, "\nvramscope_device_used_bytes{"));
    }
    free(model);
}
