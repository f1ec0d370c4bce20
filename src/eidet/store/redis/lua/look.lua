-- Fields of hashes. KEYS[1]: the base of a scope, or of the store; ARGV: letter of a hash and a field, and so
-- on. Answers a list for each field: what it holds, and where that lists seqs, the bytes of their records
-- ('' where there are none).
local base, answers = KEYS[1], {}
for at = 1, #ARGV, 2 do
  local letter = ARGV[at]
  local value = redis.call('HGET', base .. letter, ARGV[at + 1])
  local found = {value}
  if value and (letter == 'i' or letter == 'd') then
    for seq in string.gmatch(value, '%d+') do
      found[#found + 1] = redis.call('GET', base .. 'r:' .. seq) or ''
    end
  end
  answers[#answers + 1] = found
end
return answers
