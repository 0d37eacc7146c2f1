// Names and keys of rendered models. Colons distinguish them from GwBackends, whose names cannot contain one.
import type { ObjectName } from '#api/ir/types.gen.ts'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'

/** In front of the names of models, in the rendered configuration. */
export const MODEL_PREFIX = 'model:'

export interface BackendIdentity {
  readonly key: string
  readonly name: ObjectName
}

/** The name that clients use, or a pattern of names. */
export function offeredName({ spec, metadata }: GwModel): string {
  return spec.match?.model ?? metadata.name
}

export function isPattern(name: string): boolean {
  return name.includes('*')
}

export function modelIdentity(model: GwModel): BackendIdentity {
  return {
    key: `${MODEL_PREFIX}${keyOf(model)}`,
    name: { namespace: namespaceOf(model), name: `${MODEL_PREFIX}${model.metadata.name}` },
  }
}
