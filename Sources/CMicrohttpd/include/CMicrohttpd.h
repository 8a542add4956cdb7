// HTTP/1.1 (RFC 9112) by libmicrohttpd, which is loaded when somebody serves: it brings GnuTLS, and no other command is
// to wait for that.

#ifndef CMICROHTTPD_H
#define CMICROHTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_server;
struct http_request;

// Who answers requests. Each connection has a thread of its own, which calls these.
struct http_handler {
    void *context;
    // A connection was made, or has ended.
    void (*connection)(void *context, int descriptor, bool begins);
    // A request is whole, and http_answer is to be called before this returns.
    void (*answer)(void *context, struct http_request *request);
    // The request that came by the connection was answered, or was given up.
    void (*done)(void *context, int descriptor);
};

struct http_limits {
    unsigned connections;
    // Bytes of a request's first line and headers, and seconds in which nothing comes or goes.
    size_t request;
    unsigned idle;
};

// Loads the library, if it is not loaded yet. Returns NULL, or why it cannot be loaded, which stays valid.
const char *http_load(void);

// Serves what comes in at `listening`, which is the server's from now on. `handler` has to stay until http_stop.
// Returns NULL when the system has no thread for it.
struct http_server *http_start(int listening, const struct http_limits *limits, const struct http_handler *handler);

// Ends all connections, and returns when no thread of the server is left.
void http_stop(struct http_server *server);

// Of a request, until it is answered: its method; its target as it was sent; whether it has content; its connection.
const char *http_method(const struct http_request *request);
const char *http_target(const struct http_request *request);
bool http_has_content(const struct http_request *request);
int http_descriptor(const struct http_request *request);

// Hands each header of the request to `take`, in their order.
void http_headers(const struct http_request *request, void *context,
                  void (*take)(void *context, const char *name, const char *value));

// Answers with a copy of `bytes`, and `fields` which are names and values by turns, the last of them NULL. Of a HEAD,
// no bytes are sent. Returns false when there is no memory for it; the connection ends then.
bool http_answer(struct http_request *request, unsigned status, const void *bytes, size_t size,
                 const char *const *fields);

#endif
