// The fields that the parameters of a GatewayClass set, as written: an equal value is set as well.
import type { GwParameters, GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import { jsonCopy } from '../kube-object.ts'
import { changedFields } from './changed-fields.ts'
import type { FieldPath } from './field-path.ts'

const POD: FieldPath = ['spec', 'template', 'spec']
const CONTAINER: FieldPath = [...POD, 'containers', 'gw']
const WORKLOADS = ['deployment', 'daemonSet'] as const

/** Where typed fields end up, in paths below the workload: an overlay of a Gateway reaches them there. */
const PLACES: { readonly [K in keyof GwParametersSpec]?: readonly FieldPath[] } = {
  resources: [[...CONTAINER, 'resources']],
  shutdown: [[...POD, 'terminationGracePeriodSeconds']],
  rawConfig: [[...POD, 'volumes', 'config-volume']],
  meshIntegration: [
    [...CONTAINER, 'env'],
    [...CONTAINER, 'volumeMounts'],
    [...POD, 'volumes'],
    ['spec', 'template', 'metadata', 'labels'],
  ],
}

export function fieldsOfClass(parameters: GwParameters | undefined): FieldPath[] {
  const set = changedFields({}, jsonCopy(parameters?.spec ?? {})).map(({ path }) => withoutDirective(path))
  return set.flatMap((path) => [path, ...placesOf(path)])
}

/** `$patch` and the like mean the map that they stand in. */
function withoutDirective(path: FieldPath): FieldPath {
  const first = path.findIndex((segment) => segment.startsWith('$'))
  return first < 0 ? path : path.slice(0, first)
}

function placesOf([field = '', ...below]: FieldPath): FieldPath[] {
  // Of no other name is there a place.
  const places = placesBelow(field, below) ?? PLACES[field as keyof GwParametersSpec] ?? []
  return WORKLOADS.flatMap((workload) => places.map((place) => [workload, ...place]))
}

function placesBelow(field: string, [first]: FieldPath): readonly FieldPath[] | undefined {
  if (field === 'image') return [[...CONTAINER, first === 'pullPolicy' ? 'imagePullPolicy' : 'image']]
  if (field === 'env') return [[...CONTAINER, 'env', ...(first === undefined ? [] : [first])]]
  return undefined
}
