-- Gives seqs away. KEYS[1]: the store's head; ARGV: how many. Answers the seq before the first of them.
local clock = redis.call('TIME')
local micros = (tonumber(clock[1]) - 1577836800) * 1000000 + tonumber(clock[2])
local seq = math.max(tonumber(redis.call('HGET', KEYS[1], 'seq') or 0), micros)
redis.call('HSET', KEYS[1], 'seq', string.format('%.0f', seq + tonumber(ARGV[1])))
return string.format('%.0f', seq)
