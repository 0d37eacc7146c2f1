// The policies that call services with protobuf messages. Loaded with the first configuration that has one.
import { LatePart } from '#api/late-part.ts'

export const SERVICE_POLICIES = new LatePart('service policies', async () => {
  const [extAuth, extProc, inferenceRouting, rateLimitGlobal] = await Promise.all([
    import('./external/ext-auth.ts'),
    import('./external/ext-proc.ts'),
    import('./external/inference-routing.ts'),
    import('./limits/rate-limit-global.ts'),
  ])
  return { ...extAuth, ...extProc, ...inferenceRouting, ...rateLimitGlobal }
})

type ServicePolicy = 'extAuth' | 'extProc' | 'inferenceRouting' | 'rateLimitGlobal'

/** Whether the chain of a payload needs `SERVICE_POLICIES`. */
export function callsServices(payload: { readonly [P in ServicePolicy]?: unknown }): boolean {
  const { extAuth, extProc, inferenceRouting, rateLimitGlobal } = payload
  return (
    extAuth !== undefined || extProc !== undefined || inferenceRouting !== undefined || rateLimitGlobal !== undefined
  )
}
