-- In a cluster, seqs are given before a scope is written. KEYS[1]: the store's head; ARGV: how many, '' or
-- the epoch and the count of tombs that are expected. Answers the seq before the first of them.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'tombs', 'seq')
for n = 1, 2 do
  if ARGV[n + 1] ~= '' and (head[n] or '0') ~= ARGV[n + 1] then return {'stale', head[n]} end
end
local clock = redis.call('TIME')
local micros = (tonumber(clock[1]) - 1577836800) * 1000000 + tonumber(clock[2])
local seq = math.max(tonumber(head[3] or 0), micros)
redis.call('HSET', KEYS[1], 'seq', string.format('%.0f', seq + tonumber(ARGV[1])))
return {'done', string.format('%.0f', seq)}
