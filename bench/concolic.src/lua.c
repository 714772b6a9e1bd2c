/* A script that works on the input: words counted, lines sorted, numbers added. */
#include "input.h"
#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static const char script[] =
    "local text, rounds = ...\n"
    "local sum = 0\n"
    "for r = 1, rounds do\n"
    "  local count, list = {}, {}\n"
    "  for i = 1, #text - 8, 8 do\n"
    "    local w = text:sub(i, i + 3)\n"
    "    count[w] = (count[w] or 0) + 1\n"
    "    list[#list + 1] = text:byte(i) * 256 + text:byte(i + 1)\n"
    "  end\n"
    "  for i = 2, #list do\n"
    "    local x = list[i] ~ list[i - 1]\n"
    "    for j = 1, 6 do x = (x * 5 + j) % 65521 end\n"
    "    sum = (sum + x) % 1000003\n"
    "  end\n"
    "  for w, n in pairs(count) do sum = sum + n end\n"
    "end\n"
    "print(sum)\n";

int main(int argc, char **argv)
{
    read_input();
    lua_State *l = luaL_newstate();
    luaL_openlibs(l);
    if (luaL_loadbuffer(l, script, sizeof script - 1, "script"))
        return 1;
    lua_pushlstring(l, (const char *)input, ninput);
    lua_pushinteger(l, rounds(argc, argv));
    int status = lua_pcall(l, 2, 0, 0);
    lua_close(l);
    return status;
}
