// Converts a standalone file to a rendered configuration: variables, YAML, schema, then the forms. Reports every
// mistake with file, line and field; never throws for user input.
import { dirname } from 'node:path'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import { parseDocuments, type FileProblem, type LocatedDocument, type Position } from '#api/source/document.ts'
import type { CatalogSource } from '../../llm/cost/offered-catalog.ts'
import { addNamedBackends, routeGroupKey } from './build/backends.ts'
import { addBind, type Registries } from './build/binds.ts'
import { addDiscovery } from './build/discovery.ts'
import { BuildContext, type FieldProblem, type KeySetLookup } from './build/context.ts'
import { GatewayRegistry } from './build/gateways.ts'
import { ListenerRegistry } from './build/listeners.ts'
import { addFrontend } from './build/frontend.ts'
import { addLlm } from './build/llm.ts'
import { addMcp } from './build/mcp.ts'
import { catalogSources } from './build/model-catalog.ts'
import { RouteRegistry } from './build/routes.ts'
import { addTargeted } from './build/targeted.ts'
import { TcpRouteRegistry } from './build/tcp-routes.ts'
import { addUi } from './build/ui.ts'
import { asWritten, expandVariables } from './expand.ts'
import { pathTo } from './field-path.ts'
import { FOREIGN, isForeign, parseFile, schemaProblems } from './issues.ts'
import type { RouteGroupFields, StandaloneFile } from './schema/file.ts'
import { settingsOf, type StandaloneSettings } from './settings.ts'

export interface StandaloneInput {
  readonly path: string
  readonly text: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /**
   * The bootstrap file of a pod, created by the operator from rawConfig. Its text is not expanded: authors of
   * parameters must not read variables of the pod, such as its session key. It need not open a port.
   */
  readonly isGenerated?: boolean
  /** Unset: no key set of a URL is available, and tokens that need one are rejected. */
  readonly keySets?: KeySetLookup
}

export interface LoadedStandalone {
  /** undefined if there are errors. */
  readonly rendered: { readonly config: RenderedConfig; readonly secrets: RenderedSecrets } | undefined
  readonly settings: StandaloneSettings
  /** Valid sources of the model catalog, in their order. */
  readonly modelCatalog: readonly CatalogSource[]
  readonly problems: readonly FileProblem[]
  /** Other files whose content is part of the configuration. */
  readonly files: readonly string[]
  /** Key sets to be fetched. */
  readonly keySetUrls: readonly string[]
}

export function loadStandalone(input: StandaloneInput): LoadedStandalone {
  const { path, text, environment, isGenerated = false, keySets = noKeySets } = input
  const expanded = isGenerated ? asWritten(text) : expandVariables({ path, text, environment })
  if (expanded.problems.length > 0) return failed(expanded.problems)
  const { documents, problems } = parseDocuments(path, expanded.text, expanded.original)
  if (problems.length > 0) return failed(problems)
  const document = onlyDocument(documents)
  if ('problem' in document) return failed([{ ...(document.at ?? startOf(path)), ...wholeFile(document.problem) }])
  const parsed = parseFile(document.value)
  if (!parsed.success) return failed(located(schemaProblems(parsed.error.issues), document))
  const context = contextOf(parsed.data, path, keySets)
  build(parsed.data, context)
  const catalogs = catalogSources(parsed.data.config, context)
  if (!isGenerated && context.config.binds.length === 0) {
    context.error('', 'no port is open: set gateways, llm, mcp or binds')
  }
  const found = located(context.problems, document)
  const isUsable = found.every(({ severity }) => severity !== 'error')
  return {
    rendered: isUsable ? { config: context.config, secrets: context.secrets } : undefined,
    settings: settingsOf(parsed.data),
    modelCatalog: catalogs,
    problems: found,
    files: [...context.files],
    keySetUrls: [...context.keySetUrls],
  }
}

function build(file: StandaloneFile, context: BuildContext): void {
  const { gateways = {}, backends = [], binds = [], routeGroups = [], policies = [], mcp, llm } = file
  const listeners = new ListenerRegistry(context)
  const registry = new GatewayRegistry(context, listeners)
  const registries = { listeners, routes: new RouteRegistry(context), tcpRoutes: new TcpRouteRegistry(context) }
  // First: everything else may name them.
  addDiscovery(file, context)
  for (const { name } of routeGroups) context.routeGroups.add(name)
  addNamedBackends(backends, context)
  for (const [name, fields] of Object.entries(gateways)) registry.add(name, fields)
  addGatewayRoutes(file, registry, registries)
  for (const [index, bind] of binds.entries()) addBind(bind, pathTo('binds', index), registries, context)
  addRouteGroups(routeGroups, registries, context)
  if (mcp !== undefined) addMcp(mcp, { gateways: registry, listeners }, context)
  if (llm !== undefined) addLlm(llm, { gateways: registry, listeners }, context)
  // After all other routes, which may have the root of a listener.
  addUi(file, { gateways: registry, context })
  addTargeted(policies, context)
  addFrontend(file, listeners.gateways, context)
}

function addGatewayRoutes(
  { routes = [], tcpRoutes = [] }: StandaloneFile,
  gateways: GatewayRegistry,
  registries: Registries,
): void {
  for (const [index, route] of routes.entries()) {
    const path = pathTo('routes', index)
    registries.routes.add(route, { path, listenerKeys: gateways.listenersOf(route.gateways, { path }) })
  }
  for (const [index, route] of tcpRoutes.entries()) {
    const path = pathTo('tcpRoutes', index)
    const listenerKeys = gateways.listenersOf(route.gateways, { path, isHttp: false })
    registries.tcpRoutes.add(route, { path, listenerKeys })
  }
}

function addRouteGroups(groups: readonly RouteGroupFields[], { routes }: Registries, context: BuildContext): void {
  const names = new Set<string>()
  for (const [index, group] of groups.entries()) {
    const path = pathTo('routeGroups', index)
    if (names.has(group.name)) context.error(pathTo(path, 'name'), `route group ${group.name} already exists`)
    names.add(group.name)
    for (const [position, route] of group.routes.entries()) {
      routes.addToGroup(route, pathTo(path, 'routes', position), routeGroupKey(group.name))
    }
  }
}

function contextOf({ config }: StandaloneFile, path: string, keySets: KeySetLookup): BuildContext {
  return new BuildContext({ folder: dirname(path), keySets, functions: config?.customFunctions })
}

function noKeySets(): undefined {}

function failed(problems: readonly FileProblem[]): LoadedStandalone {
  const settings = settingsOf({})
  return { rendered: undefined, settings, modelCatalog: [], problems, files: [], keySetUrls: [] }
}

function located(problems: readonly FieldProblem[], document: LocatedDocument): FileProblem[] {
  return problems.map((problem) => ({ ...document.locate(problem.path), ...problem }))
}

type Only = LocatedDocument | { readonly problem: string; readonly at?: Position }

function onlyDocument([document, second]: readonly LocatedDocument[]): Only {
  if (document === undefined) return { problem: 'the file is empty' }
  if (second !== undefined) {
    return { problem: 'a standalone file must contain exactly one YAML document', at: second.start }
  }
  return isForeign(document.value) ? { problem: FOREIGN, at: document.start } : document
}

function startOf(file: string): Position {
  return { file, line: 1, column: 1 }
}

function wholeFile(message: string): Pick<FileProblem, 'path' | 'message' | 'severity'> {
  return { path: '', message, severity: 'error' }
}
