local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local sum = 0
for _ = 1, size / 20 do sum = sum + fib(20) end

local numbers, seed = {}, 42
for i = 1, size * 500 do
    seed = seed * 16807 % 2147483647
    numbers[i] = seed
end
table.sort(numbers, function(a, b) return a < b end)

local parts = {}
for i = 1, size * 200 do parts[#parts + 1] = string.format("%d:%s", numbers[i], tostring(i)) end
local text = table.concat(parts, ",")
for word in text:gmatch("%d+:") do sum = sum + #word end
text = text:gsub("%d", function(digit) return digit == "7" and "x" or nil end)

local failed = 0
if jumps then  -- by longjmp, which uftrace 0.13 does not survive on several threads
    for i = 1, size * 50 do
        if not pcall(function() if i % 2 == 0 then error({ i }) end end) then failed = failed + 1 end
    end
    local next = coroutine.wrap(function() for i = 1, size * 200 do coroutine.yield(i) end end)
    for _ = 1, size * 200 do sum = sum + next() end
end
local squares = setmetatable({}, { __index = function(_, key) return key end })
for i = 1, size * 500 do sum = sum + squares[i] end
print(sum, failed, #text)
