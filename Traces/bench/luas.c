// luas SCRIPT SIZE THREADS: the script on each thread, in an interpreter of its own. One thread also raises errors and
// yields.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static char **arguments;
static int threads;

static void *run(void *unused) {
    lua_State *lua = luaL_newstate();
    luaL_openlibs(lua);
    lua_pushinteger(lua, atoi(arguments[2]));
    lua_setglobal(lua, "size");
    lua_pushboolean(lua, threads == 1);
    lua_setglobal(lua, "jumps");
    if (luaL_dofile(lua, arguments[1])) fprintf(stderr, "%s\n", lua_tostring(lua, -1)), exit(1);
    lua_close(lua);
    return unused;
}

int main(int count, char **given) {
    arguments = given;
    threads = count > 3 ? atoi(given[3]) : 1;
    pthread_t started[64];
    for (int i = 1; i < threads; i++) pthread_create(&started[i], NULL, run, NULL);
    run(NULL);
    for (int i = 1; i < threads; i++) pthread_join(started[i], NULL);
    return 0;
}
