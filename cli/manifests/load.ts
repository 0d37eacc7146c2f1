// Kubernetes manifests of a folder: parsed, validated as the API server would, defaults applied. Every problem has
// file, line and field path.
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '#operator/translate/kube.ts'
import { applyDefaults, isKnownKind, validateObject } from '#api/validate/validate.ts'
import { rememberValid } from '#api/validate/understood.ts'
import { isRecord, type JsonRecord } from '#api/json.ts'
import { parseDocuments, type FileProblem, type LocatedDocument } from '#api/source/document.ts'
import { withHints } from './hints.ts'
import { unknownMetadata } from './metadata-fields.ts'
import { apiVersionOf, unknownKind } from './unknown-kinds.ts'
import { unreadKind } from './unread.ts'
import type { SourceFile } from './files.ts'

export interface LoadedManifests {
  readonly objects: readonly KubeObject[]
  readonly problems: readonly FileProblem[]
  /** Objects that have errors; they are not among `objects`. */
  readonly refused: readonly ObjectName[]
  /** The position of a field of an object; undefined for objects that are not in these files. */
  locate(object: ObjectName, path: string): FileProblem | undefined
}

export interface ObjectName {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

const DEFAULT_NAMESPACE = 'default'
const KNOWN_GROUPS = new Set(['gw.dev', 'gateway.networking.k8s.io'])
const OWN_CLASS = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'gw' },
  spec: { controllerName: 'gw.dev/controller' },
}

const CLUSTER_SCOPED = new Set(['Namespace', 'GatewayClass', 'CustomResourceDefinition', 'ClusterRole', 'Node'])

export function loadManifests(files: readonly SourceFile[]): LoadedManifests {
  const objects: KubeObject[] = []
  const problems: FileProblem[] = []
  const refused: ObjectName[] = []
  const documents = new Map<string, Seen>()
  for (const { path, text } of files) {
    const parsed = parseDocuments(path, text)
    for (const problem of parsed.problems) problems.push(problem)
    for (const document of parsed.documents.flatMap((one) => expandList(one))) {
      const found = readObject(document, documents)
      if ('object' in found) objects.push(found.object)
      else if (found.refused !== undefined) refused.push(found.refused)
      for (const problem of found.problems) problems.push(problem)
    }
  }
  return {
    objects: withOwnClass(objects),
    problems,
    refused,
    locate(name, path) {
      const document = documents.get(keyOf(name))?.document
      return document === undefined ? undefined : { ...document.locate(path), path, message: '', severity: 'error' }
    },
  }
}

/** In a cluster the controller creates the class; manifests need not have it. */
function withOwnClass(objects: readonly KubeObject[]): readonly KubeObject[] {
  const isUsed = objects.some((one) => one.kind === 'Gateway' && classNameOf(one) === OWN_CLASS.metadata.name)
  const isThere = objects.some(
    ({ kind, metadata }) => kind === 'GatewayClass' && metadata.name === OWN_CLASS.metadata.name,
  )
  return isUsed && !isThere ? [...objects, OWN_CLASS] : objects
}

function classNameOf(gateway: KubeObject): unknown {
  const { spec } = gateway as { spec?: unknown } // of any kind
  return isRecord(spec) ? spec['gatewayClassName'] : undefined
}

/** Replaces a `List` of any kind with its items. */
export function expandList(document: LocatedDocument): LocatedDocument[] {
  const { value } = document
  if (!isRecord(value) || !Array.isArray(value['items']) || !String(value['kind']).endsWith('List')) return [document]
  return value['items'].map((item: unknown, index) => ({
    value: item,
    start: document.locate(`items[${index}]`),
    locate: (path) => document.locate(`items[${index}].${path}`),
  }))
}

interface Seen {
  readonly document: LocatedDocument
  readonly object: KubeObject
}

type Found = { object: KubeObject; problems: FileProblem[] } | { refused?: ObjectName; problems: FileProblem[] }

