-- Seqs that pass ranges. KEYS[1]: the scope's base; ARGV: seq above which they lie, '' or the moment at
-- which they must live, '' or how many at most, the number of ranges (index, low, high), '' or '1' if ids
-- follow, ids. Answers the scope's version, then seqs: the lowest ones, rising, if their number is limited.
local base, after, alive, most = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local ranges, at = {}, 5
for n = 1, tonumber(ARGV[4]) do
  local key, low, high = base .. ARGV[at], ARGV[at + 1], ARGV[at + 2]
  ranges[n] = {key, low, high, redis.call('ZCOUNT', key, low, high)}
  at = at + 3
end
table.sort(ranges, function(a, b) return a[4] < b[4] end)
local found, start = {}, 1
if ARGV[at] == '1' then
  for n = at + 1, #ARGV do
    local seq = redis.call('HGET', base .. 'i', ARGV[n])
    if seq then found[#found + 1] = seq end
  end
elseif #ranges > 0 and (after == 0 or ranges[1][4] < redis.call('ZCARD', base .. 's') / 2) then
  found = redis.call('ZRANGEBYSCORE', ranges[1][1], ranges[1][2], ranges[1][3])
  start = 2
elseif most and alive == '' and #ranges == 0 then
  found = redis.call('ZRANGEBYSCORE', base .. 's', '(' .. ARGV[1], '+inf', 'LIMIT', 0, most)
else
  found = redis.call('ZRANGEBYSCORE', base .. 's', '(' .. ARGV[1], '+inf')
end
local dead = {}
if alive ~= '' then
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', base .. 'x', '-inf', alive)) do dead[seq] = true end
end
local function passes(seq)
  if dead[seq] or tonumber(seq) <= after then return false end
  for n = start, #ranges do
    local score = redis.call('ZSCORE', ranges[n][1], seq)
    if not score then return false end
    score = tonumber(score)
    if score < tonumber(ranges[n][2]) or score > tonumber(ranges[n][3]) then return false end
  end
  return true
end
if most then table.sort(found, function(a, b) return tonumber(a) < tonumber(b) end) end
local kept = {redis.call('HGET', base .. 'm', 'v') or ''}
for _, seq in ipairs(found) do
  if most and #kept > most then break end
  if passes(seq) then kept[#kept + 1] = seq end
end
return kept
