/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread: the daemon runs in the main loop, and a request for a part of the trace
 * is answered before the next one is read.
 *
 *   GET /?token=T               the page
 *   GET /data?token=T&from=NS&to=NS   the data elements of that part (docs/internals/view-format.md)
 *
 * of a running program, with --live, also
 *   GET /live?token=T           its present state
 *   GET /metrics                the same for Prometheus; with --port without the token, which Prometheus lacks
 *   GET /data?token=T           the data elements of its latest events
 *
 * A request is answered only if it has the token and names this server in its Host header: another
 * page in the browser knows no token, and a name that resolves to 127.0.0.1 is not this server's. */
#include "tools/view/view_trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/view/view_live.h"

#define TOKEN_BYTES 16
#define WAIT_MS 250 /* until a signal is noticed that came just before the wait */
#define CONNECTIONS_MAX 16
#define HTTP_PORT 80
#define IDLE_SECONDS 30

struct page_server {
    struct vs_view_trace *trace;
    struct vs_view_live *live; /* NULL: without --live */
    const struct vs_view_options *options;
    char token[2 * TOKEN_BYTES + 1];
    char host[2][32]; /* accepted Host headers, with the port */
    unsigned port;
    bool fixed_port; /* given with --port */
    char redirect[PATH_MAX]; /* opened in the browser, until it asked for the page; "": none */
    struct MHD_Response *page; /* for all connections; NULL: made for each, with --live */
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static bool make_token(char token[2 * TOKEN_BYTES + 1])
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    for (int i = 0; i < TOKEN_BYTES; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Without an early end, whose time would tell how many characters are right. */
static bool same_token(const char *given, const char *token)
{
    unsigned different = 0;
    if (!given || strlen(given) != 2 * TOKEN_BYTES)
        return false;
    for (int i = 0; i < 2 * TOKEN_BYTES; i++)
        different |= (unsigned char)given[i] ^ (unsigned char)token[i];
    return !different;
}

static void remove_redirect(struct page_server *server)
{
    if (*server->redirect)
        unlink(server->redirect);
    *server->redirect = 0;
}

/* --- answers --- */

static struct MHD_Response *make_response(const char *type, char *body, size_t bytes,
                                          enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(bytes, body, mode);
    if (!response)
        return NULL;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    return response;
}

/* Takes over *body*, malloc'ed. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              char *body, size_t bytes)
{
    struct MHD_Response *response = make_response(type, body, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(body);
        return MHD_NO;
    }
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
    char *body = vs_xprintf("%s\n", why);
    return answer(connection, status, "text/plain; charset=utf-8", body, strlen(body));
}

/* The elements of *data*, or the whole page, with *data* freed; NULL *data*: a failure. */
static struct MHD_Response *answer_with(struct vs_page_data *data, bool page)
{
    char *text;
    size_t bytes;
    if (!data)
        return NULL;
    FILE *out = vs_xstream(&text, &bytes);
    if (page)
        vs_page_write(out, data, NULL, true);
    else
        vs_page_elements(out, data);
    vs_xstream_end(out);
    vs_page_data_free(data);
    struct MHD_Response *response = make_response("text/html; charset=utf-8", text, bytes,
                                                  MHD_RESPMEM_MUST_FREE);
    if (!response)
        vs_out_of_memory();
    return response;
}

static enum MHD_Result send_data(struct MHD_Connection *connection, struct vs_page_data *data,
                                 bool page)
{
    struct MHD_Response *response = answer_with(data, page);
    if (!response)
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, vs_tool_failure());
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static bool time_of(struct MHD_Connection *connection, const char *key, uint64_t *ns)
{
    unsigned long long value;
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, key);
    if (!text || !vs_tool_count(text, 0, UINT64_MAX / 2, &value))
        return false;
    *ns = value;
    return true;
}

/* A browser leaves out the port of HTTP. */
static bool is_host(const struct page_server *server, const char *given)
{
    for (int i = 0; given && i < 2; i++) {
        const char *host = server->host[i];
        size_t name = strcspn(host, ":");
        if (strcmp(given, host) == 0 ||
            (server->port == HTTP_PORT && strlen(given) == name && !memcmp(given, host, name)))
            return true;
    }
    return false;
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload, size_t *upload_bytes, void **state)
{
    static int seen;
    struct page_server *server = context;
    (void)version;
    (void)upload;
    if (strcmp(method, "GET") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered");
    if (!*state || *upload_bytes) { /* the answer follows with the last call; a body is ignored */
        *state = &seen;
        *upload_bytes = 0;
        return MHD_YES;
    }
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    if (!is_host(server, host))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "this address is not the server's");
    bool metrics = server->live && strcmp(url, "/metrics") == 0;
    if (!(metrics && server->fixed_port) && !same_token(token, server->token))
        return refuse(connection, MHD_HTTP_FORBIDDEN,
                      "the token is missing or wrong: use the address that vramscope printed");
    if (strcmp(url, "/") == 0) {
        remove_redirect(server);
        return server->page ? MHD_queue_response(connection, MHD_HTTP_OK, server->page)
                            : send_data(connection, vs_view_live_data(server->live, 0, 0), true);
    }
    if (metrics || (strcmp(url, "/live") == 0 && server->live)) {
        char *text;
        size_t bytes;
        FILE *out = vs_xstream(&text, &bytes);
        vs_view_live_figures(server->live, metrics, out);
        vs_xstream_end(out);
        return answer(connection, MHD_HTTP_OK, metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                                       : "application/json", text, bytes);
    }
    if (strcmp(url, "/data") == 0) {
        uint64_t from = 0, to = 0;
        struct vs_time_window window;
        bool given = time_of(connection, "from", &from) & time_of(connection, "to", &to);
        if (!given && server->live)
            return send_data(connection, vs_view_live_data(server->live, 0, 0), false);
        if (!given || from > to ||
            (!server->live && !vs_view_window(server->trace, from, to, &window)))
            return refuse(connection, MHD_HTTP_BAD_REQUEST,
                          "from and to are times of the trace in ns, from not after to");
        return send_data(connection, server->live
                             ? vs_view_live_data(server->live, from, to)
                             : vs_view_data(server->trace, server->options, &window), false);
    }
    return refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such page");
}

/* --- the server --- */

static int serve_page(struct page_server *server, const struct vs_serve_options *serve)
{
    char url[128];
    const char *who = server->trace->who;
    unsigned port = serve->port;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_AUTO, (uint16_t)port, NULL, NULL, take_request, server,
        MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (info)
        port = info->port;
    if (!daemon)
        return vs_tool_fail(who, "cannot listen at 127.0.0.1, port %u: %s; without --port, any free "
                            "port is used", port, strerror(errno));
    server->port = port;
    server->fixed_port = serve->port != 0;
    snprintf(server->host[0], sizeof server->host[0], "127.0.0.1:%u", port);
    snprintf(server->host[1], sizeof server->host[1], "localhost:%u", port);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/?token=%s", port, server->token);
    struct sigaction before[2];
    /* A second signal ends the process at once. */
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, &before[0]);
    sigaction(SIGTERM, &action, &before[1]); /* whoever reads the address may end us at once */
    vs_tool_print("%s", url);
    fflush(stdout);
    if (serve->open) {
        /* The token is not an argument of xdg-open, which other users see. */
        if (vs_view_redirect(url, server->redirect)) {
            vs_view_show(who, server->redirect, url);
        } else {
            vs_tool_fail(who, "cannot make a file for the browser: %s; open %s in a browser",
                         strerror(errno), url);
            *server->redirect = 0;
        }
    } else
        vs_tool_fail(who, "open this address in a browser on this machine; Ctrl-C ends the server");
    for (int wait = WAIT_MS; !stopped && MHD_run_wait(daemon, wait) == MHD_YES;)
        wait = server->live && vs_view_live_catch_up(server->live) ? 0 : WAIT_MS;
    remove_redirect(server);
    MHD_stop_daemon(daemon);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    return VS_EXIT_OK;
}

int vs_view_serve(struct vs_view_trace *trace, const struct vs_view_options *options,
                  const struct vs_serve_options *serve)
{
    struct page_server server = {.trace = trace, .live = serve->live, .options = options};
    int code = VS_EXIT_UNUSABLE;
    if (!make_token(server.token))
        vs_tool_fail(trace->who, "cannot make a token: %s", strerror(errno));
    else if (serve->live)
        code = serve_page(&server, serve);
    else if (vs_part_checkpoints(trace->who, trace->path, trace->reader) &&
             (server.page = answer_with(vs_view_page(trace, options), true)))
        code = serve_page(&server, serve);
    if (server.page)
        MHD_destroy_response(server.page);
    return code;
}
