// traffic.timeouts: HTTPRoutes only. On another target it has no effect, and the status reports it.
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { Timeouts } from '#api/v1alpha1/gwpolicy.gen.ts'
import { durationMs } from '../duration.ts'
import { type FieldTranslator, reportError } from './field.ts'

export const timeouts: FieldTranslator<Timeouts, TrafficPayload> = {
  failureMode: 'skip',
  translate: ({ request }, context) => {
    const wrongKind = [...context.scope.targetKinds].find((kind) => kind !== 'HTTPRoute')
    if (wrongKind !== undefined) {
      const message = `traffic.timeouts applies to HTTPRoutes only, not to a ${wrongKind}; it has no effect`
      reportError(context, { path: context.path, reason: 'UnsupportedTarget', message })
      return []
    }
    const requestMs = request === undefined ? undefined : durationMs(request)
    if (requestMs === undefined || requestMs === 0) return []
    return [{ suffix: 'timeout', payload: { timeouts: { requestMs } } }]
  },
}
