-- What a write needs to know. KEYS[1]: the scope's base; ARGV: key of the store's head ('' in a cluster),
-- number of ids, ids, digests. Answers the head, the scope's version, (seq, bytes, history) for each id,
-- and for each digest the seqs that say it as they are listed, with their bytes.
local base = KEYS[1]
local ids, said = {}, {}
for at = 3, 2 + tonumber(ARGV[2]) do
  local seq = redis.call('HGET', base .. 'i', ARGV[at])
  ids[#ids + 1] = seq or ''
  ids[#ids + 1] = seq and redis.call('GET', base .. 'r:' .. seq) or ''
  ids[#ids + 1] = redis.call('HGET', base .. 'e', ARGV[at]) or ''
end
for at = 3 + tonumber(ARGV[2]), #ARGV do
  local seqs = redis.call('HGET', base .. 'd', ARGV[at]) or ''
  local found = {seqs}
  for seq in string.gmatch(seqs, '%d+') do
    found[#found + 1] = redis.call('GET', base .. 'r:' .. seq) or ''
  end
  said[#said + 1] = found
end
local head = {}
if ARGV[1] ~= '' then head = redis.call('HMGET', ARGV[1], 'epoch', 'tombs') end
return {head, redis.call('HGET', base .. 'm', 'v') or '', ids, said}
