// What the references of a configuration can name: backends, Services, and the addresses of their endpoints. What the
// configuration before has as well is taken over, so that one moved endpoint among many costs little. Knows no
// policies.
import type { Backend, RenderedConfig, Service, Workload, WorkloadService } from '#api/ir/types.gen.ts'
import { grouped, type Grouped } from '../config/grouped.ts'
import { serviceKey } from './endpoint-keys.ts'

export interface ServiceAddress {
  readonly host: string
  readonly port: number
  readonly workload: Workload
  /** What the workload is to the Service. */
  readonly membership: WorkloadService
}

type Lists = Pick<RenderedConfig, 'backends' | 'services' | 'workloads'>

export class TargetDirectory {
  readonly #backends: Grouped<Backend>
  /** By `{namespace}/{hostname}`. */
  readonly #services: Grouped<Service>
  /** Those that are healthy, by the same keys. */
  readonly #workloads: Grouped<Workload>

  private constructor({ backends, services, workloads }: Lists, former: TargetDirectory | undefined) {
    this.#backends = grouped(backends, ({ key }) => [key], former && former.#backends)
    this.#services = grouped(services, (service) => [serviceKey(service)], former && former.#services)
    this.#workloads = grouped(workloads, keysOfWorkload, former && former.#workloads)
  }

  /** `former`: of the configuration in force. */
  static of(lists: Lists, former?: TargetDirectory): TargetDirectory {
    return new TargetDirectory(lists, former)
  }

  get workloads(): readonly Workload[] {
    return this.#workloads.list
  }

  backend(key: string): Backend | undefined {
    return this.#backends.groups.get(key)?.at(-1)
  }

  service(namespace: string, hostname: string): Service | undefined {
    return this.#services.groups.get(serviceKey({ namespace, hostname }))?.at(-1)
  }

  /** In the order of the workloads. */
  addresses(namespace: string, hostname: string, port: number): ServiceAddress[] {
    const workloads = this.#workloads.groups.get(serviceKey({ namespace, hostname })) ?? []
    return workloads.flatMap((workload) => {
      const host = workload.addresses[0]
      if (host === undefined) return []
      const own = workload.services.filter((one) => one.namespace === namespace && one.hostname === hostname)
      return own.flatMap((membership) => {
        const ports = membership.ports.filter((one) => one.port === port)
        return ports.map(({ targetPort }) => ({ host, port: targetPort, workload, membership }))
      })
    })
  }
}

function keysOfWorkload({ healthy, services }: Workload): string[] {
  return healthy ? services.map(serviceKey) : []
}
