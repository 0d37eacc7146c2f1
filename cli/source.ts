// Loads the path of `-f` into a configuration for the proxy: manifests through the operator's translation, or a
// standalone file. Reports every problem with its position.
import { createHash } from 'node:crypto'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { FileProblem } from '#api/source/document.ts'
import type { StandaloneSettings } from '#proxy/config/standalone/settings.ts'
import type { CatalogSource } from '#proxy/llm/cost/offered-catalog.ts'
import { readSources, type SourceFile, type Unread } from './manifests/files.ts'
import type { LoadedManifests } from './manifests/load.ts'
import { withoutMissing } from './manifests/missing.ts'
import { foreignClasses } from './manifests/foreign-classes.ts'
import { lostParents } from './manifests/lost-parents.ts'
import { overriddenPolicies } from './manifests/overridden.ts'
import type { ManifestTranslator } from './manifests/translator.ts'
import type { OwnedRequest } from '#operator/jwks/requests.ts'
import type { StoredKeySet } from '#operator/translate/policy/stored-key-sets.ts'
import type { Translation } from '#operator/translate/translation.ts'

export type SourceForm = 'manifests' | 'standalone'

export interface LoadedSource {
  readonly form: SourceForm
  /** undefined when there are errors. */
  readonly rendered: { readonly config: RenderedConfig; readonly secrets: RenderedSecrets } | undefined
  readonly translation: Translation | undefined
  readonly problems: readonly FileProblem[]
  /** Of a standalone file, for the start of the process. */
  readonly settings: StandaloneSettings | undefined
  /** Sources of the model catalog; undefined: one is invalid, and the previous ones stay in use. */
  readonly modelCatalog: readonly CatalogSource[] | undefined
  /** Files besides the path itself whose changes cause a reload. */
  readonly watched: readonly string[]
  /** Key sets that the configuration needs. */
  readonly keyRequests: readonly OwnedRequest[]
}

/** Kept by a process that loads its path repeatedly. */
export interface SourceMemory {
  translator?: ManifestTranslator
  /** The content of standard input, which can be read only once. */
  stdin?: readonly SourceFile[]
  last?: LastLoad
}

/** What a page shows of files as they are loaded, without another load. */
export interface LastLoad {
  /** `filesId` of the files. */
  readonly id: string
  readonly secrets: readonly string[]
  readonly problems: readonly FileProblem[]
}

/** A load of another thread. */
export interface GivenLoad {
  /** `filesId` of the files. */
  readonly id: string
  readonly storedKeys: StoredKeys
  readonly source: LoadedSource
}

/** The key sets that the process has fetched; undefined in commands that run nothing. */
export type StoredKeys = readonly StoredKeySet[]

const CONTROLLER = 'gw.dev/controller'

export const TRANSLATE_SETTINGS = {
  controllerName: CONTROLLER,
  className: 'gw',
  clusterDomain: 'cluster.local',
  controllerNamespace: 'gw-system',
} as const

/** Files as they are now. Manifests are parsed and validated here, and not again later. */
export type ReadSource = { readonly path: string; readonly files: readonly SourceFile[] } & (
  | { readonly form: 'standalone'; readonly file: SourceFile | undefined }
  | { readonly form: 'manifests'; readonly manifests: LoadedManifests }
)

/** `problem`: the path cannot be read at all. */
export async function readSource(
  path: string,
  memory: SourceMemory = {},
): Promise<ReadSource | { readonly problem: string }> {
  const sources = path === '-' && memory.stdin !== undefined ? { files: memory.stdin } : readSources(path)
  if ('problem' in sources) return sources
  const { files } = sources
  if (path === '-') memory.stdin = files
  return readGiven(path, files)
}

/** The files as they are given, whatever the disk has. */
export async function readGiven(path: string, files: readonly SourceFile[]): Promise<ReadSource> {
  return formOf(files) === 'standalone'
    ? { path, files, form: 'standalone', file: files[0] }
    : { path, files, form: 'manifests', manifests: await loadManifests(files) }
}

/** `problem`: the path cannot be read at all. */
export async function loadSource(path: string): Promise<LoadedSource | { problem: string }> {
  const read = await readSource(path)
  return 'problem' in read ? read : loadRead(read)
}

/** As loadSource, with the checks that only a single proxy process needs. */
export async function loadRunnable(
  read: ReadSource,
  storedKeys: StoredKeys = [],
  memory: SourceMemory = {},
): Promise<LoadedSource> {
  const source = await checkedRunnable(read, storedKeys, memory)
  remember(read.files, source, memory)
  return source
}

/** As if the process had loaded the files itself. */
export function remember(files: readonly SourceFile[], source: LoadedSource, memory: SourceMemory): void {
  memory.last = { id: filesId(files), secrets: secretsOf(source), problems: source.problems }
}

