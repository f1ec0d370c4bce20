-- The light parts of records. KEYS[1]: the scope's base; ARGV: seqs. Answers the scope's version, then one
-- part for each seq, '' where there is none.
local found = {redis.call('HGET', KEYS[1] .. 'm', 'v') or ''}
for n, seq in ipairs(ARGV) do
  local bytes = redis.call('GET', KEYS[1] .. 'r:' .. seq) or ''
  if #bytes >= 65 then
    bytes = string.sub(bytes, 1, 65 + struct.unpack('>I4', string.sub(bytes, 18, 21)))
  end
  found[n + 1] = bytes
end
return found
