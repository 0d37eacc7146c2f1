// Routes of TCP connections: plain TCP, or TLS by server name.
import type { BackendPayload, BackendReference, RouteBackend } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { TcpRouteFields } from '../schema/file.ts'
import { addBackend } from './backends.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { serviceNamed } from './discovery.ts'
import { backendNamed } from './references.ts'
import type { RoutePlace } from './routes.ts'
import { renderTls, renderTunnel } from './simple-policies.ts'

const INDEX_DIGITS = 4

export class TcpRouteRegistry {
  readonly #context: BuildContext
  #count = 0

  constructor(context: BuildContext) {
    this.#context = context
  }

  add(fields: TcpRouteFields, { path, listenerKeys }: RoutePlace): void {
    const index = this.#count++
    const { namespace = DEFAULT_NAMESPACE, name = `tcpRoute${index}`, ruleName, hostnames = [] } = fields
    for (const listenerKey of listenerKeys) {
      // Among routes for one server name the first key wins: the route earlier in the file.
      const key = `${listenerKey}/tcp/${String(index).padStart(INDEX_DIGITS, '0')}/${namespace}/${name}`
      this.#context.config.tcpRoutes.push({
        key,
        listenerKey,
        kind: hostnames.length === 0 ? 'TCPRoute' : 'TLSRoute',
        name: { namespace, name },
        ...defined({ ruleName }),
        hostnames,
        backends: fields.backends.map((_, position) => this.#backend(fields, { key, path, position })),
      })
    }
  }

  #backend(
    { backends, policies }: TcpRouteFields,
    { key, path, position }: { readonly key: string; readonly path: string; readonly position: number },
  ): RouteBackend {
    const context = this.#context
    const at = pathTo(path, 'backends', position)
    const { host, backend, service, weight = 1, policies: own } = backends[position] ?? {}
    const inlinePolicies: BackendPayload = defined({
      tls:
        ifSet(own?.backendTLS, (value) => renderTls(value, pathTo(at, 'policies', 'backendTLS'), context)) ??
        ifSet(policies?.backendTLS, (value) => renderTls(value, pathTo(path, 'policies', 'backendTLS'), context)),
      tunnel: ifSet(own?.backendTunnel, (value) =>
        renderTunnel(value, pathTo(at, 'policies', 'backendTunnel'), context),
      ),
    })
    const inline = Object.keys(inlinePolicies).length > 0 && { inlinePolicies }
    if ([host, backend, service].filter((form) => form !== undefined).length !== 1) {
      context.error(at, 'must have exactly one of host, backend, service')
    }
    if (service !== undefined) return { weight, ref: serviceNamed(service, pathTo(at, 'service'), context), ...inline }
    if (backend !== undefined) return { weight, ref: hostNamed(backend, pathTo(at, 'backend'), context), ...inline }
    const backendKey = `/${key}/backend${position}`
    addBackend({ host }, { key: backendKey, name: backendKey.slice(1), path: at }, context)
    return { weight, ref: { backend: backendKey }, ...inline }
  }
}

function hostNamed(backend: string, path: string, context: BuildContext): BackendReference {
  const kind = context.kindOfBackend(backend)
  if (kind === 'mcp' || kind === 'ai' || kind === 'aws') {
    context.error(path, `must be a backend with a host; ${backend} is of kind ${kind}`)
  }
  return backendNamed(backend, path, context)
}
