// What the connections of a port carry where no policy decides it (data-plane supplement, section 1.1, step 2): the own
// way of the bind. Any policy `connect` or `proxyProtocol` of the port comes first, so that one that denies is obeyed.
import type { Bind } from '#api/ir/types.gen.ts'
import type { PortFrontend } from './fields.ts'

export function withOwnTunnel(
  { tunnelProtocol }: Pick<Bind, 'tunnelProtocol'>,
  frontend: Pick<PortFrontend, 'connect' | 'proxyProtocol'>,
): Pick<PortFrontend, 'connect' | 'proxyProtocol'> {
  const { connect, proxyProtocol } = frontend
  if (tunnelProtocol === undefined || connect !== undefined || proxyProtocol !== undefined) return frontend
  return tunnelProtocol === 'Proxy'
    ? { proxyProtocol: { version: 'V2', mode: 'Strict' } }
    : { connect: { mode: 'Tunnel' } }
}
