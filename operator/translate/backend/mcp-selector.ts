// MCP targets found by labels: one for each matching Service port whose appProtocol says it speaks MCP.
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { McpSelector } from '#api/v1alpha1/gwbackend.gen.ts'
import { CORE_GROUP, GW_GROUP } from '../groups.ts'
import type { Service, ServicePort } from '../kube.ts'
import { matchesSelector } from '../labels.ts'
import { namespaceLabels } from '../namespace-labels.ts'
import { namespaceOf } from '../object-ref.ts'
import { sortedBy } from '../order.ts'
import { resolveReference } from '../reference.ts'
import type { BackendContext } from './context.ts'

export interface SelectedTarget {
  readonly name: string
  readonly ref: BackendReference
  readonly protocol: 'StreamableHTTP' | 'SSE'
  readonly path?: string
}

const APP_PROTOCOLS: ReadonlyMap<string, SelectedTarget['protocol']> = new Map([
  [`${GW_GROUP}/mcp`, 'StreamableHTTP'],
  [`${GW_GROUP}/mcp-sse`, 'SSE'],
])
const PATH_ANNOTATION = `${GW_GROUP}/mcp-path`
const NAME_ANNOTATION = `${GW_GROUP}/mcp-target-name`
const TARGET_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/** More targets than this from one selector are a mistake in the labels. */
export const SELECTED_TARGETS_MAX = 128

export function selectedTargets(selector: McpSelector, path: FieldPath, context: BackendContext): SelectedTarget[] {
  const targets = matchingServices(selector, context).flatMap((service) =>
    (service.spec?.ports ?? []).flatMap((port) => targetOf(service, port, context)),
  )
  if (targets.length > SELECTED_TARGETS_MAX) {
    context.report.problems.push({
      path,
      reason: 'TooManyTargets',
      message: `the selector finds ${targets.length} MCP targets; only the first ${SELECTED_TARGETS_MAX} by name are used`,
      severity: 'warning',
    })
  }
  return sortedBy(targets, ({ name }) => name).slice(0, SELECTED_TARGETS_MAX)
}

/** Services of other namespaces count only where a ReferenceGrant lets this backend refer to them. */
function matchingServices({ namespaces, services }: McpSelector, context: BackendContext): Service[] {
  const { source, references } = context
  const { snapshot, isPermitted } = references
  return snapshot.Service.all.filter((service) => {
    const namespace = namespaceOf(service)
    const isNamespace =
      namespaces === undefined
        ? namespace === source.namespace
        : matchesSelector(namespaces, namespaceLabels(snapshot, namespace))
    if (!isNamespace || !matchesSelector(services ?? {}, service.metadata.labels)) return false
    const { name } = service.metadata
    return isPermitted({ from: source, to: { group: CORE_GROUP, kind: 'Service', namespace, name } })
  })
}

function targetOf(service: Service, port: ServicePort, { source, references }: BackendContext): SelectedTarget[] {
  const protocol = APP_PROTOCOLS.get(port.appProtocol ?? '')
  if (protocol === undefined) return []
  const { name } = service.metadata
  const resolved = resolveReference({ name, namespace: namespaceOf(service), port: port.port }, source, references)
  if (resolved.invalid !== undefined) return []
  const path = service.metadata.annotations?.[PATH_ANNOTATION]
  const wanted = service.metadata.annotations?.[NAME_ANNOTATION]
  const isNamed = wanted !== undefined && TARGET_NAME.test(wanted)
  return [
    {
      name: isNamed ? wanted : `${name}-${port.name ?? port.port}`,
      ref: resolved.ref,
      protocol,
      ...(path !== undefined && { path }),
    },
  ]
}
