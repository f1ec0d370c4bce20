-- What scripts begin with that look at places: a field of a hash, seqs that have a score, or all of a hash.
local function read(key, field)
  local letter = string.sub(key, -1)
  if letter == '*' then return redis.call('HGETALL', string.sub(key, 1, -2)) end
  if letter ~= 'a' and letter ~= 'q' then return redis.call('HGET', key, field) end
  return table.concat(redis.call('ZRANGEBYSCORE', key, field, field), ' ')
end

-- What places hold, of which key and field stand in ARGV at each step, and for those that list seqs the bytes of
-- all their records ('' where there are none).
local function look(first, last, step)
  local values, records = {}, {}
  for at = first, last, step do
    local key = ARGV[at]
    local value = read(key, ARGV[at + 1])
    values[#values + 1] = value
    if value and string.find('idaq', string.sub(key, -1), 1, true) then
      for seq in string.gmatch(value, '%d+') do
        records[#records + 1] = redis.call('GET', string.sub(key, 1, -2) .. 'r:' .. seq) or ''
      end
    end
  end
  return {values, records}
end

