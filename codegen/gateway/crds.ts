// Reads the Gateway API CRD files that hack/update-gateway-api.sh fetched. The experimental channel is a superset of
// the standard one, so it alone gives the types.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { MissingInput } from '../missing-input.ts'
import type { SchemaNode } from '../schema/node.ts'

const GROUP = 'gateway.networking.k8s.io'

const FOLDER = '.cache/gateway-api/experimental'
const FETCH = 'hack/update-gateway-api.sh'

const PLURALS = [
  'backendtlspolicies',
  'gatewayclasses',
  'gateways',
  'grpcroutes',
  'httproutes',
  'listenersets',
  'referencegrants',
  'tcproutes',
  'tlsroutes',
] as const

export interface GatewayKind {
  readonly kind: string
  readonly group: string
  /** The newest served version. */
  readonly version: string
  readonly servedVersions: readonly string[]
  readonly namespaced: boolean
  readonly schema: SchemaNode
}

interface Crd {
  spec: {
    names: { kind: string }
    scope: string
    versions: { name: string; served: boolean; schema: { openAPIV3Schema: SchemaNode } }[]
  }
}

export async function loadGatewayKinds(root: string): Promise<GatewayKind[]> {
  const folder = join(root, FOLDER)
  if (!existsSync(folder)) throw new MissingInput(`${FOLDER} with the CRDs of the Gateway API`, FETCH)
  return Promise.all(PLURALS.map((plural) => loadKind(join(folder, `${GROUP}_${plural}.yaml`))))
}

async function loadKind(file: string): Promise<GatewayKind> {
  // The files are checksum-verified, so their shape is known.
  const { spec } = parse(await readFile(file, 'utf8')) as Crd
  const served = spec.versions.filter((version) => version.served).sort((a, b) => age(a.name) - age(b.name))
  const [newest] = served
  if (newest === undefined) throw new Error(`${file}: no served version`)
  return {
    kind: spec.names.kind,
    group: GROUP,
    version: newest.name,
    servedVersions: served.map(({ name }) => name),
    namespaced: spec.scope === 'Namespaced',
    schema: newest.schema.openAPIV3Schema,
  }
}

/** Kubernetes version priority: stable before beta before alpha, then the higher number. Lower is newer. */
function age(version: string): number {
  const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? []
  const stages = { beta: 1, alpha: 2 }
  const rank = stage === 'beta' || stage === 'alpha' ? stages[stage] : 0
  return rank * 1e6 - Number(major) * 1e3 - Number(minor)
}
