// Rate limit service of the samples: two hits for each descriptor, as long as it runs. A request is one hit unless it
// has another number; with 0 it only asks whether a hit is left.
import { create } from '@bufbuild/protobuf'
import { RateLimitResponseSchema, RateLimitService } from '#proxy/envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { unaryMethod, type ServedMethod } from '#proxy/grpc/server.testing.ts'

const LIMIT = 2
const OK = 1
const OVER_LIMIT = 2

export function limiter(): ServedMethod {
  const counts = new Map<string, number>()
  return unaryMethod(RateLimitService.method.shouldRateLimit, ({ request }, reply) => {
    const codes = request.descriptors.map(({ entries, hitsAddend = 1n }) => {
      const key = [request.domain, ...entries.map((entry) => `${entry.key}=${entry.value}`)].join(' ')
      const count = (counts.get(key) ?? 0) + Number(hitsAddend)
      counts.set(key, count)
      return count > LIMIT || (hitsAddend === 0n && count === LIMIT) ? OVER_LIMIT : OK
    })
    const overallCode = codes.includes(OVER_LIMIT) ? OVER_LIMIT : OK
    reply(null, create(RateLimitResponseSchema, { overallCode }))
  })
}
