-- Fields of hashes, and seqs that have a score. KEYS[1]: says where; ARGV: key and field or score, and so on.
-- Answers what each holds, all of a hash where its key ends with '*', and for those that list seqs the bytes of
-- all their records ('' where there are none).
local values, records = {}, {}

local function read(key, letter, field)
  if letter == '*' then return redis.call('HGETALL', string.sub(key, 1, -2)) end
  if letter ~= 'a' and letter ~= 'q' then return redis.call('HGET', key, field) end
  return table.concat(redis.call('ZRANGEBYSCORE', key, field, field), ' ')
end

for at = 1, #ARGV, 2 do
  local key = ARGV[at]
  local base, letter = string.sub(key, 1, -2), string.sub(key, -1)
  local value = read(key, letter, ARGV[at + 1])
  values[#values + 1] = value
  if value and string.find('idaq', letter, 1, true) then
    for seq in string.gmatch(value, '%d+') do
      records[#records + 1] = redis.call('GET', base .. 'r:' .. seq) or ''
    end
  end
end
return {values, records}
