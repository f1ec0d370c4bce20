-- Writes what one transaction holds, all or nothing, and once: a repeated call is answered as the first one was.
-- KEYS[1]: the writer's last answer. ARGV: number of this write, how long its answer is kept (ms), base of the
-- store, whether whole scopes may expire, how many seconds what expires is kept, the number after which clearing
-- away takes seqs, the latest moment that writers named, the number of guards, guards (key, field, value; '' for
-- none), then words with their arguments. Answers the seq before the first, or that a guard is not as it was.
local token = tonumber(ARGV[1])
local last = redis.call('GET', KEYS[1])
if last then
  local number, answer = string.match(last, '^(%d+) (.*)$')
  if tonumber(number) == token then
    redis.call('PEXPIRE', KEYS[1], ARGV[2]) -- a write of this line, so that WAIT waits for the first one, too
    return {'done', answer}
  end
  if tonumber(number) > token then return {'late', ''} end
end

local function text(number) return string.format('%.0f', number) end

local store, mortal = ARGV[3], ARGV[4] == '1'
local linger, spare, latest = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local headkey, names, staged, entombed = store .. 'h', store .. 'n', store .. 'v', store .. 'q'
local at = 9 + 3 * tonumber(ARGV[8])
for guard = 9, at - 1, 3 do
  if (redis.call('HGET', ARGV[guard], ARGV[guard + 1]) or '') ~= ARGV[guard + 2] then return {'stale', ''} end
end

local clock = redis.call('TIME')
local millis = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local micros = (tonumber(clock[1]) - 1577836800) * 1000000 + tonumber(clock[2])
local first, last_seq = math.max(tonumber(redis.call('HGET', headkey, 'seq') or 0), micros), 0

-- The scope that words are about; and by the bases of scopes, what is to be done once all words are.
local base, name = '', ''
local changed, ends, uses = {}, {}, {}

-- Seqs are numbered, so that they rise in the order of the jobs, whatever their scopes.
local function take(number)
  local seq = first + tonumber(number)
  last_seq = math.max(last_seq, seq)
  changed[base] = true
  return text(seq)
end

