// MCP targets found by labels: one for each matching Service port whose appProtocol names MCP.
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { FieldPath, Problem } from '#api/problem.ts'
import type { McpSelector } from '#api/v1alpha1/gwbackend.gen.ts'
import { CORE_GROUP, GW_GROUP } from '../groups.ts'
import type { Service, ServicePort } from '../kube.ts'
import { matchesSelector } from '../labels.ts'
import { namespaceLabels } from '../namespace-labels.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'
import { compareText, sortedBy } from '../order.ts'
import { resolveReference } from '../service/reference.ts'
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
const SELECTED_TARGETS_MAX = 128

export function selectedTargets(selector: McpSelector, path: FieldPath, context: BackendContext): SelectedTarget[] {
  const { granted, refused } = matchingServices(selector, context)
  const targets: SelectedTarget[] = []
  for (const service of granted) targets.push(...targetsOf(service, path, context))
  if (refused.length > 0) warn(context, { path: `${path}.namespaces`, ...notPermitted(refused, context) })
  if (targets.length > SELECTED_TARGETS_MAX) {
    const message = `the selector matches ${targets.length} MCP targets; only the first ${SELECTED_TARGETS_MAX} by name are used`
    warn(context, { path, reason: 'TooManyTargets', message })
  }
  return sortedBy(targets, ({ name }) => name).slice(0, SELECTED_TARGETS_MAX)
}

function warn({ report }: BackendContext, problem: Omit<Problem, 'severity'>): void {
  report.problems.push({ ...problem, severity: 'warning' })
}

interface MatchingServices {
  readonly granted: readonly Service[]
  /** MCP servers of other namespaces that need a ReferenceGrant for this backend and have none. */
  readonly refused: readonly Service[]
}

function matchingServices({ namespaces, services }: McpSelector, context: BackendContext): MatchingServices {
  const { source, references } = context
  const { snapshot, refusalOf } = references
  const granted: Service[] = []
  const refused: Service[] = []
  for (const service of snapshot.Service.all) {
    const namespace = namespaceOf(service)
    const isNamespace =
      namespaces === undefined
        ? namespace === source.namespace
        : matchesSelector(namespaces, namespaceLabels(snapshot, namespace))
    if (!isNamespace || !matchesSelector(services ?? {}, service.metadata.labels) || !isServer(service)) continue
    const { name } = service.metadata
    const refusal = refusalOf({ from: source, to: { group: CORE_GROUP, kind: 'Service', namespace, name } })
    if (refusal === undefined) granted.push(service)
    else refused.push(service)
  }
  return { granted, refused }
}

function isServer({ spec }: Service): boolean {
  return (spec?.ports ?? []).some(({ appProtocol }) => APP_PROTOCOLS.has(appProtocol ?? ''))
}

/** Further ones are counted. */
const NAMES_MAX = 8

function notPermitted(refused: readonly Service[], { source }: BackendContext): Pick<Problem, 'reason' | 'message'> {
  const names = refused.map(keyOf).sort(compareText)
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : ''
  const message =
    `matching Services are ignored: ${names.slice(0, NAMES_MAX).join(', ')}${more} not accessible to a ` +
    `${source.kind} in namespace ${source.namespace}; add a ReferenceGrant in their namespace`
  return { reason: 'RefNotPermitted', message }
}

function targetsOf(service: Service, path: FieldPath, context: BackendContext): SelectedTarget[] {
  return (service.spec?.ports ?? []).flatMap((port) => {
    const protocol = APP_PROTOCOLS.get(port.appProtocol ?? '')
    return protocol === undefined ? [] : targetOf(service, { port, protocol, path }, context)
  })
}

interface ServerPort {
  readonly port: ServicePort
  readonly protocol: SelectedTarget['protocol']
  /** Of the selector. */
  readonly path: FieldPath
}

function targetOf(service: Service, server: ServerPort, context: BackendContext): SelectedTarget[] {
  const { port, protocol, path } = server
  const { name, annotations = {} } = service.metadata
  const wanted = { name, namespace: namespaceOf(service), port: port.port }
  const { ref, invalid } = resolveReference(wanted, context.source, context.references)
  if (invalid !== undefined) {
    warn(context, {
      path,
      reason: invalid.reason,
      message: `Service ${keyOf(service)} is ignored: ${invalid.message}`,
    })
    return []
  }
  const url = annotations[PATH_ANNOTATION]
  const given = annotations[NAME_ANNOTATION]
  const isNamed = given !== undefined && TARGET_NAME.test(given)
  return [
    {
      name: isNamed ? given : `${name}-${port.name ?? port.port}`,
      ref,
      protocol,
      ...(url !== undefined && { path: url }),
    },
  ]
}
