-- Seqs that may pass. KEYS[1]: the scope's base; ARGV: seq above which they lie, '' or the moment at which they
-- must live, '' or how many at most, '' or '1' if ids follow, ids. Answers the scope's version, then seqs:
-- the lowest ones, rising, if their number is limited.
local base, after, alive, most = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local found = {}
if ARGV[4] == '1' then
  for n = 5, #ARGV do
    local seq = redis.call('HGET', base .. 'i', ARGV[n])
    if seq and tonumber(seq) > after then found[#found + 1] = seq end
  end
elseif most and alive == '' then
  found = redis.call('ZRANGEBYSCORE', base .. 's', '(' .. ARGV[1], '+inf', 'LIMIT', 0, most)
else
  found = redis.call('ZRANGEBYSCORE', base .. 's', '(' .. ARGV[1], '+inf')
end
local dead = {}
if alive ~= '' then
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', base .. 'x', '-inf', alive)) do dead[seq] = true end
end
if most then table.sort(found, function(a, b) return tonumber(a) < tonumber(b) end) end
local kept = {redis.call('HGET', base .. 'm', 'v') or ''}
for _, seq in ipairs(found) do
  if most and #kept > most then break end
  if not dead[seq] then kept[#kept + 1] = seq end
end
return kept
