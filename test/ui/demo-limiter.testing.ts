// A rate limit service for pages of the web UI: a dollar a day for each value of a descriptor.
import { create } from '@bufbuild/protobuf'
import {
  RateLimitResponse_Code,
  RateLimitResponse_DescriptorStatusSchema,
  RateLimitResponse_RateLimit_Unit,
  RateLimitResponseSchema,
  RateLimitService,
} from '#proxy/envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { grpcServer, type GrpcTestServer, unaryMethod } from '#proxy/grpc/server.testing.ts'

/** In millionths of a dollar. */
const BUDGET = 1_000_000
const RESET_SECONDS = 36_000n
const { OK, OVER_LIMIT } = RateLimitResponse_Code

export function startLimiter(): Promise<GrpcTestServer> {
  const used = new Map<string, number>()
  return grpcServer([
    unaryMethod(RateLimitService.method.shouldRateLimit, ({ request }, reply) => {
      const statuses = request.descriptors.map(({ entries, hitsAddend = 1n }) => {
        const key = entries.map(({ value }) => value).join(' ')
        const total = (used.get(key) ?? 0) + Number(hitsAddend)
        used.set(key, total)
        return create(RateLimitResponse_DescriptorStatusSchema, {
          code: total < BUDGET ? OK : OVER_LIMIT,
          currentLimit: { requestsPerUnit: BUDGET, unit: RateLimitResponse_RateLimit_Unit.DAY },
          limitRemaining: Math.max(0, BUDGET - total),
          durationUntilReset: { seconds: RESET_SECONDS },
        })
      })
      const isOver = statuses.some(({ code }) => code === OVER_LIMIT)
      reply(null, create(RateLimitResponseSchema, { overallCode: isOver ? OVER_LIMIT : OK, statuses }))
    }),
  ])
}
