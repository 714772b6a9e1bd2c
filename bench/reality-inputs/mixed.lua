local t={} for i=1,100 do t[i]=i*2 t["k"..i]={i} end
table.sort(t,function(a,b) return a>b end)
print(#t, string.format("%d %s %q", 3, "x", "y"), ("abc"):gsub("b", function(x) return x..x end))
local co=coroutine.wrap(function(a) local b=coroutine.yield(a) return b end) print(co(1),co(2))
print(pcall(error,"boom")) local mt=setmetatable({},{__index=function(t,k) return k end, __gc=function() end}) print(mt.foo)
collectgarbage() print(load("return 1+1")()) print(io.open("/dev/null"):read("a")) print(os.time()>0, math.floor(2.5), utf8.char(960))
