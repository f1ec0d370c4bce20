-- Fields of hashes. KEYS[1]: says where; ARGV: key of a hash and a field, and so on. Answers a list for each
-- field: what it holds, and where that lists seqs, the bytes of their records ('' where there are none).
local answers = {}
for at = 1, #ARGV, 2 do
  local key = ARGV[at]
  local base, letter = string.sub(key, 1, -2), string.sub(key, -1)
  local value = redis.call('HGET', key, ARGV[at + 1])
  local found = {value}
  if value and (letter == 'i' or letter == 'd') then
    for seq in string.gmatch(value, '%d+') do
      found[#found + 1] = redis.call('GET', base .. 'r:' .. seq) or ''
    end
  end
  answers[#answers + 1] = found
end
return answers