/** Changes with each path and text. */
export function filesId(files: readonly SourceFile[]): string {
  const hash = createHash('sha256')
  for (const { path, text } of files) hash.update(JSON.stringify([path, text.length])).update(text)
  return hash.digest('hex')
}

/** Credentials that the loader found. */
function secretsOf({ rendered }: LoadedSource): readonly string[] {
  return rendered?.secrets.secrets.map(({ value }) => value) ?? []
}

async function checkedRunnable(read: ReadSource, storedKeys: StoredKeys, memory: SourceMemory): Promise<LoadedSource> {
  const source = await loadRead(read, storedKeys, memory)
  if (read.form === 'standalone' || source.rendered === undefined || source.translation === undefined) return source
  if (source.rendered.config.binds.length === 0) {
    const message = `nothing to serve: no Gateway with a listener has a GatewayClass with controllerName ${CONTROLLER}`
    const nothing = { file: read.path, line: 0, column: 0, path: '', message, severity: 'error' } as const
    return { ...source, rendered: undefined, problems: [...source.problems, nothing] }
  }
  const ports = portProblems(source.translation, read.manifests)
  return ports.length === 0 ? source : { ...source, rendered: undefined, problems: [...source.problems, ...ports] }
}

/** The reason for a path that does not exist or is not text. */
export const UNREADABLE = 'Unreadable'

export interface CheckOptions {
  /** References to objects that are not among the files are warnings. */
  readonly isMissingIgnored?: boolean
}

/** The problems of all paths: manifests are loaded together, each standalone file by itself. */
export async function checkSources(
  paths: readonly string[],
  { isMissingIgnored = false }: CheckOptions = {},
): Promise<readonly FileProblem[]> {
  const files = new Map<string, SourceFile>()
  const lists: (readonly FileProblem[])[] = []
  for (const path of paths) {
    const sources = readSources(path)
    if ('problem' in sources) lists.push([unreadable(sources)])
    else for (const file of sources.files) files.set(file.path, file)
  }
  const all = [...files.values()]
  const isStandalone = (file: SourceFile): boolean =>
    all.length === 1
      ? formOf(all) === 'standalone'
      : STANDALONE_FIELD.test(file.text) && !MANIFEST_FIELD.test(file.text)
  const manifests = all.filter((file) => !isStandalone(file))
  if (manifests.length > 0) {
    const loaded = await loadManifests(manifests)
    const found = (await translateManifests(loaded)).problems
    lists.push(isMissingIgnored ? withoutMissing(found, loaded) : found)
  }
  for (const file of all.filter(isStandalone)) lists.push((await loadStandaloneFile(file)).problems)
  return lists.flat()
}

/** What reads and checks manifests is loaded with the first of them: 3 MiB that a standalone file does not need. */
async function loadManifests(files: readonly SourceFile[]): Promise<LoadedManifests> {
  const load = await import('./manifests/load.ts')
  return load.loadManifests(files)
}

function unreadable({ file, line, message }: Unread): FileProblem {
  return { file, line, column: Math.min(line, 1), path: '', message, severity: 'error', reason: UNREADABLE }
}

function loadRead(read: ReadSource, storedKeys?: StoredKeys, memory?: SourceMemory): Promise<LoadedSource> {
  return read.form === 'standalone'
    ? loadStandaloneFile(read.file, storedKeys)
    : translateManifests(read.manifests, storedKeys, memory)
}

