// What the controller knows, in short, for its web UI: Gateways with their proxies, conditions that report a problem,
// and problems of objects; for all Gateways, or for one. Never values of Secrets.
import { randomUUID } from 'node:crypto'
import type {
  ControllerOverview,
  GatewayDetail,
  GatewayOverview,
  ProblemOverview,
  ProxyOverview,
} from '#api/admin/controller-overview.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { VERSION } from '#api/version.ts'
import type { ObjectProblem, RenderedGateway } from '../translate/translation.ts'
import { concernedObjects } from './concerned-objects.ts'
import { objectText, reportedConditions } from './reported-conditions.ts'
import { cachedObject } from './status-writer.ts'
import { acknowledgementsOf, type World } from './world.ts'

/** Of each list. */
const ROWS_MAX = 1000
const PROXIES_MAX = 100

/** `pending`: what readiness waits for. */
export function overviewOf(world: World, pending: readonly string[]): ControllerOverview {
  const { cache, translation, listener } = world
  const { perGateway, statuses, problems } = translation()
  const conditions = statuses.flatMap(reportedConditions)
  return {
    version: VERSION,
    isLeading: listener !== undefined,
    pending,
    objects: Object.fromEntries(cache.kinds().map((kind) => [kind, [...cache.all(kind)].length])),
    totals: { gateways: perGateway.size, conditions: conditions.length, problems: problems.length },
    gateways: [...perGateway]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, ROWS_MAX)
      .map(([key, rendered]) => gatewayOverview(world, key, rendered)),
    conditions: conditions.slice(0, ROWS_MAX).map(({ row }) => row),
    problems: problems.slice(0, ROWS_MAX).map(problemRow),
  }
}

/** `key`: `namespace/name`; undefined: the controller serves no such Gateway. */
export function gatewayDetail(world: World, key: string): GatewayDetail | undefined {
  const { perGateway, statuses, problems } = world.translation()
  const rendered = perGateway.get(key)
  if (rendered === undefined) return undefined
  const { objects, isOfGateway } = concernedObjects(world, key, rendered.config)
  const conditions = statuses.flatMap((status) => reportedConditions(status).filter(isOfGateway))
  return {
    gateway: gatewayOverview(world, key, rendered),
    conditions: conditions.slice(0, ROWS_MAX).map(({ row }) => row),
    problems: problems
      .filter(({ object }) => objects.has(objectText(object)))
      .slice(0, ROWS_MAX)
      .map(problemRow),
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
    addresses: (gateway?.status?.addresses ?? []).map(({ value }) => value),
    programmed: programmed && {
      isTrue: programmed.status === 'True',
      message: programmed.message,
      since: programmed.lastTransitionTime,
    },
    proxies: gateway === undefined ? [] : proxiesOf(world, gateway),
    revision: revisionOf(config),
  }
}

/** An unchanged configuration stays the same object. */
const REVISIONS = new WeakMap<RenderedConfig, string>()

function revisionOf(config: RenderedConfig): string {
  const known = REVISIONS.get(config) ?? randomUUID()
  REVISIONS.set(config, known)
  return known
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

function problemRow({ object, path, reason, message, severity }: ObjectProblem): ProblemOverview {
  return { object: objectText(object), path, reason, message, severity }
}
