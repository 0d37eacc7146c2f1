// backend.health. With an invalid condition no response counts as a failure; unreachable endpoints still do.
import type { BackendPayload, HealthEviction as RenderedEviction } from '#api/ir/types.gen.ts'
import type { Health, HealthEviction } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'
import { checkExpression } from './expression.ts'
import type { FieldTranslator } from './field.ts'

export const health: FieldTranslator<Health, BackendPayload> = {
  failureMode: 'skip',
  translate: ({ unhealthyCondition, eviction }, context) => {
    if (unhealthyCondition !== undefined) {
      checkExpression(unhealthyCondition, `${context.path}.unhealthyCondition`, { ...context, moment: 'response' })
    }
    const rendered = {
      ...(unhealthyCondition !== undefined && { unhealthyCondition }),
      ...(eviction !== undefined && { eviction: renderEviction(eviction) }),
    }
    return [{ suffix: 'health', payload: { health: rendered } }]
  },
}

function renderEviction(eviction: HealthEviction): RenderedEviction {
  const { duration, restoreHealth, consecutiveFailures, healthThreshold } = eviction
  const ms = duration === undefined ? undefined : durationMs(duration)
  return {
    ...(ms && { durationMs: ms }),
    ...(restoreHealth !== undefined && { restoreHealth }),
    ...(consecutiveFailures !== undefined && { consecutiveFailures }),
    ...(healthThreshold !== undefined && { healthThreshold }),
  }
}
