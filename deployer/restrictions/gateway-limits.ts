// Compares what a Gateway asks of its own deployment with what the administrator allows. The fields of its overlays
// are judged by their effect on the object, after the merge. Nothing is deployed when one of them is refused.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GwParameters, GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployInput, DeployProblem, GatewayRestrictions } from '../input.ts'
import { jsonCopy, type JsonObject, type ObjectRef, refOf } from '../kube-object.ts'
import { RESERVED_PREFIX } from '../labels.ts'
import { type ChangedField, changedFields } from './changed-fields.ts'
import { fieldsOfClass } from './class-fields.ts'
import { covers, type FieldPath, overlaps, parseFieldPath } from './field-path.ts'

/** Names of the settings, for messages; operator/controllers/settings.ts reads them. */
export const RESTRICTION_SETTINGS = {
  parameters: 'GW_GATEWAY_PARAMETERS',
  allowedFields: 'GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS',
  enforcedFields: 'GW_CLASS_PARAMETERS_ENFORCED_FIELDS',
  deniedKeyPrefixes: 'GW_GATEWAY_DENIED_KEY_PREFIXES',
} as const satisfies { readonly [K in keyof GatewayRestrictions]: string }

/** Problems of one object or one list of fields; the rest is counted. */
const PROBLEMS_MAX = 20

const TYPED_FIELDS = [
  'workload',
  'logging',
  'rawConfig',
  'image',
  'env',
  'resources',
  'shutdown',
  'meshIntegration',
  'modelCatalog',
] as const satisfies readonly (keyof GwParametersSpec)[]

/** The Gateway replaces them as a whole, so that each of their fields is that of the Gateway. */
const WHOLE_FIELDS: ReadonlySet<string> = new Set(['rawConfig', 'shutdown', 'modelCatalog'])
/** One image: a class that names its repository means the tag, too. */
const ENFORCED_WHOLE: ReadonlySet<string> = new Set([...WHOLE_FIELDS, 'image'])
/** The proxy reads each variable with and without it. */
const ENV_PREFIX = 'GW_'

export class GatewayLimits {
  readonly #restrictions: GatewayRestrictions
  readonly #parameters: GwParameters | undefined
  readonly #gateway: Gateway
  readonly #allowed: readonly FieldPath[]
  readonly #enforced: readonly FieldPath[]
  readonly #ofClass: readonly FieldPath[]
  readonly #classRef: ObjectRef | undefined

  constructor({ gateway, classParameters, gatewayParameters, settings }: DeployInput) {
    this.#restrictions = settings.restrictions
    this.#gateway = gateway
    this.#parameters = gatewayParameters
    this.#allowed = paths(settings.restrictions.allowedFields)
    this.#enforced = paths(settings.restrictions.enforcedFields)
    this.#ofClass = fieldsOfClass(classParameters).map(comparable).map(enforcedPath)
    this.#classRef = classParameters && refOf({ ...classParameters })
  }

