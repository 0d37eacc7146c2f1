// Policies that change or create messages: header modifiers, transformations, redirects, rewrites, direct responses.
import type {
  DirectResponse as RenderedResponse,
  DirectResponseOrConditional,
  HeaderModifier as RenderedModifier,
  HostRewrite,
  NamedExpression,
  RequestRedirect as RenderedRedirect,
  Transform as RenderedTransform,
  Transformation,
  TransformationOrConditional,
  UrlRewrite as RenderedRewrite,
} from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type {
  DirectResponse,
  HeaderModifier,
  PlainDirectResponse,
  RequestRedirect,
  Transform,
  Transformations,
  UrlRewrite,
} from '../schema/policies.ts'
import { parseAddress } from '../schema/values.ts'
import type { BuildContext } from './context.ts'
import { renderEntries } from './conditional.ts'
import { defined } from './defined.ts'

const REDIRECT_STATUS = 302

type Map = Readonly<Record<string, string>>

export function renderModifier({ add, set, remove }: HeaderModifier): RenderedModifier {
  return defined({ add: add && headerValues(add), set: set && headerValues(set), remove })
}

export function headerValues(map: Map): { name: string; value: string }[] {
  return Object.entries(map).map(([name, value]) => ({ name, value }))
}

export function renderTransformations(value: Transformations): TransformationOrConditional {
  if (!('conditional' in value)) return renderTransformation(value)
  return renderEntries(value.conditional, (policy) => renderTransformation(policy))
}

export function renderTransformation(value: {
  readonly request?: Transform | undefined
  readonly response?: Transform | undefined
}): Transformation {
  const { request, response } = value
  return defined({ request: request && renderTransform(request), response: response && renderTransform(response) })
}

function renderTransform({ metadata, replace, add, set, remove, body }: Transform): RenderedTransform {
  return defined({
    metadata: metadata && expressions(metadata),
    replace,
    add: add && expressions(add),
    set: set && expressions(set),
    remove,
    body,
  })
}

export function expressions(map: Map): NamedExpression[] {
  return Object.entries(map).map(([name, expression]) => ({ name, expression }))
}

export function renderDirectResponse(value: DirectResponse): DirectResponseOrConditional {
  if (!('conditional' in value)) return renderResponse(value)
  return renderEntries(value.conditional, (policy) => renderResponse(policy))
}

function renderResponse({ status, body, bodyExpression, headers }: PlainDirectResponse): RenderedResponse {
  return { status, ...defined({ body, bodyExpression, headers: headers && expressions(headers) }) }
}

export function renderRedirect(
  { scheme, authority, path, status }: RequestRedirect,
  at: string,
  context: BuildContext,
): RenderedRedirect {
  const base = { status: status ?? REDIRECT_STATUS, ...defined({ scheme, path: path && defined(path) }) }
  // Both words keep the host of the request, as a redirect without authority does.
  if (authority === undefined || typeof authority === 'string') return base
  if (authority.full === undefined) return { ...base, ...defined({ host: authority.host, port: authority.port }) }
  if (!authority.full.includes(':')) return { ...base, host: authority.full }
  const address = parseAddress(authority.full)
  if (address === undefined) context.error(pathTo(at, 'authority', 'full'), 'must be a host or host:port')
  return { ...base, ...address }
}

export interface Rewrites {
  readonly urlRewrite?: RenderedRewrite
  readonly hostRewrite?: HostRewrite
}

export function renderRewrite({ authority, path }: UrlRewrite, at: string, context: BuildContext): Rewrites {
  const urlRewrite = path === undefined ? {} : { path: defined(path) }
  if (authority === 'auto' || authority === 'none') {
    const hostRewrite: HostRewrite = { mode: authority === 'auto' ? 'Auto' : 'None' }
    return { hostRewrite, ...(path !== undefined && { urlRewrite }) }
  }
  if (authority?.port !== undefined) {
    context.error(pathTo(at, 'authority', 'port'), 'is not supported by this version of the proxy; use full')
  }
  return { urlRewrite: { ...urlRewrite, ...defined({ host: authority?.full ?? authority?.host }) } }
}