const STANDALONE_FIELD = /^(?:config|gateways|routes|llm|mcp|tcpRoutes|backends|binds)\s*:/m
/** At the start of a line, as in a manifest, or anywhere in one line of JSON. */
const MANIFEST_FIELD = /^(?:apiVersion|kind)["']?\s*:|^\s*\{[\s\S]*"(?:apiVersion|kind)"\s*:/m

/**
 * Manifests have apiVersion and kind; one file without either is a standalone file. Reads only the text: the YAML may
 * be invalid, or have variables where YAML does not allow them.
 */
function formOf(files: readonly SourceFile[]): SourceForm {
  const [only] = files
  return files.length === 1 && only !== undefined && !MANIFEST_FIELD.test(only.text) ? 'standalone' : 'manifests'
}

async function loadStandaloneFile(file: SourceFile | undefined, storedKeys?: StoredKeys): Promise<LoadedSource> {
  const { loadStandalone } = await import('#proxy/config/standalone/load.ts')
  const { rendered, settings, modelCatalog, problems, files, keySetUrls } = loadStandalone({
    path: file?.path ?? '',
    text: file?.text ?? '',
    environment: process.env,
    keySets: (url) => storedKeys?.find(({ requestKey }) => requestKey === url)?.jwks,
  })
  const keyRequests =
    keySetUrls.length === 0 ? [] : (await import('#operator/jwks/url-request.ts')).urlRequests(keySetUrls)
  return {
    form: 'standalone',
    rendered,
    translation: undefined,
    settings,
    modelCatalog,
    problems,
    watched: files,
    keyRequests,
  }
}

async function translateManifests(
  loaded: LoadedManifests,
  storedKeys?: StoredKeys,
  memory: SourceMemory = {},
): Promise<LoadedSource> {
  const { manifestTranslator } = await import('./manifests/translator.ts')
  const { jwksRequests } = await import('#operator/jwks/requests.ts')
  const { manifestCatalogs } = await import('./manifests/model-catalogs.ts')
  const { storeConfigMap } = await import('#operator/jwks/stored-config-map.ts')
  const keys = (storedKeys ?? []).map((entry) => storeConfigMap(entry, TRANSLATE_SETTINGS.controllerNamespace))
  memory.translator ??= manifestTranslator(TRANSLATE_SETTINGS)
  const { snapshot, translation } = memory.translator([...loaded.objects, ...keys])
  const catalogs = manifestCatalogs(loaded)
  const problems = [
    ...loaded.problems,
    ...catalogs.problems,
    ...translationProblems(loaded, translation, storedKeys !== undefined),
    ...overriddenPolicies(loaded, translation),
    ...foreignClasses(loaded),
    ...lostParents(loaded),
  ]
  const hasErrors = loaded.problems.some(({ severity }) => severity === 'error')
  return {
    form: 'manifests',
    rendered: hasErrors ? undefined : joined(translation),
    translation,
    settings: undefined,
    modelCatalog: catalogs.sources,
    problems,
    watched: [],
    keyRequests: jwksRequests(snapshot, TRANSLATE_SETTINGS),
  }
}

/**
 * A cluster would report problems of translation in the status of the object. They do not stop `gw run`: broken parts
 * fail closed and the rest works, as in a cluster.
 */
function translationProblems(loaded: LoadedManifests, { problems }: Translation, isRunning: boolean): FileProblem[] {
  return problems.flatMap(({ object, path, message, severity: reported, reason }) => {
    // Not a mistake in the manifests: the process that serves them fetches the keys.
    const isKeySet = reason === 'KeySetNotAvailable'
    if (isKeySet && !isRunning) return []
    const severity = isKeySet ? 'warning' : reported
    const place = loaded.locate({ kind: object.kind, namespace: object.namespace, name: object.name }, path)
    const where = place ?? { file: `${object.kind}/${object.name}`, line: 0, column: 0 }
    return { ...where, path, message, severity, reason }
  })
}

/** One process cannot open a port twice; in a cluster each Gateway has its own pods. */
function portProblems({ perGateway }: Translation, loaded: LoadedManifests): FileProblem[] {
  const owners = new Map<number, string>()
  const problems: FileProblem[] = []
  for (const [gateway, { config }] of perGateway) {
    const [namespace = '', name = ''] = gateway.split('/', 2)
    const path = 'spec.listeners'
    for (const { port } of config.binds) {
      const owner = owners.get(port)
      if (owner === undefined) owners.set(port, gateway)
      else if (owner !== gateway) {
        const place = loaded.locate({ kind: 'Gateway', namespace, name }, path)
        const where = place ?? { file: `Gateway/${gateway}`, line: 1, column: 1 }
        const message = `port ${port} is already used by Gateway ${owner}; run them separately or change a port`
        problems.push({ ...where, path, message, severity: 'error' })
      }
    }
  }
  return problems
}

function joined({ perGateway }: Translation): { config: RenderedConfig; secrets: RenderedSecrets } {
  const config: RenderedConfig = emptyConfig()
  const secrets: RenderedSecrets = { version: 1, secrets: [] }
  for (const one of perGateway.values()) {
    config.binds.push(...one.config.binds)
    config.listeners.push(...one.config.listeners)
    config.routes.push(...one.config.routes)
    config.tcpRoutes.push(...one.config.tcpRoutes)
    config.backends.push(...one.config.backends)
    config.policies.push(...one.config.policies)
    config.services.push(...one.config.services)
    config.workloads.push(...one.config.workloads)
    secrets.secrets.push(...one.secrets.secrets)
  }
  return {
    config: {
      ...config,
      // Several Gateways may use the same objects.
      backends: uniqueBy(config.backends, ({ key }) => key),
      policies: uniqueBy(config.policies, ({ key }) => key),
      services: uniqueBy(config.services, ({ namespace, hostname }) => `${namespace}/${hostname}`),
      workloads: uniqueBy(config.workloads, ({ uid }) => uid),
    },
    secrets: { version: 1, secrets: uniqueBy(secrets.secrets, ({ key }) => key) },
  }
}

function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}
