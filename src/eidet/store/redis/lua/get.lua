-- Records by id or exact key. KEYS[1]: the scope's base; ARGV: 'i' or 'd', then ids or keys. Answers for each the
-- seqs that it lists, '' for none, and then the bytes of all those records, '' where one is gone.
local values, records = {}, {}
for n = 2, #ARGV do
  values[n - 1] = redis.call('HGET', KEYS[1] .. ARGV[1], ARGV[n]) or ''
  for seq in string.gmatch(values[n - 1], '%d+') do
    records[#records + 1] = redis.call('GET', KEYS[1] .. 'r:' .. seq) or ''
  end
end
return {values, records}
