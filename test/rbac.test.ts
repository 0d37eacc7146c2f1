// The rights of the controller are those its code needs: all that it watches, and nothing it does not know.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { deliveryRules } from '#api/delivery/pod-contract.ts'
import { OWNED_KINDS } from '#deployer/owned-kinds.ts'
import { DEPLOYED, EVENTS, LEASES, type Resource, TRANSLATED } from '#operator/kube/resources.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

const FOLDER = join(import.meta.dirname, '../config')

function rulesOf(file: string): readonly Rule[] {
  return (parse(readFileSync(join(FOLDER, file), 'utf8')) as { rules: Rule[] }).rules // a Role
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

const inNamespaces = rights(rulesOf('rbac/cluster-role.yaml'))
const outside = rights(rulesOf('rbac/cluster-scope-role.yaml'))
const own = rights(rulesOf('rbac/role.yaml'))
const inference = rights(rulesOf('components/inference/cluster-role.yaml'))
/** Read only where InferencePools are enabled. */
const INFERENCE = new Set<Resource>([TRANSLATED.InferencePool])
const known: readonly Resource[] = [...Object.values(TRANSLATED), ...Object.values(DEPLOYED), LEASES, EVENTS]
const nameOf = ({ group, plural }: Resource): string => `${group}/${plural}`

describe('rights of the controller', () => {
  it('may watch every kind it reads', () => {
    for (const resource of [...Object.values(TRANSLATED), ...Object.values(DEPLOYED)]) {
      const granted = INFERENCE.has(resource) ? inference : resource.isNamespaced ? inNamespaces : outside
      for (const verb of ['get', 'list', 'watch']) expect(granted).toContain(`${nameOf(resource)} ${verb}`)
    }
  })

  it('sees InferencePools only where they are enabled, and writes nothing but statuses there', () => {
    expect([...inNamespaces, ...outside].filter((right) => /\/inferencepools/.test(right))).toEqual([])
    const writes = [...inference].filter((right) => !/ (get|list|watch)$/.test(right))
    expect(writes.map((right) => right.split(' ')[0])).toEqual(
      Array(2).fill('inference.networking.k8s.io/inferencepools/status'),
    )
  })

  it('may write what it deploys, and prune what it may prune', () => {
    for (const { apiVersion, plural, write, isPruned } of OWNED_KINDS) {
      const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
      const verbs = ['create', ...(write === 'apply' ? ['patch'] : []), ...(isPruned ? ['delete'] : [])]
      for (const verb of verbs) expect(inNamespaces).toContain(`${group}/${plural} ${verb}`)
    }
  })

  it('has what it grants to proxies, else Kubernetes refuses the grant', () => {
    for (const right of rights(deliveryRules('any'))) expect(inNamespaces).toContain(right)
  })

  it('elects a leader in its own namespace', () => {
    for (const verb of ['get', 'create', 'update']) expect(own).toContain(`${nameOf(LEASES)} ${verb}`)
  })

  it('has no right on a kind it does not know, none on everything, and cannot change what users write', () => {
    const names = new Set(known.map(nameOf))
    const all = [...inNamespaces, ...outside, ...own, ...inference]
    const unknown = all.filter((right) => !names.has(right.split(' ')[0]?.replace(/\/status$/, '') ?? ''))
    expect(unknown).toEqual([])
    expect(all.filter((right) => right.includes('*'))).toEqual([])
    const users = [
      'gateways',
      'httproutes',
      'grpcroutes',
      'tlsroutes',
      'tcproutes',
      'listenersets',
      'gwpolicies',
      'gwbackends',
    ]
    const writes = all.filter((right) => users.some((user) => new RegExp(`/${user} (?!get|list|watch)`).test(right)))
    expect(writes).toEqual([])
  })
})
