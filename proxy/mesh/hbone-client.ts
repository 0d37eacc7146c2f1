// Tunnels to workloads of a mesh (HBONE): CONNECT over HTTP/2 with mutual TLS. Connections are shared by the tunnels to
// one workload with one identity of the proxy. Everything is bounded: connections, streams, calls that wait, time.
import { isIP } from 'node:net'
import { DEFAULT_KEEPALIVE, type Probes } from '#api/ir/keepalive.ts'
import { shown } from '../exchange/diagnosis.ts'
import { DeadlineWheel, Sweeper, type Sweepable } from '../socket/deadlines.ts'
import type { ConnectObserver } from '../upstream/connect-observer.ts'
import type { Dial, DialOutcome } from '../upstream/dial.ts'
import { DnsCache } from '../upstream/dns-cache.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { HboneConnections, type HboneParts } from './hbone-connections.ts'
import { HBONE_LIMITS, type HboneLimits } from './hbone-limits.ts'
import { HboneOpening } from './hbone-opening.ts'
import { type MeshIdentity, versionOf } from './mesh-secrets.ts'

export interface HboneDestination {
  /** Address of the workload. */
  readonly host: string
  /** Its port, not that of the tunnel. */
  readonly port: number
  /** The identity that the workload must have; undefined: any of the accepted trust domains. */
  readonly spiffeId: string | undefined
  readonly connectTimeoutMs: number
  /** See UpstreamTarget. */
  readonly namedBy?: UpstreamTarget['namedBy']
}

export interface HboneClientOptions {
  /** Of the tunnels, at all workloads. */
  readonly tunnelPort: number
  readonly dns?: DnsCache | undefined
  readonly connected?: ConnectObserver | undefined
  readonly limits?: HboneLimits
  readonly keepalive?: Probes
}

export class HboneClient implements Sweepable {
  readonly #tunnelPort: number
  readonly #parts: HboneParts
  readonly #workloads = new Map<string, HboneConnections>()
  readonly #sweeper = new Sweeper()
  #isClosed = false

  constructor({ tunnelPort, dns = new DnsCache(), connected, ...options }: HboneClientOptions) {
    const { limits = HBONE_LIMITS, keepalive = DEFAULT_KEEPALIVE } = options
    this.#tunnelPort = tunnelPort
    this.#parts = { dns, connected, wheel: new DeadlineWheel(), limits, keepalive }
  }

  /** For tests and gauges. */
  get openConnections(): number {
    let count = 0
    for (const { openConnections } of this.#workloads.values()) count += openConnections
    return count
  }

  /** The socket of the outcome is paused and ready to write to. */
  open(destination: HboneDestination, identity: MeshIdentity, done: (outcome: DialOutcome) => void): Dial {
    const { host, port } = destination
    const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
    const opening = new HboneOpening(authority, destination.connectTimeoutMs, done)
    if (this.#isClosed) opening.fail('upstreamFailure', shown('the client is closed'))
    else if (Date.now() >= identity.untilMs)
      opening.fail('upstreamFailure', shown('the certificate of the mesh has expired'))
    else this.#workload(destination, identity).dispatch(opening)
    return opening
  }

  sweep(nowMs: number): void {
    for (const [key, workload] of this.#workloads) {
      workload.sweep(nowMs)
      if (workload.isEmpty) this.#workloads.delete(key)
    }
    if (this.#workloads.size === 0) this.#sweeper.remove(this)
  }

  close(): void {
    this.#isClosed = true
    for (const workload of this.#workloads.values()) workload.destroy()
    this.#workloads.clear()
    this.#sweeper.remove(this)
  }

  #workload(destination: HboneDestination, identity: MeshIdentity): HboneConnections {
    const { host, spiffeId = '', namedBy = '' } = destination
    const tunnelPort = this.#tunnelPort
    // A renewed certificate, other roots or trust domains: the previous connections are not used for new tunnels.
    const key = `${host} ${spiffeId} ${namedBy} ${versionOf(identity)}`
    const known = this.#workloads.get(key)
    if (known !== undefined) return known
    const workload = new HboneConnections({ ...destination, tunnelPort, key }, identity, this.#parts)
    this.#workloads.set(key, workload)
    this.#sweeper.add(this)
    return workload
  }
}
