// Gateway API filters of a rule or a backendRef. A route with a filter that this version cannot run is not served.
import type { HTTPRouteFilter } from '#api/gateway/httproute.gen.ts'
import type {
  Cors,
  Deny,
  ExtAuth,
  HeaderModifier,
  PathModifier,
  RequestMirror,
  RequestRedirect,
  UrlRewrite,
} from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { Faults } from '../policy/faults.ts'
import { renderCors } from '../policy/cors.ts'
import { headerModifier } from '../policy/header-filter.ts'
import type { ReferenceScope, ReferenceSource } from '../service/reference.ts'
import { renderExternalAuth } from './external-auth.ts'
import type { RouteFault } from '../route-fault.ts'
import { judgedFilter } from './judged-filter.ts'
import { renderMirror } from './mirror.ts'

/** Of a rule or a backendRef. */
export interface RenderedFilters {
  cors?: Cors
  extAuth?: ExtAuth
  requestHeaderModifier?: HeaderModifier
  responseHeaderModifier?: HeaderModifier
  requestRedirect?: RequestRedirect
  urlRewrite?: UrlRewrite
  requestMirror?: RequestMirror[]
  /** Of filters that are malformed. */
  deny?: Deny
}

export interface FilterTranslation {
  readonly filters: RenderedFilters
  readonly faults: readonly RouteFault[]
  /** Mirrors without backend: the route is served. Services that cannot be called: requests are rejected. */
  readonly unresolved: readonly RouteFault[]
  /** Of malformed filters. */
  readonly reported: readonly RouteFault[]
}

const REDIRECT_STATUS_DEFAULT = 302

export interface FilterList {
  readonly filters: readonly HTTPRouteFilter[] | undefined
  readonly path: FieldPath
  /** Of all filters of the route. */
  readonly filterFaults: Faults
  /** The route, and what it may refer to. */
  readonly from: ReferenceSource
  readonly scope: ReferenceScope
}

export function renderFilters(list: FilterList): FilterTranslation {
  const into: Rendering = { filters: {}, faults: [], unresolved: [], reported: [] }
  for (const [index, written] of (list.filters ?? []).entries()) {
    const path = `${list.path}[${index}]`
    const { filter, deny, faults, reported } = judgedFilter({ ...list, filter: written, path })
    into.faults.push(...faults)
    into.reported.push(...reported)
    if (deny !== undefined) into.filters.deny ??= deny
    if (filter !== undefined) renderFilter(filter, { ...list, path }, into)
  }
  return into
}

interface Rendering {
  readonly filters: RenderedFilters
  readonly faults: RouteFault[]
  readonly unresolved: RouteFault[]
  readonly reported: RouteFault[]
}

function renderFilter(filter: HTTPRouteFilter, { path, from, scope }: FilterList, into: Rendering): void {
  const { filters: rendered } = into
  if (filter.type === 'RequestMirror' && filter.requestMirror !== undefined) {
    const translated = renderMirror(filter.requestMirror, from, scope)
    if ('mirror' in translated) (rendered.requestMirror ??= []).push(translated.mirror)
    else into.unresolved.push({ ...translated.unresolved, path })
    return
  }
  if (filter.type === 'ExternalAuth' && filter.externalAuth !== undefined && rendered.extAuth === undefined) {
    const translated = renderExternalAuth(filter.externalAuth, from, scope)
    rendered.extAuth = translated.extAuth
    if (translated.unresolved !== undefined) into.unresolved.push({ ...translated.unresolved, path })
    return
  }
  const fault = addFilter(rendered, filter)
  if (fault !== undefined) into.faults.push({ ...fault, path })
}

type Fault = Omit<RouteFault, 'path'>

/** Types of a newer Gateway API are not in the table: a filter is never skipped. */
function addFilter(rendered: RenderedFilters, filter: HTTPRouteFilter): Fault | undefined {
  return Object.hasOwn(ADDERS, filter.type) ? ADDERS[filter.type](rendered, filter) : notRun(filter.type)
}

