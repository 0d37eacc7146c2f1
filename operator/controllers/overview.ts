// What the controller knows, in short, for its web UI: Gateways with their proxies, conditions that report a problem,
// and problems of objects. Never values of Secrets.
import type {
  ConditionOverview,
  ControllerOverview,
  GatewayOverview,
  ProblemOverview,
  ProxyOverview,
} from '#api/admin/controller-overview.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { VERSION } from '#api/version.ts'
import { MESH_UNAVAILABLE, SECRETS_UNAVAILABLE } from '../status/condition.ts'
import type { ObjectRef } from '../translate/object-ref.ts'
import type { Condition, StatusBody } from '../translate/object-status.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { cachedObject } from './status-writer.ts'
import { acknowledgementsOf, type World } from './world.ts'

/** Of each list. */
const ROWS_MAX = 1000
const PROXIES_MAX = 100
/** Report a problem if they are true. */
const NEGATIVE: ReadonlySet<string> = new Set([
  'Conflicted',
  'OverlappingTLSConfig',
  'PartiallyInvalid',
  MESH_UNAVAILABLE,
  SECRETS_UNAVAILABLE,
])

export function overviewOf(world: World): ControllerOverview {
  const { cache, translation, listener } = world
  const { perGateway, statuses, problems } = translation()
  return {
    version: VERSION,
    isLeading: listener !== undefined,
    objects: Object.fromEntries(cache.kinds().map((kind) => [kind, [...cache.all(kind)].length])),
    gateways: [...perGateway]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, ROWS_MAX)
      .map(([key, rendered]) => gatewayOverview(world, key, rendered)),
    conditions: statuses
      .flatMap(({ status, ...object }) => conditionsOf(status).filter(isProblem).map(conditionRow(object)))
      .slice(0, ROWS_MAX),
    problems: problems.slice(0, ROWS_MAX).map(problemRow),
  }
}

function gatewayOverview(world: World, key: string, { config }: RenderedGateway): GatewayOverview {
  // Of its kind in the cache.
  const gateway = cachedObject(world.cache, 'Gateway', key) as Gateway | undefined
  const programmed = gateway?.status?.conditions?.find(({ type }) => type === 'Programmed')
  return {
    key,
    listeners: config.listeners.length,
    routes: config.routes.length + config.tcpRoutes.length,
    backends: config.backends.length + config.services.length,
    policies: config.policies.length,
    programmed: programmed && { isTrue: programmed.status === 'True', message: programmed.message },
    proxies: gateway === undefined ? [] : proxiesOf(world, gateway),
  }
}

function proxiesOf(world: World, gateway: Gateway): ProxyOverview[] {
  const acknowledged = [...acknowledgementsOf(world, gateway)]
  const newest = acknowledged.reduce((max, [, { generation }]) => Math.max(max, generation), 0)
  return acknowledged
    .map(([pod, { generation, rejected }]) => ({
      pod,
      generation,
      isBehind: generation < newest,
      rejected: rejected?.message,
    }))
    .sort((a, b) => Number(b.isBehind) - Number(a.isBehind) || (a.pod < b.pod ? -1 : 1))
    .slice(0, PROXIES_MAX)
}

function conditionsOf(body: StatusBody): readonly Condition[] {
  const own = 'conditions' in body ? body.conditions : []
  const parts = [
    ...('listeners' in body ? body.listeners : []),
    ...('parents' in body ? body.parents : []),
    ...('ancestors' in body ? body.ancestors : []),
  ]
  return [...own, ...parts.flatMap(({ conditions }) => conditions)]
}

/** `Programmed` depends on the proxies, which translation does not know. */
function isProblem({ type, status }: Condition): boolean {
  return type !== 'Programmed' && status === (NEGATIVE.has(type) ? 'True' : 'False')
}

function conditionRow(object: ObjectRef): (condition: Condition) => ConditionOverview {
  return ({ type, status, reason, message }) => ({ object: nameOf(object), type, status, reason, message })
}

function problemRow({ object, path, reason, message, severity }: Problems[number]): ProblemOverview {
  return { object: nameOf(object), path, reason, message, severity }
}

type Problems = ReturnType<World['translation']>['problems']

function nameOf({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined || namespace === '' ? name : `${namespace}/${name}`}`
}
