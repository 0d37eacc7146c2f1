// The message about an object that the API server rejects: the object, the error and its field, and the source of the
// value. Pure.
import type { GwParameters, GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import type { KubeObject } from '../translate/kube.ts'
import { describe, refOf } from '../translate/object-ref.ts'

type Field = keyof GwParametersSpec

const OF_PODS: readonly Field[] = ['image', 'env', 'resources', 'modelCatalog']

/** What parameters say about an object of the kind. */
const FIELDS: ReadonlyMap<string, readonly Field[]> = new Map([
  ['Deployment', ['deployment', ...OF_PODS]],
  ['DaemonSet', ['daemonSet', ...OF_PODS]],
  ['Service', ['service']],
  ['ServiceAccount', ['serviceAccount']],
  ['PodDisruptionBudget', ['podDisruptionBudget']],
  ['HorizontalPodAutoscaler', ['horizontalPodAutoscaler']],
])

/** Kinds that `parameters` can make invalid. */
export const SHAPED_KINDS: ReadonlySet<string> = new Set(FIELDS.keys())

const FORBIDDEN = 403
const INVALID = 422
/** Messages of the API server about an immutable field, such as the class of a load balancer. */
const FIXED = /field is immutable|may not change once set/
const NAME = /(?:^|[\s[])metadata\.name: /
const RENAME = 'it has the name of the Gateway: choose a Gateway name that starts with a letter and has no dots'
const UNAVAILABLE: ReadonlySet<number> = new Set([429, 502, 503, 504])

export function refusalText(
  error: KubeError,
  { kind, metadata: { name } }: KubeObject,
  parameters: readonly GwParameters[],
): string {
  if (error._tag === 'KubeConflict') return `${kind} ${name} was not written: ${error.message}`
  if (error._tag !== 'KubeRefused' || UNAVAILABLE.has(error.status)) return describeKubeError(error)
  const { status, message } = error
  const said = `${kind} ${name} was refused: ${message}`
  if (FIXED.test(message)) return `${said}; delete ${kind} ${name}; the controller creates it again`
  if (status === INVALID && NAME.test(message)) return `${said}; ${RENAME}`
  if (status === FORBIDDEN) return forbidden(said)
  const places = parameters.flatMap((one) => placesIn(one, kind))
  return places.length === 0 ? said : `${said}; see ${places.join(' and ')}`
}

function forbidden(said: string): string {
  if (/because it is being terminated/.test(said)) return said
  if (/exceeded quota/.test(said)) return `${said}; raise the quota, or request less in GwParameters`
  return `${said}; if the controller lacks a right, grant it as config/rbac does`
}

/** `spec.deployment and spec.env of GwParameters shop/small` */
function placesIn(parameters: GwParameters, kind: string): string[] {
  const fields = (FIELDS.get(kind) ?? []).filter((field) => parameters.spec[field] !== undefined)
  const { apiVersion, metadata } = parameters
  const named = describe(refOf({ apiVersion, kind: parameters.kind, metadata }))
  return fields.length === 0 ? [] : [`${fields.map((field) => `spec.${field}`).join(', ')} of ${named}`]
}
