// What the references of a configuration can name: backends, Services, and the addresses of their endpoints. What the
// configuration before has as well is taken over, so that one moved endpoint among many costs little. Knows no
// policies.
import type { Backend, RenderedConfig, Service, Workload, WorkloadService } from '#api/ir/types.gen.ts'

/** Of a healthy workload. */
export interface ServiceAddress {
  readonly host: string
  readonly port: number
  readonly workload: Workload
  /** What the workload is to the Service. */
  readonly membership: WorkloadService
}

type Lists = Pick<RenderedConfig, 'backends' | 'services' | 'workloads'>
type Addresses = ReadonlyMap<string, readonly ServiceAddress[]>

const NONE: readonly ServiceAddress[] = []

export class TargetDirectory {
  readonly #lists: Lists
  readonly #backends: ReadonlyMap<string, Backend>
  /** By `{namespace}/{hostname}`. */
  readonly #services: ReadonlyMap<string, Service>
  /** By `{namespace}/{hostname}:{service port}`. */
  readonly #addresses: Addresses

  private constructor(lists: Lists, former: TargetDirectory | undefined) {
    const { backends, services, workloads } = lists
    this.#lists = { backends, services, workloads }
    const before = former === undefined ? undefined : former.#lists
    this.#backends =
      former !== undefined && before?.backends === backends
        ? former.#backends
        : new Map(backends.map((backend) => [backend.key, backend]))
    this.#services =
      former !== undefined && before?.services === services
        ? former.#services
        : new Map(services.map((service) => [`${service.namespace}/${service.hostname}`, service]))
    this.#addresses = addressesAfter(
      before?.workloads ?? [],
      former === undefined ? new Map() : former.#addresses,
      workloads,
    )
  }

  /** `former`: of the configuration in force. */
  static of(lists: Lists, former?: TargetDirectory): TargetDirectory {
    return new TargetDirectory(lists, former)
  }

  get workloads(): readonly Workload[] {
    return this.#lists.workloads
  }

  backend(key: string): Backend | undefined {
    return this.#backends.get(key)
  }

  service(namespace: string, hostname: string): Service | undefined {
    return this.#services.get(`${namespace}/${hostname}`)
  }

  addresses(namespace: string, hostname: string, port: number): readonly ServiceAddress[] {
    return this.#addresses.get(`${namespace}/${hostname}:${port}`) ?? NONE
  }
}

/** Addresses have the order of the workloads. */
function addressesAfter(before: readonly Workload[], addresses: Addresses, workloads: readonly Workload[]): Addresses {
  if (before === workloads) return addresses
  const { removed, added } = difference(before, workloads)
  const changed = new Map<string, ServiceAddress[]>()
  for (const workload of [...removed, ...added]) eachAddress(workload, (key) => changed.set(key, []))
  const gone = new Set(removed)
  const members = new Set(added)
  for (const key of changed.keys()) {
    for (const { workload } of addresses.get(key) ?? []) if (!gone.has(workload)) members.add(workload)
  }
  for (const workload of workloads) {
    if (members.has(workload)) eachAddress(workload, (key, address) => changed.get(key)?.push(address))
  }
  const now = new Map(addresses)
  for (const [key, list] of changed) {
    if (list.length > 0) now.set(key, list)
    else now.delete(key)
  }
  return now
}

/** Most workloads stay at both ends of the list. */
function difference(
  before: readonly Workload[],
  now: readonly Workload[],
): { readonly removed: readonly Workload[]; readonly added: readonly Workload[] } {
  const shorter = Math.min(before.length, now.length)
  let start = 0
  while (start < shorter && before[start] === now[start]) start++
  let rest = 0
  while (rest < shorter - start && before[before.length - 1 - rest] === now[now.length - 1 - rest]) rest++
  return { removed: before.slice(start, before.length - rest), added: now.slice(start, now.length - rest) }
}

function eachAddress(workload: Workload, visit: (key: string, address: ServiceAddress) => void): void {
  const host = workload.addresses[0]
  if (host === undefined || !workload.healthy) return
  for (const membership of workload.services) {
    const { namespace, hostname, ports } = membership
    for (const { port, targetPort } of ports) {
      visit(`${namespace}/${hostname}:${port}`, { host, port: targetPort, workload, membership })
    }
  }
}
