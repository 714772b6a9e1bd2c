/* Values on the stack, a table, a script, a function of ours. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

static int twice(lua_State *L)
{
    lua_pushinteger(L, 2 * luaL_checkinteger(L, 1));
    return 1;
}

int main(void)
{
    lua_State *L = luaL_newstate();

    luaL_openlibs(L);
    lua_pushcfunction(L, twice);
    lua_setglobal(L, "twice");
    lua_createtable(L, 0, 2);
    lua_pushstring(L, "shop");
    lua_setfield(L, -2, "name");
    lua_pushinteger(L, 42);
    lua_setfield(L, -2, "size");
    lua_setglobal(L, "config");
    if (luaL_loadstring(L, "local s = 0 for i = 1, config.size do s = s + twice(i) end "
                           "return s, config.name:upper()") == LUA_OK
        && lua_pcall(L, 0, 2, 0) == LUA_OK)
        printf("%lld %s\n", (long long)lua_tointeger(L, -2), lua_tostring(L, -1));
    printf("top %d\n", lua_gettop(L));
    lua_settop(L, 0);
    if (luaL_loadstring(L, "error('no')") == LUA_OK && lua_pcall(L, 0, 0, 0) != LUA_OK)
        printf("%s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
    lua_getglobal(L, "config");
    lua_pushnil(L);
    int n = 0;
    while (lua_next(L, -2)) {
        n += (int)lua_rawlen(L, -2);
        lua_pop(L, 1);
    }
    printf("%d letters in keys\n", n);
    lua_pop(L, 1);
    lua_gc(L, LUA_GCCOLLECT, 0);
    lua_close(L);
    return 0;
}
