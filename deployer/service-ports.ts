// Ports of the Service: one for each distinct listener port.
import { METRICS_PORT, READINESS_PORT } from '#api/delivery/pod-contract.ts'

export interface ServicePort {
  /** At most 15 characters. */
  readonly name: string
  readonly port: number
}

const ADMIN_PORT = 15_000
const PORT_MAX = 65_535
/** The proxy opens them itself. */
const RESERVED: ReadonlySet<number> = new Set([ADMIN_PORT, METRICS_PORT, READINESS_PORT])

/** Empty: neither a usable port nor a dummy one. */
export function servicePorts(ports: readonly number[], dummyPort: number): ServicePort[] {
  const usable = [...new Set(ports)].filter(isUsable).sort((a, b) => a - b)
  if (usable.length > 0) return usable.map(named)
  return dummyPort === 0 ? [] : [named(dummyPort)]
}

function isUsable(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= PORT_MAX && !RESERVED.has(port)
}

function named(port: number): ServicePort {
  return { name: `listener-${port}`, port }
}
