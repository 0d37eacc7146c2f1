// A collector that a policy sends to. One that cannot be resolved stays as an unreachable target: the proxy drops and
// counts what it would send there.
import type { OtlpTarget } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { BackendObjectReference } from '#api/v1alpha1/shared.gen.ts'
import type { FieldContext } from './field.ts'
import { serviceReference } from './service-reference.ts'

export interface OtlpDestination {
  readonly backendRef: BackendObjectReference
  readonly protocol?: 'GRPC' | 'HTTP'
  readonly path?: string
}

export function otlpTarget(
  { backendRef, protocol = 'GRPC', path: requestPath }: OtlpDestination,
  path: FieldPath,
  context: FieldContext,
): OtlpTarget {
  return {
    service: serviceReference(backendRef, `${path}.backendRef`, context),
    protocol,
    ...(requestPath !== undefined && { path: requestPath }),
  }
}
