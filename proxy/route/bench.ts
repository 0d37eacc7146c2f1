// Time of one route look-up with few and many routes: `node proxy/route/bench.ts`.
import type { HttpRequest } from '../message/message.ts'
import { requestOf } from './request.testing.ts'
import { buildRouter, type RouterEntry } from './router.ts'

const LOOKUPS = 400_000
const ROUNDS = 3
const HOSTS_MAX = 100

/** Routes spread over up to 100 hosts: three prefixes for each exact path, a quarter under a wildcard. */
function routes(count: number): RouterEntry<number>[] {
  const hosts = Math.min(HOSTS_MAX, Math.ceil(count / 10))
  return Array.from({ length: count }, (_, i) => ({
    hostnames: [i % 4 === 0 ? `*.wild${i % hosts}.example.com` : `host${i % hosts}.example.com`],
    matches: [{ path: i % 4 === 1 ? { exact: `/api/v1/item${i}` } : { pathPrefix: `/api/v1/item${i}` } }],
    order: { namespace: 'default', name: `route${i}`, ruleIndex: 0 },
    value: i,
  }))
}

function requests(count: number): HttpRequest[] {
  const hosts = Math.min(HOSTS_MAX, Math.ceil(count / 10))
  return Array.from({ length: 64 }, (_, k) => {
    const i = Math.floor((k / 64) * count)
    const host = i % 4 === 0 ? `a.wild${i % hosts}.example.com` : `host${i % hosts}.example.com`
    return requestOf({ host, path: `/api/v1/item${i}${i % 4 === 1 ? '' : '/part'}` })
  })
}

for (const count of [10, 1000, 10_000]) {
  const router = buildRouter(routes(count))
  const wanted = requests(count)
  let best = Number.POSITIVE_INFINITY
  let misses = 0
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < LOOKUPS; i++) {
      const request = wanted[i & 63]
      if (request === undefined || router.find(request) === undefined) misses++
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / LOOKUPS)
  }
  console.log(`${count} routes: ${best.toFixed(0)} ns per look-up, ${misses} misses`)
}
