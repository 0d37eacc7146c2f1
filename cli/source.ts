// What `-f` names, made into a configuration for the proxy: manifests by way of the operator's translation, or a
// standalone file. Says everything that is wrong, with its place.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import { parseDocuments, type FileProblem } from '#api/source/document.ts'
import { readSources, type SourceFile } from './manifests/files.ts'
import { loadManifests, type LoadedManifests } from './manifests/load.ts'
import type { Translation } from '#operator/translate/translation.ts'

export type SourceForm = 'manifests' | 'standalone'

export interface LoadedSource {
  readonly form: SourceForm
  /** undefined when there are errors. */
  readonly rendered: { readonly config: RenderedConfig; readonly secrets: RenderedSecrets } | undefined
  readonly translation: Translation | undefined
  readonly problems: readonly FileProblem[]
  /** Files besides the path itself whose change matters. */
  readonly watched: readonly string[]
}

export const TRANSLATE_SETTINGS = {
  controllerName: 'gw.dev/controller',
  className: 'gw',
  clusterDomain: 'cluster.local',
} as const

/** `problem`: the path cannot be read at all. */
export async function loadSource(path: string): Promise<LoadedSource | { problem: string }> {
  const sources = readSources(path)
  if ('problem' in sources) return sources
  const { files } = sources
  return formOf(files) === 'standalone' ? loadStandaloneFile(files) : loadManifestFiles(files)
}

/** Manifests have apiVersion and kind; one file without either is a standalone file. */
function formOf(files: readonly SourceFile[]): SourceForm {
  const [only] = files
  if (files.length !== 1 || only === undefined) return 'manifests'
  const { documents } = parseDocuments(only.path, only.text)
  const isManifest = documents.some(
    ({ value }) => typeof value === 'object' && value !== null && ('kind' in value || 'apiVersion' in value),
  )
  return documents.length === 1 && !isManifest ? 'standalone' : 'manifests'
}

async function loadStandaloneFile([file]: readonly SourceFile[]): Promise<LoadedSource> {
  const { loadStandalone } = await import('#proxy/config/standalone/load.ts')
  const { rendered, problems, files } = loadStandalone({
    path: file?.path ?? '',
    text: file?.text ?? '',
    environment: process.env,
  })
  return { form: 'standalone', rendered, translation: undefined, problems, watched: files }
}

async function loadManifestFiles(files: readonly SourceFile[]): Promise<LoadedSource> {
  const loaded = loadManifests(files)
  const { snapshotOf } = await import('#operator/translate/snapshot.ts')
  const { translate } = await import('#operator/translate/translate.ts')
  const translation = translate(snapshotOf(loaded.objects), TRANSLATE_SETTINGS)
  const problems = [...loaded.problems, ...translationProblems(loaded, translation), ...portProblems(translation)]
  const hasErrors = loaded.problems.some(({ severity }) => severity === 'error')
  return {
    form: 'manifests',
    rendered: hasErrors ? undefined : joined(translation),
    translation,
    problems,
    watched: [],
  }
}

/**
 * Problems of translation are what a cluster would say in the status of the object. They do not stop `gw run`: the rest
 * works, and what is broken fails closed, as in a cluster.
 */
function translationProblems(loaded: LoadedManifests, { problems }: Translation): FileProblem[] {
  return problems.map(({ object, path, message, severity }) => {
    const place = loaded.locate({ kind: object.kind, namespace: object.namespace, name: object.name }, path)
    const where = place ?? { file: `${object.kind}/${object.name}`, line: 1, column: 1 }
    return { ...where, path, message, severity }
  })
}

/** One process cannot open a port twice; in a cluster each Gateway has pods of its own. */
function portProblems({ perGateway }: Translation): FileProblem[] {
  const owners = new Map<number, string>()
  const problems: FileProblem[] = []
  for (const [gateway, { config }] of perGateway) {
    for (const { port } of config.binds) {
      const owner = owners.get(port)
      if (owner === undefined) owners.set(port, gateway)
      else if (owner !== gateway) {
        problems.push({
          file: `Gateway/${gateway}`,
          line: 1,
          column: 1,
          path: 'spec.listeners',
          message: `port ${port} is already used by Gateway ${owner}; run them apart or change a port`,
          severity: 'error',
        })
      }
    }
  }
  return problems
}

function joined({ perGateway }: Translation): { config: RenderedConfig; secrets: RenderedSecrets } {
  const config: RenderedConfig = {
    version: 1,
    binds: [],
    listeners: [],
    routes: [],
    tcpRoutes: [],
    backends: [],
    policies: [],
    services: [],
    workloads: [],
  }
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
      // Several Gateways may reach the same things.
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
