// The objects that references of a configuration can name: backends, Services, and the addresses of their endpoints.
// Unchanged parts of the previous configuration are reused, so that one moved endpoint among many costs little. Does
// not depend on policies.
import type { Backend, RenderedConfig, Service, Workload, WorkloadService } from '#api/ir/types.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import { runAll, type Steps } from '#api/incremental/steps.ts'
import { serviceKey } from './endpoint-keys.ts'

export interface ServiceAddress {
  readonly host: string
  readonly port: number
  readonly workload: Workload
  /** The endpoints of the workload for the Service. */
  readonly membership: WorkloadService
}

type Lists = Pick<RenderedConfig, 'backends' | 'services' | 'workloads'>

interface Groups {
  readonly backends: Grouped<Backend>
  readonly services: Grouped<Service>
  readonly healthy: Grouped<Workload>
}

export class TargetDirectory {
  readonly #backends: Grouped<Backend>
  /** By `{namespace}/{hostname}`. */
  readonly #services: Grouped<Service>
  /** The healthy ones, by the same keys. */
  readonly #healthy: Grouped<Workload>

  private constructor(lists: Groups) {
    this.#backends = lists.backends
    this.#services = lists.services
    this.#healthy = lists.healthy
  }

  /** `former`: of the configuration in force. */
  static of(lists: Lists, former?: TargetDirectory): TargetDirectory {
    return runAll(TargetDirectory.stepsOf(lists, former))
  }

  static *stepsOf({ backends, services, workloads }: Lists, former?: TargetDirectory): Steps<TargetDirectory> {
    return new TargetDirectory({
      backends: yield* Grouped.stepsOf(backends, ({ key }) => [key], former && former.#backends),
      services: yield* Grouped.stepsOf(services, (service) => [serviceKey(service)], former && former.#services),
      healthy: yield* Grouped.stepsOf(workloads, keysOfWorkload, former && former.#healthy),
    })
  }

  get workloads(): readonly Workload[] {
    return this.#healthy.list
  }

  backend(key: string): Backend | undefined {
    return this.#backends.at(key).at(-1)
  }

  service(namespace: string, hostname: string): Service | undefined {
    return this.#services.at(serviceKey({ namespace, hostname })).at(-1)
  }

  /** Its healthy workloads; the same list while they are unchanged. */
  members(namespace: string, hostname: string): readonly Workload[] {
    return this.#healthy.at(serviceKey({ namespace, hostname }))
  }

  /** In the order of the workloads. */
  addresses(namespace: string, hostname: string, port: number): ServiceAddress[] {
    return this.members(namespace, hostname).flatMap((workload) => {
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
