-- Vectors of a vector set as the server keeps them. KEYS[1]: the set; ARGV[1]: 'units' if the further units
-- of the same records are wanted, too, which are listed beside the set; then names of elements.
-- Answers the names that are there, and their bytes in pieces, which are joined faster elsewhere.
local names, bytes = {}, {}

local function tell(name)
  local raw = redis.call('VEMB', KEYS[1], name, 'RAW')
  if raw then
    names[#names + 1], bytes[#bytes + 1] = name, raw[2]
  end
end

local several = ARGV[1] == 'units' and redis.call('EXISTS', KEYS[1] .. ':u') == 1
for at = 2, #ARGV do
  tell(ARGV[at])
  if several then
    local record = '[' .. string.sub(ARGV[at], 1, -4)
    local further = redis.call('ZRANGEBYLEX', KEYS[1] .. ':u', record .. '001', record .. 'fff')
    for _, name in ipairs(further) do tell(name) end
  end
end

local pieces = {}
for at = 1, #bytes, 8 do pieces[#pieces + 1] = table.concat(bytes, '', at, math.min(at + 7, #bytes)) end
return {table.concat(names), pieces}
