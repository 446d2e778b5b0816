import { RedisScript } from './redis-script.ts';

/*
 * Keys, all under one hash tag so that a cluster keeps them on one node:
 *   {prefix}:workers        set of worker ids, dead ones among them until somebody lists
 *   {prefix}:worker:<id>    hash of the last heartbeat; lives as long as the heartbeat counts
 *   {prefix}:sessions:<id>  set of the sessions that heartbeat named; lives as long
 *   {prefix}:slots:<id>     sorted set session → when its slot is free again, for slots no heartbeat has counted
 *   {prefix}:session:<id>   the worker that holds the session or a slot for it
 *   {prefix}:hit:<key>:<start of the window>
 * KEYS[1] is `{prefix}`: the rest is made of it inside, since which keys are needed shows only there.
 */
const SHARED = `
local root, id = KEYS[1], ARGV[1]
local worker, sessions, slots = root .. ':worker:' .. id, root .. ':sessions:' .. id, root .. ':slots:' .. id
local function session(sessionId) return root .. ':session:' .. sessionId end
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function freeExpiredSlots() redis.call('ZREMRANGEBYSCORE', slots, '-inf', nowMs()) end
local function forget(sessionId)
  if redis.call('GET', session(sessionId)) == id then redis.call('DEL', session(sessionId)) end
end
`;

/** worker, status JSON, capacity, occupied, draining 0|1, control plane, ttl, session… */
export const HEARTBEAT = new RedisScript(`${SHARED}
local ttl = tonumber(ARGV[7])
freeExpiredSlots()
local named = {}
for i = 8, #ARGV do named[ARGV[i]] = true end
for _, old in ipairs(redis.call('SMEMBERS', sessions)) do
  if not named[old] and not redis.call('ZSCORE', slots, old) then forget(old) end
end
redis.call('SADD', root .. ':workers', id)
redis.call('DEL', worker, sessions)
redis.call('HSET', worker, 'status', ARGV[2], 'capacity', ARGV[3], 'occupied', ARGV[4], 'draining', ARGV[5],
  'controlPlane', ARGV[6])
redis.call('PEXPIRE', worker, ttl)
for i = 8, #ARGV do
  redis.call('SADD', sessions, ARGV[i])
  redis.call('ZREM', slots, ARGV[i])
  redis.call('SET', session(ARGV[i]), id, 'PX', ttl)
end
redis.call('PEXPIRE', sessions, ttl)
`);

/** worker */
export const REMOVE_WORKER = new RedisScript(`${SHARED}
for _, held in ipairs(redis.call('SMEMBERS', sessions)) do forget(held) end
for _, held in ipairs(redis.call('ZRANGE', slots, 0, -1)) do forget(held) end
redis.call('DEL', worker, sessions, slots)
redis.call('SREM', root .. ':workers', id)
`);

/** Answers a list of [status JSON, occupied, control plane, sessions]. */
export const LIVE_WORKERS = new RedisScript(`
local root = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local live = {}
for _, id in ipairs(redis.call('SMEMBERS', root .. ':workers')) do
  local found = redis.call('HMGET', root .. ':worker:' .. id, 'status', 'occupied', 'controlPlane')
  if found[1] then
    local taken = redis.call('ZCOUNT', root .. ':slots:' .. id, '(' .. now, '+inf')
    live[#live + 1] = { found[1], found[2] + taken, found[3], redis.call('SMEMBERS', root .. ':sessions:' .. id) }
  else
    redis.call('SREM', root .. ':workers', id)
  end
end
return live
`);

/** worker, session, ttl. Answers 1 or 0. */
export const RESERVE_SLOT = new RedisScript(`${SHARED}
local sessionId, ttl = ARGV[2], tonumber(ARGV[3])
freeExpiredSlots()
local found = redis.call('HMGET', worker, 'capacity', 'occupied', 'draining')
if not found[1] then return 0 end
if redis.call('ZSCORE', slots, sessionId) or redis.call('SISMEMBER', sessions, sessionId) == 1 then return 1 end
if found[3] == '1' or found[2] + redis.call('ZCARD', slots) >= tonumber(found[1]) then return 0 end
redis.call('ZADD', slots, nowMs() + ttl, sessionId)
redis.call('PEXPIRE', slots, math.max(ttl, redis.call('PTTL', slots)))
redis.call('SET', session(sessionId), id, 'PX', ttl)
return 1
`);

/** worker, session */
export const RELEASE_SLOT = new RedisScript(`${SHARED}
local sessionId = ARGV[2]
redis.call('ZREM', slots, sessionId)
if redis.call('SREM', sessions, sessionId) == 1 then redis.call('HINCRBY', worker, 'occupied', -1) end
forget(sessionId)
`);

/** session. Answers [worker, control plane] or nothing. */
export const LOCATE = new RedisScript(`
local root = KEYS[1]
local id = redis.call('GET', root .. ':session:' .. ARGV[1])
if not id then return false end
local controlPlane = redis.call('HGET', root .. ':worker:' .. id, 'controlPlane')
if not controlPlane then return false end
return { id, controlPlane }
`);

/** key, window. Answers how many hits the window that holds now has. */
export const HIT = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[2])
local start = now - now % window
local counter = KEYS[1] .. ':hit:' .. ARGV[1] .. ':' .. string.format('%.0f', start)
local count = redis.call('INCR', counter)
if count == 1 then redis.call('PEXPIRE', counter, start + window - now) end
return count
`);
