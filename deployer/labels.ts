// Labels and annotations of everything that belongs to a Gateway. What selects the pods never changes.
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { METRICS_PORT } from '#api/delivery/pod-contract.ts'
import type { DeployProblem } from './input.ts'
import { refOf } from './kube-object.ts'

export type Strings = Readonly<Record<string, string>>

export interface Labels {
  /** Of pods, and what selects them. Immutable in a cluster. */
  readonly selector: Strings
  readonly objects: Strings
  readonly pods: Strings
  /** From the Gateway's infrastructure. */
  readonly annotations: Strings
  readonly podAnnotations: Strings
}

export const CLASS_NAME_LABEL = 'gateway.networking.k8s.io/gateway-class-name'
/** The controller watches its objects by it, and knows by it those that lost their owner reference. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by'
const VERSION_LABEL = 'app.kubernetes.io/version'
const MANAGED_BY = 'gw'
/** Keys below it belong to Gateway API. */
export const RESERVED_PREFIX = 'gateway.networking.k8s.io/'

const SELECTING: ReadonlySet<string> = new Set(['app.kubernetes.io/name', 'app.kubernetes.io/instance'])

/** Of all objects but pods. */
const OF_CONTROLLER: ReadonlySet<string> = new Set([MANAGED_BY_LABEL, VERSION_LABEL])

const MESH_POD_LABELS: Strings = { 'istio.io/dataplane-mode': 'none', 'sidecar.istio.io/inject': 'false' }

const SCRAPE_ANNOTATIONS: Strings = {
  'prometheus.io/scrape': 'true',
  'prometheus.io/port': String(METRICS_PORT),
  'prometheus.io/path': '/metrics',
}

export function labelsOf(gateway: Gateway, options: { readonly version: string; readonly isInMesh: boolean }): Labels {
  const name = safeName(gateway.metadata.name)
  const selector = {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/instance': name,
    [GATEWAY_NAME_LABEL]: name,
  }
  const className = { [CLASS_NAME_LABEL]: safeName(gateway.spec.gatewayClassName) }
  const infrastructure = withoutReserved(gateway.spec.infrastructure?.labels)
  const annotations = withoutReserved(gateway.spec.infrastructure?.annotations)
  return {
    selector,
    objects: {
      ...infrastructure,
      ...selector,
      [MANAGED_BY_LABEL]: MANAGED_BY,
      [VERSION_LABEL]: labelValue(options.version),
      ...className,
    },
    pods: { ...(options.isInMesh ? MESH_POD_LABELS : {}), ...infrastructure, ...selector, ...className },
    annotations,
    podAnnotations: { ...SCRAPE_ANNOTATIONS, ...annotations },
  }
}

/** Labels of the infrastructure that would change which pods and objects belong to the Gateway. They are left out. */
export function infrastructureProblems(gateway: Gateway): DeployProblem[] {
  const name = safeName(gateway.metadata.name)
  return Object.entries(gateway.spec.infrastructure?.labels ?? {}).flatMap(([key, value]) => {
    if (SELECTING.has(key) && value !== name) {
      const message = `the label ${key} selects the pods of the Gateway and keeps its value; use another key`
      return [infrastructureProblem(gateway, key, message)]
    }
    if (!OF_CONTROLLER.has(key)) return []
    const message = `the label ${key} of the objects keeps the controller's value, only pods get this value; use another key`
    return [infrastructureProblem(gateway, key, message)]
  })
}

function infrastructureProblem(gateway: Gateway, key: string, message: string): DeployProblem {
  const path = `spec.infrastructure.labels[${key}]`
  return { object: refOf(gateway), path, reason: 'InvalidInfrastructure', message, severity: 'warning' }
}

function withoutReserved(given: Strings | undefined): Strings {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => !key.startsWith(RESERVED_PREFIX)))
}

/** Versions may hold what labels cannot, such as `+`. */
function labelValue(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 63)
}