-- Takes a seq off the list of those that say the same.
local function unlist(key, gone)
  local left = {}
  for one in string.gmatch(redis.call('HGET', base .. 'd', key) or '', '%d+') do
    if one ~= gone then left[#left + 1] = one end
  end
  if #left > 0 then
    redis.call('HSET', base .. 'd', key, table.concat(left, ' '))
  else
    redis.call('HDEL', base .. 'd', key)
  end
end

-- Adds to the history of an id, a list of events as JSON (see codec.py).
local function log(id, told, event)
  redis.call('HSET', base .. 'e', id, string.sub(told, 1, -2) .. ',' .. event .. ']')
end

local function creation(created, agent) return '["created",' .. created .. ',' .. agent .. ',1,null]' end

local function remove(gone, id, number, key)
  redis.call('DEL', base .. 'r:' .. gone)
  redis.call('ZREM', base .. 's', gone)
  redis.call('ZREM', base .. 'x', gone)
  redis.call('HDEL', base .. 'z', gone)
  redis.call('HDEL', staged, gone)
  if redis.call('HGET', base .. 'i', id) == gone then redis.call('HDEL', base .. 'i', id) end
  unlist(key, gone)
  redis.call('ZADD', base .. 'g', take(number), gone)
  if redis.call('ZCARD', base .. 'g') > 40000 then
    local told = redis.call('ZRANGE', base .. 'g', 19999, 19999, 'WITHSCORES')
    redis.call('ZREMRANGEBYRANK', base .. 'g', 0, 19999)
    redis.call('HSET', base .. 'm', 'pruned', told[2])
  end
end

local function add(number, id, key, bytes, created, expires, ttl, agent)
  local this = take(number)
  if agent == '' then -- another version, which keeps the uses of the one before it
    bytes = string.sub(bytes, 1, 1) .. (uses[base .. id] or string.sub(bytes, 2, 17)) .. string.sub(bytes, 18)
  else
    local told = redis.call('HGET', base .. 'e', id)
    if told then log(id, told, creation(created, agent)) end
  end
  if ttl == '' then
    redis.call('SET', base .. 'r:' .. this, bytes)
  else
    redis.call('SET', base .. 'r:' .. this, bytes, 'PX', ttl)
  end
  redis.call('HSET', base .. 'i', id, this)
  redis.call('ZADD', base .. 's', this, this)
  if key ~= '' then
    local seqs = redis.call('HGET', base .. 'd', key)
    redis.call('HSET', base .. 'd', key, seqs and (seqs .. ' ' .. this) or this)
  end
  if ttl ~= '' then
    redis.call('ZADD', base .. 'x', expires, this)
    redis.call('HSET', base .. 'z', this, (key == '' and '0' or '1' .. key) .. id)
  end
  local till = ttl == '' and math.huge or millis + tonumber(ttl)
  ends[base] = math.max(ends[base] or 0, till)
end

local function use(id, count, when)
  local this = redis.call('HGET', base .. 'i', id)
  local bytes = this and redis.call('GETRANGE', base .. 'r:' .. this, 1, 16) or ''
  if #bytes ~= 16 then return end
  local before, used = struct.unpack('>dd', bytes)
  local moment = tonumber(when)
  if used == used and used > moment then moment = used end
  redis.call('SETRANGE', base .. 'r:' .. this, 1, struct.pack('>dd', before + tonumber(count), moment))
end

-- Replaces the vector and the terms in the bytes of a record (see codec.py). A vector begins with a '1' that
-- does not count; without it, there is none.
local function derive(key, vector, terms)
  local bytes = redis.call('GET', key)
  if not bytes or #bytes < 65 then return end
  local said, terms_size, vector_size, original, sealed = struct.unpack('>I4I4I4I4I4', bytes, 18)
  local at = 65 + said
  local rest = string.sub(bytes, at + math.max(terms_size - 1, 0) + math.max(vector_size - 1, 0) + 1)
  local sizes = struct.pack('>I4I4I4I4I4', said, #terms + 1, #vector, original, sealed)
  local new = string.sub(bytes, 1, 17) .. sizes .. string.sub(bytes, 38, at) .. terms .. string.sub(vector, 2) .. rest
  redis.call('SET', key, new, 'KEEPTTL')
end

-- What the server let expire leaves its traces in the indexes: a few are cleared away with each write.
local function sweep()
  local before = math.max(latest, millis / 1000) - linger
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', base .. 'x', '-inf', before, 'LIMIT', 0, 10)) do
    local rest = redis.call('HGET', base .. 'z', gone)
    if rest and redis.call('EXISTS', base .. 'r:' .. gone) == 0 then
      local listed = string.sub(rest, 1, 1) == '1'
      spare = spare + 1
      remove(gone, string.sub(rest, listed and 30 or 2), spare, listed and string.sub(rest, 2, 29) or '')
    end
  end
end

-- Keeps one tombstone of each scope that has any, by which a writer knows that there are some.
local function note_tombstones()
  local one = redis.call('HRANDFIELD', base .. 'b', 1, 'WITHVALUES')
  if #one > 0 then
    redis.call('HSET', entombed, name, one[2] .. ' ' .. one[1])
  else
    redis.call('HDEL', entombed, name)
  end
  redis.call('HINCRBY', headkey, 'tombs', 1)
end

local words = {
  S = function(i) -- what follows is about this scope, which is to be known by its name if something comes to it
    base, name = ARGV[i], ARGV[i + 1]
    if ARGV[i + 2] == '1' and redis.call('HSETNX', names, name, '1') == 1 then
      redis.call('HINCRBY', headkey, 'scopes', 1)
    end
    return 3
  end,
  ['+'] = function(i)
    add(unpack(ARGV, i, i + 7))
    return 8
  end,
  ['-'] = function(i)
    local number, gone, id = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    if string.sub(gone, 1, 1) == '+' then gone = text(first + tonumber(gone)) end -- of this very write
    local head = redis.call('GETRANGE', base .. 'r:' .. gone, 0, 64) -- see codec.py
    uses[base .. id] = #head == 65 and string.sub(head, 2, 17) or nil
    remove(gone, id, number, string.sub(head, 38))
    local told = redis.call('HGET', base .. 'e', id) or '[' .. creation(ARGV[i + 3], ARGV[i + 4]) .. ']'
    log(id, told, ARGV[i + 5])
    return 6
  end,
  U = function(i) use(ARGV[i], ARGV[i + 1], ARGV[i + 2]) return 3 end,
  D = function(i) derive(base .. 'r:' .. ARGV[i], ARGV[i + 1], ARGV[i + 2]) return 3 end,
  R = function(i) -- any command on a hash
    local count, letter = tonumber(ARGV[i]), ARGV[i + 2]
    redis.call(ARGV[i + 1], base .. letter, unpack(ARGV, i + 3, i + count))
    changed[base] = true
    if letter == 'b' then note_tombstones() end
    return count + 1
  end,
}
while at <= #ARGV do
  at = at + 1 + words[ARGV[at]](at + 1)
end

local KEPT = {'i', 's', 'x', 'z', 'd', 'g', 'm'}
for scope, till in pairs(ends) do
  base = scope
  sweep()
  local known = redis.call('HMGET', scope .. 'm', 'ttl', 'mortal')
  if till == math.huge then
    if known[2] then
      for _, key in ipairs(KEPT) do redis.call('PERSIST', scope .. key) end
      redis.call('HDEL', scope .. 'm', 'mortal')
    end
  else
    till = text(math.max(till, tonumber(known[1] or 0)))
    local all = mortal and redis.call('ZCARD', scope .. 's') == redis.call('ZCARD', scope .. 'x')
    redis.call('HSET', scope .. 'm', 'ttl', till)
    if all then
      redis.call('HSET', scope .. 'm', 'mortal', '1')
      for _, key in ipairs(KEPT) do redis.call('PEXPIREAT', scope .. key, till) end
    end
  end
end
for scope in pairs(changed) do redis.call('HINCRBY', scope == store and headkey or scope .. 'm', 'v', 1) end
if last_seq > first then redis.call('HSET', headkey, 'seq', text(last_seq)) end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. text(first), 'PX', ARGV[2])
return {'done', text(first)}
