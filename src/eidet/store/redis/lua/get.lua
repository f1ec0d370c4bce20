-- Records by id or exact key. KEYS[1]: the scope's base; ARGV: 'i' or 'd', then ids or keys. Answers the scope's
-- version, then (seq, bytes) of each record found; of an id that is not there, two empty texts.
local found = {redis.call('HGET', KEYS[1] .. 'm', 'v') or ''}
for n = 2, #ARGV do
  local listed = redis.call('HGET', KEYS[1] .. ARGV[1], ARGV[n]) or ''
  for seq in string.gmatch(listed, '%d+') do
    found[#found + 1] = seq
    found[#found + 1] = redis.call('GET', KEYS[1] .. 'r:' .. seq) or ''
  end
  if listed == '' and ARGV[1] == 'i' then
    found[#found + 1] = ''
    found[#found + 1] = ''
  end
end
return found
