#include "CMicrohttpd.h"

#include <dlfcn.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12"
// The stack of a connection's thread, in bytes, whatever the limit of the shell is.
#define STACK ((size_t)8 << 20)

// The library's functions.
static struct {
    __typeof__(MHD_start_daemon) *start_daemon;
    __typeof__(MHD_stop_daemon) *stop_daemon;
    __typeof__(MHD_get_connection_values) *get_connection_values;
    __typeof__(MHD_get_connection_info) *get_connection_info;
    __typeof__(MHD_lookup_connection_value) *lookup_connection_value;
    __typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
    __typeof__(MHD_add_response_header) *add_response_header;
    __typeof__(MHD_queue_response) *queue_response;
    __typeof__(MHD_destroy_response) *destroy_response;
} mhd;

static const char *problem;

static void load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        problem = strdup(dlerror());
        return;
    }
#define FIND(name)                                                                                                     \
    if (!problem && !(mhd.name = dlsym(library, "MHD_" #name))) problem = LIBRARY " lacks MHD_" #name
    FIND(start_daemon);
    FIND(stop_daemon);
    FIND(get_connection_values);
    FIND(get_connection_info);
    FIND(lookup_connection_value);
    FIND(create_response_from_buffer);
    FIND(add_response_header);
    FIND(queue_response);
    FIND(destroy_response);
#undef FIND
}

const char *http_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return problem;
}

struct http_server {
    struct MHD_Daemon *daemon;
    struct http_handler handler;
};

struct http_request {
    struct MHD_Connection *connection;
    const char *method;
    char *target;
    // Whether it has been told of. The library tells of a request twice, before its content and behind it.
    bool is_known;
    bool is_answered;
};

static int descriptor_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// A request begins: its target has been read. What is returned is the request's until it is done.
static void *begin(void *context, const char *target, struct MHD_Connection *connection) {
    (void)context;
    struct http_request *request = calloc(1, sizeof *request);
    if (!request) return NULL;
    request->connection = connection;
    request->target = strdup(target);
    return request;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *content, size_t *size, void **place) {
    (void)connection, (void)path, (void)version, (void)content;
    struct http_server *server = context;
    struct http_request *request = *place;
    if (!request || !request->target) return MHD_NO;
    request->method = method;
    // An answer that comes before the content has the library end the connection, and leave the content unread.
    if (!request->is_known) {
        request->is_known = true;
        if (!http_has_content(request)) return MHD_YES;
    } else if (*size) {
        return MHD_NO;
    }
    server->handler.answer(server->handler.context, request);
    return request->is_answered ? MHD_YES : MHD_NO;
}

static void done(void *context, struct MHD_Connection *connection, void **place, enum MHD_RequestTerminationCode why) {
    (void)why;
    struct http_server *server = context;
    struct http_request *request = *place;
    if (!request) return;
    server->handler.done(server->handler.context, descriptor_of(connection));
    free(request->target);
    free(request);
    *place = NULL;
}

static void connected(void *context, struct MHD_Connection *connection, void **place,
                      enum MHD_ConnectionNotificationCode what) {
    (void)place;
    struct http_server *server = context;
    server->handler.connection(server->handler.context, descriptor_of(connection),
                               what == MHD_CONNECTION_NOTIFY_STARTED);
}

struct http_server *http_start(int listening, const struct http_limits *limits, const struct http_handler *handler) {
    struct http_server *server = malloc(sizeof *server);
    if (!server) return NULL;
    server->handler = *handler;
    server->daemon = mhd.start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC, 0, NULL, NULL,
        handle, server, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT, limits->connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits->request, MHD_OPTION_CONNECTION_TIMEOUT, limits->idle,
        MHD_OPTION_THREAD_STACK_SIZE, STACK, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, begin,
        server, MHD_OPTION_NOTIFY_COMPLETED, done, server, MHD_OPTION_NOTIFY_CONNECTION, connected, server,
        MHD_OPTION_END);
    if (server->daemon) return server;
    free(server);
    return NULL;
}

void http_stop(struct http_server *server) {
    mhd.stop_daemon(server->daemon);
    free(server);
}

const char *http_method(const struct http_request *request) { return request->method; }
const char *http_target(const struct http_request *request) { return request->target; }
int http_descriptor(const struct http_request *request) { return descriptor_of(request->connection); }

bool http_has_content(const struct http_request *request) {
    const char *length = mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, "Content-Length");
    return (length && strcmp(length, "0")) ||
           mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, "Transfer-Encoding");
}

struct taking {
    void *context;
    void (*take)(void *context, const char *name, const char *value);
};

static enum MHD_Result hand_on(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    (void)kind;
    struct taking *taking = context;
    taking->take(taking->context, name, value ? value : "");
    return MHD_YES;
}

void http_headers(const struct http_request *request, void *context,
                  void (*take)(void *context, const char *name, const char *value)) {
    struct taking taking = {context, take};
    mhd.get_connection_values(request->connection, MHD_HEADER_KIND, hand_on, &taking);
}

bool http_answer(struct http_request *request, unsigned status, const void *bytes, size_t size,
                 const char *const *fields) {
    struct MHD_Response *response =
        mhd.create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
    if (!response) return false;
    bool is_whole = true;
    for (; *fields; fields += 2) is_whole &= mhd.add_response_header(response, fields[0], fields[1]) == MHD_YES;
    request->is_answered = is_whole && mhd.queue_response(request->connection, status, response) == MHD_YES;
    mhd.destroy_response(response);
    return request->is_answered;
}