  /** Of the fields that are not overlays. */
  typedProblems(): DeployProblem[] {
    if (this.#parameters === undefined) return []
    const { spec } = this.#parameters
    return this.#problems(TYPED_FIELDS.flatMap((name) => typedFields(spec, name)))
  }

  /** Of what one overlay changed. */
  overlayProblems(name: string, change: { readonly before: JsonObject; readonly after: JsonObject }): DeployProblem[] {
    const fields = changedFields(change.before, change.after)
    return this.#problems(fields.map(({ path, shown }) => ({ path: [name, ...path], shown: `.${name}${shown}` })))
  }

  /** Of `spec.infrastructure`. */
  infrastructureProblems(): DeployProblem[] {
    const { labels = {}, annotations = {} } = this.#gateway.spec.infrastructure ?? {}
    const problems = Object.entries({ labels, annotations }).flatMap(([field, map]) =>
      Object.keys(map).flatMap((key) => {
        const message = this.#deniedKey(key)
        return message === undefined ? [] : [{ path: `spec.infrastructure.${field}[${key}]`, message }]
      }),
    )
    return bounded(problems, refOf(this.#gateway), 'spec.infrastructure')
  }

  #problems(fields: readonly ChangedField[]): DeployProblem[] {
    if (this.#parameters === undefined) return []
    const problems = fields.flatMap(({ path, shown }) => {
      const message = this.#refusal(path)
      return message === undefined ? [] : [{ path: `spec${shown}`, message }]
    })
    return bounded(problems, refOf({ ...this.#parameters }), 'spec')
  }

  #refusal(path: FieldPath): string | undefined {
    const compared = comparable(path)
    if (!this.#allowed.some((pattern) => covers(pattern, compared))) return NOT_ALLOWED
    const enforced = enforcedPath(compared)
    const isOfClass = this.#ofClass.some((field) => overlaps(field, enforced))
    if (isOfClass && this.#enforced.some((pattern) => overlaps(pattern, enforced))) return this.#ofClassMessage()
    const key = keyOf(path)
    if (key?.startsWith(RESERVED_PREFIX) === true) return RESERVED
    return key === undefined ? undefined : this.#deniedKey(key)
  }

  #ofClassMessage(): string {
    const { namespace = '', name = '' } = this.#classRef ?? {}
    return (
      `is set by GwParameters ${namespace}/${name} of the GatewayClass and cannot be changed by a Gateway; ` +
      `remove it, or ask an administrator to remove it from ${RESTRICTION_SETTINGS.enforcedFields}`
    )
  }

  #deniedKey(key: string): string | undefined {
    const prefix = this.#restrictions.deniedKeyPrefixes.find((one) => key.startsWith(one))
    if (prefix === undefined) return undefined
    return (
      `a Gateway cannot set labels and annotations that begin with "${prefix}"; remove it, set it in the GwParameters ` +
      `of the GatewayClass, or ask an administrator to remove the prefix from ${RESTRICTION_SETTINGS.deniedKeyPrefixes}`
    )
  }
}

function typedFields(spec: GwParametersSpec, name: (typeof TYPED_FIELDS)[number]): ChangedField[] {
  const value = spec[name]
  if (value === undefined) return []
  if (WHOLE_FIELDS.has(name)) return [{ path: [name], shown: `.${name}` }]
  // The block alone joins the mesh.
  const given = name === 'meshIntegration' ? { enabled: true, ...spec.meshIntegration } : value
  // One without fields sets nothing.
  return Object.keys(given).length === 0 ? [] : changedFields({}, { [name]: jsonCopy(given) })
}

/** By the class NetworkPolicies and monitors select pods. */
const RESERVED = `keys that begin with ${RESERVED_PREFIX} belong to the Gateway API; use another key`

const NOT_ALLOWED =
  'the GwParameters of a Gateway cannot set this field; remove it, set it in the GwParameters of the GatewayClass, or ' +
  `let an administrator add the field to ${RESTRICTION_SETTINGS.allowedFields}`

function paths(texts: readonly string[]): FieldPath[] {
  return texts
    .map(parseFieldPath)
    .filter((path) => path !== undefined)
    .map(comparable)
}

/** Variables of both names are one. */
function comparable(path: FieldPath): FieldPath {
  const name = path.lastIndexOf('env') + 1
  return path.map((segment, i) =>
    name > 0 && i === name && segment.startsWith(ENV_PREFIX) ? segment.slice(ENV_PREFIX.length) : segment,
  )
}

function enforcedPath(path: FieldPath): FieldPath {
  const [first = ''] = path
  return ENFORCED_WHOLE.has(first) ? [first] : path
}

/** Of a label or an annotation of the object or of its pods. */
function keyOf(path: FieldPath): string | undefined {
  const [metadata, map, key] = path.slice(-3)
  return metadata === 'metadata' && (map === 'labels' || map === 'annotations') ? key : undefined
}

function bounded(
  problems: readonly { readonly path: string; readonly message: string }[],
  object: ObjectRef,
  place: string,
): DeployProblem[] {
  const shown = problems.slice(0, PROBLEMS_MAX)
  const more = problems.length - shown.length
  const rest = more > 0 ? [{ path: place, message: `${more} more fields or keys are rejected` }] : []
  return [...shown, ...rest].map((one) => ({ ...one, object, reason: 'InvalidParameters', severity: 'error' }))
}
