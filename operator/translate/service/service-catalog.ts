// All Services with their EndpointSlices, and the host names that a change of either concerns.
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import { changesBetween } from '../changes.ts'
import type { EndpointSlice, KubeObject, Service } from '../kube.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import type { Snapshot } from '../snapshot.ts'
import type { Services } from './services.ts'

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'
const NONE: ReadonlySet<string> = new Set()
/** Versions whose changes are known: a Gateway that is not concerned for a while does not read all of its Services. */
const VERSIONS_MAX = 256

export class ServiceCatalog {
  readonly #hostname: Services['hostname']
  #slices = Grouped.of<EndpointSlice>([], serviceKeys)
  /** Those that the deployer made for Gateways. */
  #ofGateways = Grouped.of<Service>([], gatewayKeys)
  #services: readonly Service[] = []
  #byHostname = new Map<string, Service>()
  #version = 0
  /** The changes of the last versions, in order; undefined: any host name may have changed. */
  readonly #changes: (ReadonlySet<string> | undefined)[] = []

  constructor({ hostname }: Pick<Services, 'hostname'>) {
    this.#hostname = hostname
  }

  /** Grows with every snapshot in which a Service or its endpoints have changed. */
  get version(): number {
    return this.#version
  }

  enter({ Service, EndpointSlice }: Pick<Snapshot, 'Service' | 'EndpointSlice'>): void {
    const before = this.#slices
    this.#slices = before.after(EndpointSlice.all)
    this.#ofGateways = this.#ofGateways.after(Service.all)
    const services = this.#enterServices(Service.all)
    const ofSlices = this.#slices.changedSince(before).map((key) => this.#hostnameOf(key))
    if (services?.length === 0 && ofSlices.length === 0) return
    this.#version++
    this.#changes.push(services && new Set([...services, ...ofSlices]))
    if (this.#changes.length > VERSIONS_MAX) this.#changes.shift()
  }

  /** Host names with changes since that version; undefined: any may have changed. */
  changedSince(version: number): ReadonlySet<string> | undefined {
    const missed = this.#version - version
    if (missed <= 1) return missed === 0 ? NONE : this.#changes.at(-1)
    if (missed > this.#changes.length) return undefined
    const all = new Set<string>()
    for (const changed of this.#changes.slice(-missed)) {
      if (changed === undefined) return undefined
      for (const hostname of changed) all.add(hostname)
    }
    return all
  }

  at(hostname: string): Service | undefined {
    return this.#byHostname.get(hostname)
  }

  slicesOf(service: Service): readonly EndpointSlice[] {
    return this.#slices.at(keyOf(service))
  }

  ofGateway(gateway: KubeObject): readonly Service[] {
    return this.#ofGateways.at(nameKey(namespaceOf(gateway), safeName(gateway.metadata.name)))
  }

  #enterServices(services: readonly Service[]): string[] | undefined {
    const edits = changesBetween(this.#services, services)
    const named = (service: Service) => [this.#hostnameOf(keyOf(service)), service] as const
    this.#services = services
    if (edits === undefined) {
      this.#byHostname = new Map(services.map(named))
      return undefined
    }
    const removed = edits.flatMap((edit) => edit.removed.map(named))
    const added = edits.flatMap((edit) => edit.added.map(named))
    for (const [hostname] of removed) this.#byHostname.delete(hostname)
    for (const [hostname, service] of added) this.#byHostname.set(hostname, service)
    return [...removed, ...added].map(([hostname]) => hostname)
  }

  #hostnameOf(key: string): string {
    const slash = key.indexOf('/')
    return this.#hostname(key.slice(0, slash), key.slice(slash + 1))
  }
}

function serviceKeys({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata.labels?.[SERVICE_NAME_LABEL]
  return name === undefined ? [] : [nameKey(metadata.namespace ?? '', name)]
}

function gatewayKeys(service: Service): readonly string[] {
  const name = service.metadata.labels?.[GATEWAY_NAME_LABEL]
  return name === undefined ? [] : [nameKey(namespaceOf(service), name)]
}
