-- What Lua does: strings, patterns, tables, closures, errors, coroutines, metatables, numbers, files, garbage collection.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(17), math.type(1), math.type(1.0), 7 // 2, -7 % 3, 2 ^ 53, 1 << 62, 0x7fffffffffffffff + 1)
local words = {}
for i = 1, 500 do words[i] = string.format("%05d:%s:%q:%5.2f", i * 7919 % 1009, ("x"):rep(i % 7), "a\n" .. i, i / 3) end
table.sort(words, function(a, b) return a > b end)
print(#table.concat(words, ","), words[1], words[500])
for key, value in ("a=1, b=2, c=3"):gmatch("(%w+)=(%w+)") do print(key, value) end
print(("hello world"):gsub("o", { o = "0" }), ("%d"):rep(3, "-"):format(1, 2, 3), ("abc"):byte(1, -1))
print(pcall(error, { code = 2 }), select(2, pcall(function() local t = nil; return t.x end)))
print(xpcall(function() error("deep", 2) end, function(m) return "handled " .. m end))
local function generator(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end end) end
local sum = 0
for a, b in generator(1000) do sum = sum + a * b end
print(sum, coroutine.isyieldable(), coroutine.resume(coroutine.create(function() error("inside") end)))
local class = setmetatable({}, { __index = function(_, k) return k .. "?" end, __call = function(_, ...) return select("#", ...) end })
print(class.none, class(1, nil, 3), #class, rawlen(class), tostring(setmetatable({}, { __tostring = function() return "named" end })))
local weak = setmetatable({}, { __mode = "k" })
for i = 1, 1000 do weak[{}] = i end
collectgarbage()
print(next(weak), collectgarbage("step"), load("return 1 + ...")(41), load("x ="))
local closed = 0
do local c <close> = setmetatable({}, { __close = function() closed = closed + 1 end }) end
print(closed, utf8.char(228, 8364), utf8.len("äöü"), string.pack("<i4z", 7, "x"):byte(1, -1))
goto done
print("never")
::done::
print(string.rep("ab", 3), tostring(nil), tonumber("0x1p4"), tonumber("z", 36), math.tointeger(3.0), #arg)