function readObject(document: LocatedDocument, seen: Map<string, Seen>): Found {
  const { value } = document
  const shape = shapeProblem(value)
  if (shape !== undefined || !isRecord(value)) return { problems: [located(document, shape ?? NOT_A_MANIFEST)] }
  const { metadata } = value
  const problems = [...schemaProblems(value), ...(isRecord(metadata) ? unknownMetadata(metadata) : [])].map((problem) =>
    located(document, problem),
  )
  const hasErrors = problems.some(({ severity }) => severity === 'error')
  const kind = String(value['kind'])
  const object = withNamespace(hasErrors ? value : applyDefaults(value), kind)
  if (problems.length === 0) rememberValid(object)
  const name = { kind, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' }
  if (hasErrors) return { refused: name, problems }
  const former = seen.get(keyOf(name))
  if (former !== undefined) {
    // Samples and charts repeat shared objects; two equal objects are not a mistake.
    if (isDeepStrictEqual(former.object, object)) return { problems }
    const { file, line } = former.document.start
    const message = `${kind} ${fullName(name)} is already defined in ${file}:${line}`
    return { problems: [located(document, { path: 'metadata.name', message })] }
  }
  seen.set(keyOf(name), { document, object })
  return { object, problems }
}

interface PathProblem {
  readonly path: string
  readonly message: string
  readonly reason?: string
  readonly severity?: 'error' | 'warning'
}

const NOT_A_MANIFEST: PathProblem = {
  path: '',
  message: 'a manifest must be a mapping with apiVersion, kind and metadata',
}

function shapeProblem(value: unknown): PathProblem | undefined {
  if (!isRecord(value)) return NOT_A_MANIFEST
  for (const field of ['apiVersion', 'kind']) {
    if (typeof value[field] === 'string') continue
    const wanted = field === 'apiVersion' ? apiVersionOf(value['kind']) : undefined
    const cure = wanted === undefined ? '' : `; write apiVersion: ${wanted}`
    return { path: field, message: `${field} is missing or not a string${cure}` }
  }
  const { metadata } = value
  if (isRecord(metadata) && typeof metadata['name'] === 'string') return undefined
  return { path: 'metadata.name', message: 'metadata.name is missing or not a string' }
}

/** A kind that Gw does not read has no effect; an unknown kind of a known group is an error. */
function schemaProblems(value: JsonRecord): readonly PathProblem[] {
  if (isKnownKind(value)) return withHints(validateObject(value).problems)
  const [apiVersion, kind] = [String(value['apiVersion']), String(value['kind'])]
  if (KNOWN_GROUPS.has(apiVersion.split('/', 1)[0] ?? '')) {
    return [{ path: 'kind', message: unknownKind(apiVersion, kind), reason: 'UnknownKind' }]
  }
  const message = unreadKind(apiVersion, kind)
  return message === undefined ? [] : [{ path: 'kind', message, severity: 'warning', reason: 'NotRead' }]
}

/** As the API server does: adds the namespace `default` to a namespaced manifest without one, encodes stringData. */
function withNamespace(value: JsonRecord, kind: string): KubeObject {
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {}
  const namespaced = CLUSTER_SCOPED.has(kind) ? metadata : { namespace: DEFAULT_NAMESPACE, ...metadata }
  const { stringData, ...rest } = value
  const encoded = isRecord(stringData)
    ? Object.fromEntries(
        Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]),
      )
    : {}
  const data = kind === 'Secret' ? { data: { ...(isRecord(value['data']) ? value['data'] : {}), ...encoded } } : {}
  // Shape checked above: apiVersion, kind and metadata.name are strings.
  return { ...(kind === 'Secret' ? rest : value), ...data, metadata: namespaced } as unknown as KubeObject
}

function located(document: LocatedDocument, { path, message, severity = 'error', reason }: PathProblem): FileProblem {
  return { ...document.locate(path), path, message, severity, ...(reason !== undefined && { reason }) }
}

function fullName({ namespace, name }: ObjectName): string {
  return namespace === '' ? name : `${namespace}/${name}`
}

function keyOf({ kind, namespace, name }: ObjectName): string {
  return `${kind} ${namespace} ${name}`
}
