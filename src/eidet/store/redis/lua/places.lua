-- What scripts begin with that look at places: a field of a hash, or all of it.
local function read(key, field)
  if string.sub(key, -1) == '*' then return redis.call('HGETALL', string.sub(key, 1, -2)) end
  return redis.call('HGET', key, field)
end

-- What places hold, of which key and field stand in ARGV at each step, and for those that list seqs the bytes of
-- all their records ('' where there are none).
local function look(first, last, step)
  local values, records = {}, {}
  for at = first, last, step do
    local key = ARGV[at]
    local value = read(key, ARGV[at + 1])
    values[#values + 1] = value
    if value and string.find('id', string.sub(key, -1), 1, true) then
      for seq in string.gmatch(value, '%d+') do
        records[#records + 1] = redis.call('GET', string.sub(key, 1, -2) .. 'r:' .. seq) or ''
      end
    end
  end
  return {values, records}
end

