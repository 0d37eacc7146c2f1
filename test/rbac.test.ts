// The controller has exactly the rights that its code needs: for the objects that it watches and writes, no other verb.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { deliveryRules } from '#api/delivery/pod-contract.ts'
import { OWNED_KINDS, type OwnedKind } from '#deployer/owned-kinds.ts'
import { DEPLOYED, EVENTS, LEASES, type Resource, resourceOf, TRANSLATED } from '#operator/kube/resources.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

const ROOT = join(import.meta.dirname, '..')
const CONFIG = join(ROOT, 'config')
const READ = ['get', 'list', 'watch']

/** Verbs that the API server requires for each call of the client. Server-side apply creates missing objects. */
const VERBS = {
  apply: ['create', 'patch'],
  create: ['create'],
  replace: ['update'],
  patch: ['patch'],
  remove: ['delete'],
} as const
type Call = keyof typeof VERBS

const { ConfigMap, GatewayClass, InferencePool, Secret } = TRANSLATED

/** Every call that writes, by file; the test `the list is complete` reports missing ones. */
const WRITERS: Readonly<Record<string, Partial<Record<Call, readonly Resource[]>>>> = {
  'operator/controllers/deploy-gateway.ts': {
    apply: owned(({ write }) => write === 'apply'),
    create: owned(({ write }) => write === 'create'),
    remove: owned(({ isPruned }) => isPruned),
  },
  'operator/controllers/events.ts': { create: [EVENTS], patch: [EVENTS] },
  'operator/controllers/gateway-class.ts': { apply: [GatewayClass] },
  'operator/controllers/prune-acknowledgements.ts': { patch: [ConfigMap] },
  // Statuses: withStatus().
  'operator/controllers/status-writer.ts': { patch: [] },
  'operator/publish/delivery-objects.ts': {
    apply: [ConfigMap, Secret],
    create: [ConfigMap],
    replace: [ConfigMap],
    remove: [ConfigMap, Secret],
  },
}
/** In the namespace of the controller. */
const WRITERS_AT_HOME: typeof WRITERS = {
  'operator/controllers/key-sets.ts': { apply: [ConfigMap], remove: [ConfigMap] },
  'operator/controllers/lease.ts': { create: [LEASES], replace: [LEASES] },
}

function owned(select: (kind: OwnedKind) => boolean): Resource[] {
  return OWNED_KINDS.filter(select).flatMap((one) => resourceOf(one) ?? [])
}

/** Kinds that get a status in some golden of the translation: `object: HTTPRoute shop/web`. */
function withStatus(): Resource[] {
  const goldens = globSync('operator/translate/testdata/**/*.out.yaml', { cwd: ROOT })
  const found = new Set<Resource>()
  for (const golden of goldens) {
    const text = readFileSync(join(ROOT, golden), 'utf8')
    const { statuses = [] } = parse(text) as { statuses?: readonly { readonly object: string }[] } // golden.test.ts
    for (const { object } of statuses) {
      const one = Object.values(TRANSLATED).find(({ kind }) => object.startsWith(`${kind} `))
      if (one !== undefined) found.add(one)
    }
  }
  return [...found]
}

/** `apps/deployments get`, … */
function rights(rules: readonly Rule[]): Set<string> {
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
      ),
    ),
  )
}

function rulesOf(file: string): readonly Rule[] {
  return (parse(readFileSync(join(CONFIG, file), 'utf8')) as { rules: Rule[] }).rules // a Role
}

/** A patch that adds rules. */
function addedRules(file: string): readonly Rule[] {
  return (parse(readFileSync(join(CONFIG, file), 'utf8')) as { value: Rule }[]).map(({ value }) => value)
}

const nameOf = ({ group, plural }: Resource): string => `${group}/${plural}`

function writes(writers: typeof WRITERS): Set<string> {
  const entries = Object.values(writers).flatMap((calls) => Object.entries(calls) as [Call, readonly Resource[]][])
  return new Set(
    entries.flatMap(([call, resources]) =>
      resources.flatMap((one) => VERBS[call].map((verb) => `${nameOf(one)} ${verb}`)),
    ),
  )
}

function reads(resources: readonly Resource[]): string[] {
  return resources.flatMap((one) => READ.map((verb) => `${nameOf(one)} ${verb}`))
}

