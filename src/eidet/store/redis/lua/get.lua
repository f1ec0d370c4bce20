-- Records by id. KEYS[1]: the scope's base; ARGV: ids. Answers (seq, bytes) for each.
local found = {}
for _, id in ipairs(ARGV) do
  local seq = redis.call('HGET', KEYS[1] .. 'i', id)
  found[#found + 1] = seq or ''
  found[#found + 1] = seq and redis.call('GET', KEYS[1] .. 'r:' .. seq) or ''
end
return found
