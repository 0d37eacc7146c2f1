// Mirrors of a route and of a backendRef, in that order: each is a plain backend with its own policies.
import type { BackendReference, RequestMirror } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { compileHealth } from '../backend/health.ts'
import { httpBackend } from '../backend/http.ts'
import type { BackendPlan } from '../chain/plan.ts'
import type { NamedFilter } from '../chain/filter.ts'
import { effectiveService } from '../policy/merge-backend.ts'
import { compileMirrors, type Mirror } from '../policy/rewrite/mirror.ts'
import type { CompileContext } from './context.ts'

type FiltersOf = (policies: EffectiveBackend, ref: BackendReference) => readonly NamedFilter[]

/** A reference without a backend is ignored: a mirror never fails a request, and the route's status reports it. */
export function compileMirror(
  mirrors: readonly RequestMirror[],
  context: CompileContext,
  filtersOf: FiltersOf,
): BackendPlan['mirror'] {
  const compiled = mirrors
    .map((mirror) => mirrorOf(mirror, context, filtersOf))
    .filter((mirror) => mirror !== undefined)
  const { observer } = context.environment
  return compileMirrors(compiled, {
    random: Math.random,
    called: (durationMs) => observer.called?.({ kind: 'Mirror', subtype: 'Http', durationMs }),
  })
}

function mirrorOf(
  { ref, numerator, denominator }: RequestMirror,
  context: CompileContext,
  filtersOf: FiltersOf,
): Mirror | undefined {
  const backend = ref.backend === undefined ? undefined : context.resolver.backend(ref.backend)
  if (ref.invalid !== undefined || backend?.invalid !== undefined) return undefined
  // Copies do not belong to a client: no endpoint picker is called for them.
  const { inferenceRouting: _, ...policies } = effectiveService(context.policies, { service: ref.service, backend })
  const picker = context.resolver.resolve(ref, policies)
  if (picker === undefined) return undefined
  const health = policies.health === undefined ? undefined : compileHealth(policies.health, context.expression)
  return {
    numerator,
    denominator,
    filters: filtersOf(policies, ref),
    handler: httpBackend(picker, context.environment.client, health),
  }
}