/** Deletion of an owner waits for blocking dependents: an admission plugin requires this right to set that. */
const OWNERS = `${nameOf(TRANSLATED.Gateway)}/finalizers update`

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort()

describe('rights of the controller', () => {
  const watched = [...Object.values(TRANSLATED), ...Object.values(DEPLOYED)]
  const isScoped = (right: string): boolean =>
    watched.some((one) => !one.isNamespaced && right.split(' ')[0]?.replace(/\/status$/, '') === nameOf(one))
  const ofPools = (right: string): boolean => right.startsWith(nameOf(InferencePool))
  const needed = [
    ...reads(watched),
    ...writes(WRITERS),
    ...withStatus().map((one) => `${nameOf(one)}/status patch`),
    OWNERS,
  ]

  it('include every writer of the code: the list is complete', () => {
    const files = globSync('operator/**/*.ts', { cwd: ROOT }).filter((file) => !/test\.ts$|operator\/kube\//.test(file))
    const found = files.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\bclient\s*\.(apply|create|replace|patch|remove)\(/g)].map(
        ([, call = '']) => `${file} ${call}`,
      ),
    )
    const listed = Object.entries({ ...WRITERS, ...WRITERS_AT_HOME }).flatMap(([file, calls]) =>
      Object.keys(calls).map((call) => `${file} ${call}`),
    )
    expect(sorted(found)).toEqual(sorted(listed))
  })

  it('in namespaces cover only the objects that are watched and written there', () => {
    const granted = rights(rulesOf('rbac/cluster-role.yaml'))
    expect(sorted(granted)).toEqual(sorted(needed.filter((right) => !isScoped(right) && !ofPools(right))))
  })

  it('outside namespaces cover only classes and namespaces', () => {
    const granted = rights(rulesOf('rbac/cluster-scope-role.yaml'))
    expect(sorted(granted)).toEqual(sorted(needed.filter(isScoped)))
    expect(sorted(granted)).toContain(`${nameOf(GatewayClass)}/status patch`)
  })

  it('for InferencePools are added to the same role only if they are enabled', () => {
    const granted = rights(addedRules('components/inference/rules.yaml'))
    expect(sorted(granted)).toEqual(sorted(needed.filter(ofPools)))
  })

  it('in its own namespace add only the lease', () => {
    const inNamespaces = rights(rulesOf('rbac/cluster-role.yaml'))
    const wanted = [...writes(WRITERS_AT_HOME), `${nameOf(LEASES)} get`].filter((right) => !inNamespaces.has(right))
    expect(sorted(rights(rulesOf('rbac/role.yaml')))).toEqual(sorted(wanted))
  })

  it('include the rights that it grants to proxies, as Kubernetes requires', () => {
    const granted = rights(rulesOf('rbac/cluster-role.yaml'))
    for (const right of rights(deliveryRules('any'))) expect(granted).toContain(right)
  })

  it('bind the same roles in all namespaces, or in single ones', () => {
    const documents = parseAllDocuments(readFileSync(join(CONFIG, 'components/namespaced/role-bindings.yaml'), 'utf8'))
    const bindings = documents.map((one) => one.toJS() as { kind: string; roleRef: { name: string } }) // our own file
    expect(bindings.map(({ kind, roleRef }) => `${kind} ${roleRef.name}`)).toEqual([
      'RoleBinding gw-gw-system',
      'RoleBinding gw-gw-system',
    ])
  })

  it('are all listed in docs/install.md, each resource with its verbs', () => {
    const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8')
    const table = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim().toLowerCase()))
    const files = ['rbac/cluster-role.yaml', 'rbac/cluster-scope-role.yaml', 'rbac/role.yaml'].flatMap(rulesOf)
    const all = [...files, ...addedRules('components/inference/rules.yaml')]
    const wrong = all.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => {
        const [plural = '', part] = resource.split('/')
        const named = part === 'status' ? plural : resource
        const row = table.find(([, kinds = '']) => kinds.split(/[^a-z/]+/).includes(named))
        const [first = '', second = ''] = row?.[2]?.split(';') ?? []
        const isListed = part === 'status' ? second.includes('patch of `status`') : first === verbs.join(', ')
        return isListed ? [] : [`${resource}: ${verbs.join(', ')}`]
      }),
    )
    expect(wrong).toEqual([])
  })
})
