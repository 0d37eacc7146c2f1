// Listeners of one Gateway that conflict: the earlier one wins and does not change.
import { isListenerProtocol } from '../capabilities.ts'
import type { ListenerFault, ListenerIdentity } from './listener.ts'

/** Protocols that one port can serve together: the host name of the handshake selects HTTPS or TLS. */
const FAMILY = { HTTP: 'HTTP', HTTPS: 'TLS', TLS: 'TLS', TCP: 'TCP', HBONE: 'HBONE' } as const

interface PortUse {
  readonly family: string
  readonly owner: string
  readonly hostnames: Map<string, string>
}

/** `listeners` come in order of precedence. */
export function listenerConflicts(
  listeners: readonly ListenerIdentity[],
): ReadonlyMap<ListenerIdentity, ListenerFault> {
  const conflicts = new Map<ListenerIdentity, ListenerFault>()
  const ports = new Map<number, PortUse>()
  const keys = new Set<string>()
  for (const listener of listeners) {
    const { protocol, port, hostname = '' } = listener.spec
    if (keys.has(listener.key)) {
      conflicts.set(listener, sameName(listener))
      continue
    }
    keys.add(listener.key)
    if (!isListenerProtocol(protocol)) continue
    const family = FAMILY[protocol]
    const use = ports.get(port)
    const host = hostname.toLowerCase()
    if (use === undefined) {
      ports.set(port, { family, owner: listener.key, hostnames: new Map([[host, listener.key]]) })
      continue
    }
    const fault = conflictOf(use, family, host, port)
    if (fault === undefined) use.hostnames.set(host, listener.key)
    else conflicts.set(listener, fault)
  }
  return conflicts
}

/** A ListenerSet may have the name of its Gateway; two listeners of one name could not be distinguished. */
function sameName(listener: ListenerIdentity): ListenerFault {
  return {
    reason: 'HostnameConflict',
    message: `another listener of this Gateway already has the name ${listener.key}`,
  }
}

function conflictOf(use: PortUse, family: string, host: string, port: number): ListenerFault | undefined {
  if (use.family !== family) {
    return {
      reason: 'ProtocolConflict',
      message: `port ${port} already serves ${use.family} for listener ${use.owner}; give this one another port`,
    }
  }
  const holder = use.hostnames.get(host)
  if (holder === undefined) return undefined
  const what = host === '' ? 'all host names' : `host name ${host}`
  return { reason: 'HostnameConflict', message: `${what} on port ${port} already belong to listener ${holder}` }
}
