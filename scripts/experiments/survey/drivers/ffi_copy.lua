-- LuaJIT: blocks of 1 MiB into memory of 64 MiB.
local ffi = require("ffi")
local mib = 1048576
local source, target = ffi.new("uint8_t[?]", 16 * mib), ffi.new("uint8_t[?]", 64 * mib)
for i = 0, 16 * mib - 1 do source[i] = i * 7 % 251 end
local start = 0
for turn = 1, tonumber(arg[1]) do
  start = turn % 4 * 16 * mib
  for i = 0, 15 do ffi.copy(target + start + i * mib, source + i * mib, mib) end
end
local sum = 0
for i = 0, 16 * mib - 1 do sum = (sum * 31 + target[start + i]) % 4294967291 end
print(string.format("result %d %d", sum, 16 * mib))
