// Host names that an administrator reserves for namespaces: routes and ListenerSets of others may not serve them.
import type { HostBinding } from './translation.ts'

/** The binding of the host name or wildcard, if it reserves it for other namespaces. */
export type ForbiddenHost = (host: string, namespace: string) => HostBinding | undefined

export function forbiddenHosts(bindings: readonly HostBinding[]): ForbiddenHost {
  const byHost = new Map<string, HostBinding>()
  for (const { host, namespaces } of bindings) {
    const key = host.toLowerCase()
    byHost.set(key, { host: key, namespaces: [...(byHost.get(key)?.namespaces ?? []), ...namespaces] })
  }
  return (host, namespace) => {
    if (byHost.size === 0) return undefined
    const binding = bindingOf(host.toLowerCase(), byHost)
    return binding === undefined || binding.namespaces.includes(namespace) ? undefined : binding
  }
}

/** For conditions and problems. */
export function forbiddenHostMessage(host: string, { host: bound, namespaces }: HostBinding): string {
  return `${host} is reserved for namespace ${namespaces.join(', ')} (binding of ${bound}); use another hostname`
}

/** The most specific binding: of the name itself, else of the longest wildcard that includes it. */
function bindingOf(host: string, byHost: ReadonlyMap<string, HostBinding>): HostBinding | undefined {
  for (let name = host; name !== ''; name = parentOf(name)) {
    const binding = byHost.get(name)
    if (binding !== undefined) return binding
  }
  return undefined
}

/** The next wider wildcard: of `a.b.example` and of `*.a.b.example`, `*.b.example`. */
function parentOf(name: string): string {
  const labels = name.startsWith('*.') ? name.slice(2) : name
  const dot = labels.indexOf('.')
  return dot === -1 ? '' : `*${labels.slice(dot)}`
}
