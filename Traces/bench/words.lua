-- Counts words, sorts them, and renders a small table.
local words = {}
for word in ("the quick brown fox jumps over the lazy dog "):rep(400):gmatch("%a+") do
    words[#words + 1] = word .. #words % 97
end
table.sort(words)
local count = {}
for _, word in ipairs(words) do count[word] = (count[word] or 0) + 1 end
local lines = {}
for word, n in pairs(count) do lines[#lines + 1] = string.format("%-12s %5d", word, n) end
table.sort(lines, function(a, b) return a:upper() < b:upper() end)
local f = load("local n = ... ; return " .. ("n + "):rep(150) .. "1")
for i = 1, 300 do pcall(f, i) end
local text = table.concat(lines, "\n"):gsub("%d+", function(d) return tonumber(d) + 1 end)
print(#text)
