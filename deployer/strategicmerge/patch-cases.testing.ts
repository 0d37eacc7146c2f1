// Random objects and patches for the tests of strategic merge: few names, so that they meet; only real fields.
import * as fc from 'fast-check'
import type { Json, JsonObject } from '../kube-object.ts'

export interface PatchCase {
  readonly kind: string
  readonly original: JsonObject
  readonly patch: JsonObject
}

const word = fc.constantFrom('a', 'b', 'c', 'd')
const port = fc.constantFrom(80, 81, 443)
const count = fc.integer({ min: 0, max: 3 })
const strings = fc.dictionary(word, word, { maxKeys: 3, noNullPrototype: true })

/** Each field may be there. */
function some(fields: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  return fc.record(fields, { requiredKeys: [], noNullPrototype: true }).map((value) => {
    const present = Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : [[name, item] as const]))
    return Object.fromEntries(structuredClone(present))
  })
}

/** A list whose items differ in `key`, as Kubernetes demands. */
function keyed(
  key: string,
  keys: fc.Arbitrary<Json>,
  fields: Readonly<Record<string, fc.Arbitrary<Json>>>,
): fc.Arbitrary<Json[]> {
  const item = fc.tuple(keys, some(fields)).map(([value, rest]): JsonObject => ({ [key]: value, ...rest }))
  return fc.uniqueArray(item, { maxLength: 3, selector: (each) => each[key] })
}

const env = keyed('name', word, { value: word })
const containers = keyed('name', word, {
  image: word,
  args: fc.array(word, { maxLength: 2 }),
  env,
  ports: keyed('containerPort', port, { name: word }),
  volumeMounts: keyed(
    'mountPath',
    word.map((name) => `/${name}`),
    { name: word },
  ),
  resources: some({ limits: strings, requests: strings }),
  securityContext: some({ runAsUser: count, privileged: fc.boolean() }),
})
const podSpec = some({
  containers,
  initContainers: containers,
  volumes: keyed('name', word, { configMap: some({ name: word }), emptyDir: fc.constant({}) }),
  nodeSelector: strings,
  tolerations: fc.array(some({ key: word }), { maxLength: 2 }),
  securityContext: some({ runAsUser: count, sysctls: fc.array(some({ name: word }), { maxLength: 2 }) }),
  topologySpreadConstraints: keyed('topologyKey', word, { maxSkew: count }),
  imagePullSecrets: keyed('name', word, {}),
  hostAliases: keyed('ip', word, { hostnames: fc.array(word, { maxLength: 2 }) }),
})
const metadata = some({ labels: strings, annotations: strings, finalizers: fc.uniqueArray(word, { maxLength: 3 }) })
const template = some({ metadata, spec: podSpec })
const workload = some({
  metadata,
  spec: some({ replicas: count, template, strategy: some({ type: word, rollingUpdate: some({ maxSurge: count }) }) }),
})

const OBJECTS: readonly (readonly [string, fc.Arbitrary<JsonObject>])[] = [
  ['Deployment', workload],
  ['DaemonSet', some({ metadata, spec: some({ minReadySeconds: count, template }) })],
  [
    'Service',
    some({
      metadata,
      spec: some({ type: word, selector: strings, ports: keyed('port', port, { name: word, nodePort: count }) }),
    }),
  ],
  [
    'PodDisruptionBudget',
    some({ metadata, spec: some({ minAvailable: count, selector: some({ matchLabels: strings }) }) }),
  ],
  [
    'HorizontalPodAutoscaler',
    some({
      metadata,
      spec: some({ maxReplicas: count, metrics: fc.array(some({ type: word }), { maxLength: 2 }), behavior: some({}) }),
    }),
  ],
  ['ServiceAccount', some({ metadata, secrets: keyed('name', word, {}), imagePullSecrets: keyed('name', word, {}) })],
]

/** Objects and plain patches. */
export const plainCase: fc.Arbitrary<PatchCase> = fc
  .constantFrom(...OBJECTS)
  .chain(([kind, object]) => fc.record({ kind: fc.constant(kind), original: object, patch: object }))

/** Patches that also delete, replace and order. */
export const directedCase: fc.Arbitrary<PatchCase> = fc
  .tuple(plainCase, fc.infiniteStream(fc.integer({ min: 0, max: 99 })))
  .map(([each, dice]) => ({ ...each, patch: directed(each.patch, dice[Symbol.iterator](), '') }))

/** Without them little would be left to merge. */
const STRUCTURE: ReadonlySet<string> = new Set(['', 'metadata', 'spec'])

const KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  topologySpreadConstraints: 'topologyKey',
  volumeMounts: 'mountPath',
}

/** Puts a null, `$patch` or `$setElementOrder` in about every tenth place. */
function directed(patch: JsonObject, dice: Iterator<number>, field: string): JsonObject {
  const roll = (): number => Number(dice.next().value)
  const chance = roll()
  if (chance < 4 && !STRUCTURE.has(field)) return { $patch: 'delete' }
  if (chance < 8 && field === 'nodeSelector') return { ...copied(patch), $patch: 'replace' }
  const result: JsonObject = {}
  for (const [name, value] of Object.entries(patch)) {
    if (roll() < 8 && !STRUCTURE.has(name) && name !== KEYS[field]) result[name] = null
    else if (Array.isArray(value)) Object.assign(result, directedList(name, value, dice))
    else if (typeof value === 'object' && value !== null) result[name] = directed(value, dice, name)
    else result[name] = value
  }
  return result
}

function directedList(name: string, items: readonly Json[], dice: Iterator<number>): JsonObject {
  const roll = (): number => Number(dice.next().value)
  const key = KEYS[name]
  if (name === 'finalizers' && roll() < 30) return { [`$deleteFromPrimitiveList/${name}`]: [...items] }
  if (key === undefined) return { [name]: [...items] }
  const changed = items.map((item): Json => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
    return roll() < 20 ? { [key]: item[key] ?? null, $patch: 'delete' } : directed(item, dice, name)
  })
  const isDeletion = (item: Json): boolean => typeof item === 'object' && item !== null && '$patch' in item
  const chance = roll()
  if (chance < 10) return { [name]: [{ $patch: 'replace' }, ...items] }
  if (chance > 30) return { [name]: changed.filter((item) => hasKey(item, key)) }
  const kept = changed.filter((item) => hasKey(item, key) && !isDeletion(item))
  // kubectl refuses an order of nothing for an empty list; for ours that is an order like any other.
  if (kept.length === 0) return { [name]: changed.filter((item) => hasKey(item, key)) }
  const order = kept.map((item): Json => ({ [key]: keyOf(item, key) }))
  return { [`$setElementOrder/${name}`]: order, [name]: changed.filter((item) => hasKey(item, key)) }
}

function hasKey(item: Json, key: string): boolean {
  return keyOf(item, key) !== null
}

function keyOf(item: Json, key: string): Json {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? (item[key] ?? null) : null
}

function copied(value: JsonObject): JsonObject {
  return structuredClone(value)
}