type Adder = (rendered: RenderedFilters, filter: HTTPRouteFilter) => Fault | undefined

const ADDERS: { readonly [T in HTTPRouteFilter['type']]: Adder } = {
  RequestHeaderModifier: (rendered, filter) => {
    rendered.requestHeaderModifier = joined(rendered.requestHeaderModifier, filter.requestHeaderModifier)
    return undefined
  },
  ResponseHeaderModifier: (rendered, filter) => {
    rendered.responseHeaderModifier = joined(rendered.responseHeaderModifier, filter.responseHeaderModifier)
    return undefined
  },
  RequestRedirect: (rendered, filter) => {
    if (hasTerminal(rendered)) return secondTerminal(filter.type)
    rendered.requestRedirect = renderRedirect(filter.requestRedirect ?? {})
    return undefined
  },
  URLRewrite: (rendered, filter) => {
    if (hasTerminal(rendered)) return secondTerminal(filter.type)
    rendered.urlRewrite = renderRewrite(filter.urlRewrite ?? {})
    return undefined
  },
  CORS: (rendered, filter) => {
    rendered.cors = renderCors(filter.cors ?? {})
    return undefined
  },
  ExtensionRef: () => ({
    reason: 'IncompatibleFilters',
    message: 'filter ExtensionRef is not supported; attach a GwPolicy to the route instead',
  }),
  // Without its settings there is no target for copies; with them this is not called.
  RequestMirror: (_, filter) => notRun(filter.type),
  // A second one: it would be unclear which of the two decides.
  ExternalAuth: ({ extAuth }, filter) =>
    extAuth === undefined
      ? notRun(filter.type)
      : { reason: 'IncompatibleFilters', message: 'a list has two ExternalAuth filters; use one' },
}

function notRun(type: string): Fault {
  return {
    reason: 'UnsupportedValue',
    message: `filter ${type} is not supported by this version of the proxy, so the route is not served`,
  }
}

function hasTerminal(rendered: RenderedFilters): boolean {
  return rendered.requestRedirect !== undefined || rendered.urlRewrite !== undefined
}

function secondTerminal(type: string): Fault {
  return {
    reason: 'IncompatibleFilters',
    message: `filter ${type} cannot be combined with another RequestRedirect or URLRewrite of the same rule`,
  }
}

function joined(first: HeaderModifier | undefined, second: HTTPRouteFilter['requestHeaderModifier']): HeaderModifier {
  const added = headerModifier(second ?? {})
  if (first === undefined) return added
  const set = [...(first.set ?? []), ...(added.set ?? [])]
  const add = [...(first.add ?? []), ...(added.add ?? [])]
  const remove = [...(first.remove ?? []), ...(added.remove ?? [])]
  return {
    ...(set.length > 0 && { set }),
    ...(add.length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  }
}

function renderRedirect(filter: NonNullable<HTTPRouteFilter['requestRedirect']>): RequestRedirect {
  const { scheme, hostname, port, statusCode = REDIRECT_STATUS_DEFAULT } = filter
  const path = renderPathModifier(filter.path)
  return {
    ...(scheme !== undefined && { scheme }),
    ...(hostname !== undefined && { host: hostname }),
    ...(port !== undefined && { port }),
    ...(path !== undefined && { path }),
    status: statusCode,
  }
}

function renderRewrite(filter: NonNullable<HTTPRouteFilter['urlRewrite']>): UrlRewrite {
  const path = renderPathModifier(filter.path)
  return { ...(filter.hostname !== undefined && { host: filter.hostname }), ...(path !== undefined && { path }) }
}

interface PathFilter {
  readonly type: 'ReplaceFullPath' | 'ReplacePrefixMatch'
  readonly replaceFullPath?: string
  readonly replacePrefixMatch?: string
}

function renderPathModifier(path: PathFilter | undefined): PathModifier | undefined {
  if (path === undefined) return undefined
  return path.type === 'ReplaceFullPath'
    ? { full: path.replaceFullPath ?? '/' }
    : { prefix: path.replacePrefixMatch ?? '/' }
}
