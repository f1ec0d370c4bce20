-- Writes what one desk holds, all or nothing, and once: a repeated call is answered as the first one was.
-- KEYS[1]: the writer's last answer. ARGV: number of this write, how long its answer is kept (ms), the seq
-- before the first to be given ('' to give them here), keys of the store's head and of the scopes' names
-- ('' in a cluster), whether whole scopes may expire, the number of guards, guards (hash, field, value;
-- '' for none), then words with their arguments.
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

local headkey, names, mortal = ARGV[4], ARGV[5], ARGV[6] == '1'
local at = 8
for guard = 1, tonumber(ARGV[7]) do
  if (redis.call('HGET', ARGV[at], ARGV[at + 1]) or '') ~= ARGV[at + 2] then
    return {'stale', ARGV[at + 1]}
  end
  at = at + 3
end

local clock = redis.call('TIME')
local millis = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local seq, first
if ARGV[3] == '' then
  local micros = (tonumber(clock[1]) - 1577836800) * 1000000 + tonumber(clock[2])
  seq = math.max(tonumber(redis.call('HGET', headkey, 'seq') or 0), micros)
else
  seq = tonumber(ARGV[3])
end
first = seq

local base, last_seq, given, mine, uses, ends, floors = '', first, {}, {}, {}, {}, {}
local function next_seq()
  seq = seq + 1
  last_seq = math.max(last_seq, seq)
  if ARGV[3] ~= '' then floors[base] = seq end
  return text(seq)
end

