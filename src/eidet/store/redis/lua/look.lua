-- Fields of hashes. KEYS[1]: says where; ARGV: key of a hash and a field, and so on. Answers what each field
-- holds, and for those that list seqs the bytes of all their records ('' where there are none).
local values, records = {}, {}
for at = 1, #ARGV, 2 do
  local key = ARGV[at]
  local base, letter = string.sub(key, 1, -2), string.sub(key, -1)
  local value = redis.call('HGET', key, ARGV[at + 1])
  values[#values + 1] = value
  if value and (letter == 'i' or letter == 'd') then
    for seq in string.gmatch(value, '%d+') do
      records[#records + 1] = redis.call('GET', base .. 'r:' .. seq) or ''
    end
  end
end
return {values, records}
