-- What changed in a scope. KEYS[1]: its base; ARGV: key of the store's head, seq since when, at most how many.
-- Answers epoch, seq up to which this tells all, seq up to which it forgot what is gone, (seq, bytes) of
-- what is new, seqs that are gone.
local base, since, most = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local head = redis.call('HMGET', ARGV[1], 'epoch', 'seq')
local upto = tonumber(head[2] or 0)
local seqs = redis.call('ZRANGEBYSCORE', base .. 's', '(' .. ARGV[2], '+inf', 'LIMIT', 0, most)
if #seqs == most and most > 0 then upto = tonumber(seqs[#seqs]) end
local fresh, gone = {}, {}
for _, seq in ipairs(seqs) do
  local bytes = redis.call('GET', base .. 'r:' .. seq)
  if bytes then
    fresh[#fresh + 1] = seq
    fresh[#fresh + 1] = bytes
  end
end
local last = string.format('%.0f', upto)
for _, seq in ipairs(redis.call('ZRANGEBYSCORE', base .. 'g', '(' .. ARGV[2], last)) do
  if tonumber(seq) <= since then gone[#gone + 1] = seq end
end
return {head[1] or '0', last, redis.call('HGET', base .. 'm', 'pruned') or '0', fresh, gone}