local function unlist(digest, gone)
  if digest == '' then return end
  local seqs = redis.call('HGET', base .. 'd', digest)
  if not seqs then return end
  local left = {}
  for one in string.gmatch(seqs, '%d+') do
    if one ~= gone then left[#left + 1] = one end
  end
  if #left == 0 then
    redis.call('HDEL', base .. 'd', digest)
  else
    redis.call('HSET', base .. 'd', digest, table.concat(left, ' '))
  end
end

local function remove(gone, id, digest)
  redis.call('DEL', base .. 'r:' .. gone)
  for _, index in ipairs({'s', 'o', 'c', 'p', 't', 'x'}) do redis.call('ZREM', base .. index, gone) end
  redis.call('HDEL', base .. 'z', gone)
  if redis.call('HGET', base .. 'i', id) == gone then redis.call('HDEL', base .. 'i', id) end
  unlist(digest, gone)
  redis.call('ZADD', base .. 'g', next_seq(), gone)
  if redis.call('ZCARD', base .. 'g') > 40000 then
    local told = redis.call('ZRANGE', base .. 'g', 19999, 19999, 'WITHSCORES')
    redis.call('ZREMRANGEBYRANK', base .. 'g', 0, 19999)
    redis.call('HSET', base .. 'm', 'pruned', told[2])
  end
end

local function add(id, digest, bytes, occurred, created, importance, step, expires, ttl, carry)
  local this = next_seq()
  given[#given + 1] = this
  mine[base] = mine[base] or {}
  table.insert(mine[base], this)
  if carry == '1' and uses[base .. id] then
    bytes = string.sub(bytes, 1, 1) .. uses[base .. id] .. string.sub(bytes, 18)
  end
  if ttl == '' then
    redis.call('SET', base .. 'r:' .. this, bytes)
  else
    redis.call('SET', base .. 'r:' .. this, bytes, 'PX', ttl)
  end
  redis.call('HSET', base .. 'i', id, this)
  redis.call('ZADD', base .. 's', this, this)
  redis.call('ZADD', base .. 'o', occurred, this)
  redis.call('ZADD', base .. 'c', created, this)
  redis.call('ZADD', base .. 'p', importance, this)
  if step ~= '' then redis.call('ZADD', base .. 't', step, this) end
  if digest ~= '' then
    local seqs = redis.call('HGET', base .. 'd', digest)
    redis.call('HSET', base .. 'd', digest, seqs and (seqs .. ' ' .. this) or this)
  end
  if ttl ~= '' then
    redis.call('ZADD', base .. 'x', expires, this)
    redis.call('HSET', base .. 'z', this, (digest == '' and '0' or '1' .. digest) .. id)
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

-- Replaces the vector and the terms in the bytes of a record (see codec.py). Each begins with a '1' that does
-- not count; without it, there is no vector, and terms stay as they are.
local function derive(key, vector, terms)
  local bytes = redis.call('GET', key)
  if not bytes or #bytes < 37 then return end
  local said, terms_size, vector_size, original, sealed = struct.unpack('>I4I4I4I4I4', bytes, 18)
  local at = 37 + said
  local rest = string.sub(bytes, at + math.max(terms_size - 1, 0) + math.max(vector_size - 1, 0) + 1)
  if terms == '' then
    terms = string.sub(bytes, at, at + math.max(terms_size - 1, 0))
  else
    terms_size = #terms
  end
  local head = string.sub(bytes, 1, 17) .. struct.pack('>I4I4I4I4I4', said, terms_size, #vector, original, sealed)
  local new = head .. string.sub(bytes, 38, at) .. string.sub(terms, 2) .. string.sub(vector, 2) .. rest
  redis.call('SET', key, new, 'KEEPTTL')
end

-- What the server let expire leaves its traces in the indexes: a few are cleared away with each write.
local function sweep(before)
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', base .. 'x', '-inf', before, 'LIMIT', 0, 10)) do
    local rest = redis.call('HGET', base .. 'z', gone)
    if rest and redis.call('EXISTS', base .. 'r:' .. gone) == 0 then
      local listed = string.sub(rest, 1, 1) == '1'
      remove(gone, string.sub(rest, listed and 18 or 2), listed and string.sub(rest, 2, 17) or '')
    end
  end
end

local words = {
  S = function(i) base = ARGV[i] return 1 end,
  Q = function(i) seq = first + tonumber(ARGV[i]) return 1 end, -- seqs in the order of the jobs
  N = function(i)
    if names ~= '' and redis.call('HSETNX', names, ARGV[i], '1') == 1 then
      redis.call('HINCRBY', headkey, 'scopes', 1)
    end
    return 1
  end,
  ['+'] = function(i)
    add(unpack(ARGV, i, i + 9))
    return 10
  end,
  ['-'] = function(i)
    local gone, id = ARGV[i], ARGV[i + 1]
    if string.sub(gone, 1, 1) == '-' then gone = mine[base][-tonumber(gone)] end
    local used = redis.call('GETRANGE', base .. 'r:' .. gone, 1, 16)
    uses[base .. id] = #used == 16 and used or nil
    remove(gone, id, ARGV[i + 2])
    return 3
  end,
  U = function(i) use(ARGV[i], ARGV[i + 1], ARGV[i + 2]) return 3 end,
  D = function(i) derive(base .. 'r:' .. ARGV[i], ARGV[i + 1], ARGV[i + 2]) return 3 end,
  X = function(i)
    sweep(math.max(tonumber(ARGV[i]), millis / 1000) - tonumber(ARGV[i + 1]))
    return 2
  end,
  R = function(i)
    local count = tonumber(ARGV[i])
    redis.call(unpack(ARGV, i + 1, i + count))
    return count + 1
  end,
}
if ARGV[3] ~= '' then -- in a cluster: one scope, which may have been told up to a later seq already
  local floor = tonumber(redis.call('HGET', ARGV[at + 1] .. 'm', 'f') or 0)
  if first < floor then return {'behind', text(floor)} end
end
while at <= #ARGV do
  at = at + 1 + words[ARGV[at]](at + 1)
end

if ARGV[3] ~= '' then redis.call('PERSIST', base .. 'm') end
local KEPT = {'i', 's', 'o', 'c', 'p', 't', 'x', 'z', 'd', 'g', 'm'}
for scope, till in pairs(ends) do
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
for scope, floor in pairs(floors) do redis.call('HSET', scope .. 'm', 'f', text(floor)) end
if ARGV[3] == '' and last_seq > first then redis.call('HSET', headkey, 'seq', text(last_seq)) end
local answer = table.concat(given, ' ')
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. answer, 'PX', ARGV[2])
return {'done', answer}
