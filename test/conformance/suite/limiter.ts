// Rate limit service of the samples: two requests for each descriptor, for as long as it runs.
import { create } from '@bufbuild/protobuf'
import { RateLimitResponseSchema, RateLimitService } from '#proxy/envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { unaryMethod, type ServedMethod } from '#proxy/grpc/server.testing.ts'

const LIMIT = 2
const OK = 1
const OVER_LIMIT = 2

export function limiter(): ServedMethod {
  const counts = new Map<string, number>()
  return unaryMethod(RateLimitService.method.shouldRateLimit, ({ request }, reply) => {
    const codes = request.descriptors.map(({ entries }) => {
      const key = [request.domain, ...entries.map((entry) => `${entry.key}=${entry.value}`)].join(' ')
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count > LIMIT ? OVER_LIMIT : OK
    })
    const overallCode = codes.includes(OVER_LIMIT) ? OVER_LIMIT : OK
    reply(null, create(RateLimitResponseSchema, { overallCode }))
  })
}
