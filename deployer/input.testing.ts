// How tests make the input of the deployer from documents of a file. Everything that a cluster would draw or know is
// fixed, so that outputs are stable. Not part of the product.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import { applyDefaults, isKnownKind, validateObject } from '#api/validate/validate.ts'
import type { DeployResult, DeploySettings, GatewayRestrictions } from './input.ts'
import type { KubeObject } from './kube-object.ts'
import { meshConfigMapName, meshTrustDomain } from './parameters/mesh-config.ts'
import { meshNeed } from './parameters/mesh.ts'
import { parametersOf } from './parameters/references.ts'
import { renderDeployment } from './render.ts'
import { DEFAULT_RESTRICTIONS } from './restrictions/defaults.ts'

/**
 * Of the head of a golden input. `sessionKey`: what the Secret in the cluster holds; `-` an empty one. `restrictions`:
 * `default`, those that the controller has by itself; `enforced`, Gateways may set what their class does not
 * enforce; `refuse`, no parameters of Gateways; else Gateways may set anything.
 */
export const TEST_OPTIONS = [
  'dummyPort',
  'sessionKey',
  'meshAutoEnabled',
  'meshRevision',
  'meshClusterId',
  'meshNetwork',
  'meshCaAddress',
  'environment',
  'restrictions',
]

export const NEW_KEY = '0123456789abcdef'.repeat(4)

export const TEST_SETTINGS: DeploySettings = {
  version: 'v1.2.3',
  image: { registry: 'registry.example', repository: 'gw/gw', tag: 'v1.2.3' },
  dummyPort: 443,
  environment: {},
  mesh: { autoEnabled: false },
  restrictions: { parameters: 'Allow', allowedFields: ['*'], enforcedFields: [], deniedKeyPrefixes: [] },
}

const RESTRICTIONS: ReadonlyMap<string | undefined, GatewayRestrictions> = new Map([
  ['default', DEFAULT_RESTRICTIONS],
  ['enforced', { ...DEFAULT_RESTRICTIONS, allowedFields: ['*'] }],
  ['refuse', { ...DEFAULT_RESTRICTIONS, parameters: 'Refuse' }],
])

const DEFAULTS = join(import.meta.dirname, 'testdata/_defaults.yaml')

type Options = ReadonlyMap<string, string>

export function schemaProblems(document: unknown): string[] {
  return isKnownKind(document)
    ? validateObject(document).problems.map(({ path, message }) => `${path}: ${message}`)
    : []
}

export function testDeployment(documents: readonly unknown[], options: Options): DeployResult {
  // What the schema accepted has a kind and a name.
  const given = documents as KubeObject[]
  const defaults = parseAllDocuments(readFileSync(DEFAULTS, 'utf8')).map((document): KubeObject => document.toJS())
  const isGiven = (object: KubeObject): boolean => given.some(({ kind }) => kind === object.kind)
  const objects = [...defaults.filter((object) => !isGiven(object)), ...given].map((object) => applyDefaults(object))
  const gateway = only(all<Gateway>(objects, 'Gateway'))
  const gatewayClass = only(all<GatewayClass>(objects, 'GatewayClass'))
  const parameters = all<GwParameters>(objects, 'GwParameters')
  const settings = settingsOf(objects, options)
  const references = parametersOf({
    gateway,
    gatewayClass,
    find: (namespace, name) =>
      parameters.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    restrictions: settings.restrictions,
  })
  if (references.problems.length > 0) return { objects: [], problems: references.problems }
  const key = options.get('sessionKey')
  return renderDeployment({
    gateway,
    gatewayClass,
    ...references,
    ports: [gateway, ...all<Gateway>(objects, 'ListenerSet')].flatMap(({ spec }) =>
      spec.listeners.map(({ port }) => port),
    ),
    meshListeners: all<Gateway>(objects, 'ListenerSet').flatMap(({ metadata: { namespace = '', name }, spec }) =>
      spec.listeners
        .filter((listener) => meshNeed(listener) !== undefined)
        .map((listener) => ({ set: { namespace, name }, listener: listener.name })),
    ),
    settings,
    sessionKey:
      key === undefined
        ? { state: 'absent', newKey: NEW_KEY }
        : { state: 'present', key: key === '-' ? undefined : key },
  })
}

function settingsOf(objects: readonly KubeObject[], options: Options): DeploySettings {
  const name = meshConfigMapName(options.get('meshRevision') ?? 'default')
  const configMaps = all<KubeObject & { data?: Record<string, string> }>(objects, 'ConfigMap')
  const environment = (options.get('environment') ?? '').split(',').filter((pair) => pair !== '')
  return {
    ...TEST_SETTINGS,
    dummyPort: Number(options.get('dummyPort') ?? TEST_SETTINGS.dummyPort),
    restrictions: RESTRICTIONS.get(options.get('restrictions')) ?? TEST_SETTINGS.restrictions,
    environment: Object.fromEntries(environment.map((pair) => pair.split('='))),
    mesh: {
      autoEnabled: options.get('meshAutoEnabled') === 'true',
      trustDomain: meshTrustDomain(configMaps.find(({ metadata }) => metadata.name === name)?.data),
      clusterId: options.get('meshClusterId'),
      network: options.get('meshNetwork'),
      caAddress: options.get('meshCaAddress'),
    },
  }
}

function all<T>(objects: readonly KubeObject[], kind: string): T[] {
  // Objects of one kind have its type: the schema accepted them.
  return objects.filter((object) => object.kind === kind) as unknown as T[]
}

function only<T>(found: readonly T[]): T {
  const [first, ...others] = found
  if (first === undefined || others.length > 0) throw new Error('a case needs one Gateway and one GatewayClass')
  return first
}
