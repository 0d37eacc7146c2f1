// Which rule takes a request, and why the others do not: the answer of the router of this worker, with reasons.
import type { components } from '#api/admin/types.gen.ts'
import type { Listener, RenderedConfig, Route } from '#api/ir/types.gen.ts'
import type { LazyRoute, ListenerPlan } from '../chain/plan.ts'
import { FAILURES } from '../exchange/errors.ts'
import { canonicalAuthority, hostOf } from '../message/authority.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest } from '../message/message.ts'
import { failedCondition, matchText } from '../route/explain.ts'
import type { RouterCandidate } from '../route/router.ts'
import type { RouteQuestion } from '../trace/messages.ts'
import type { BindRouting, CompiledConfig } from './compiled.ts'

type Explanation = components['schemas']['RouteExplanation']
type Candidate = components['schemas']['RouteCandidate']

const CANDIDATES_MAX = 200

/** `config`: the source of `compiled`. */
export function explainRoute(
  question: RouteQuestion,
  compiled: Pick<CompiledConfig, 'binds'>,
  config: RenderedConfig,
): Explanation {
  const bind = compiled.binds.get(question.port)
  const failure = FAILURES.listenerNotFound.text
  if (bind === undefined || bind.layer4?.kind === 'TCP') return { listeners: [], candidates: [], omitted: 0, failure }
  const request = requestOf(question, bind.routing)
  const plan = bind.routing.hosts.find(hostOf(request.host))?.value
  const listeners = listenersOf(bind.routing, hostOf(request.host))
  const selected = bind.routing.listeners.find((one) => one.plan === plan)
  if (plan === undefined || selected === undefined) return { listeners, candidates: [], omitted: 0, failure }
  return { listeners, ...routesOf(request, plan, routesByKey(config, selected.listener)) }
}

function requestOf({ method, host, path, query, headers }: RouteQuestion, { isTls }: BindRouting): HttpRequest {
  return new HttpRequest({
    method,
    host: canonicalAuthority(host.toLowerCase(), isTls),
    path,
    query,
    scheme: isTls ? 'https' : 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of(headers),
  })
}

function listenersOf({ hosts, listeners }: BindRouting, host: string): Explanation['listeners'] {
  const covering = new Set<ListenerPlan>()
  for (let level = hosts.find(host); level !== undefined; level = level.next) covering.add(level.value)
  const [first] = covering
  return listeners.map(({ listener: { key, name, hostname }, plan }) => ({
    key,
    name: name.listenerName,
    ...(hostname !== undefined && { hostname }),
    result: plan === first ? 'selected' : covering.has(plan) ? 'outranked' : 'failed',
  }))
}

function routesByKey({ routes }: RenderedConfig, { key }: Listener): ReadonlyMap<string, Route> {
  return new Map(routes.filter(({ listenerKey }) => listenerKey === key).map((route) => [route.key, route]))
}

function routesOf(
  request: HttpRequest,
  { router }: ListenerPlan,
  routes: ReadonlyMap<string, Route>,
): Omit<Explanation, 'listeners'> {
  const found = router.find(request)
  const covering = router.candidates(request)
  let isFound = false
  const candidates = covering.flatMap((candidate) => {
    const route = routes.get(candidate.value.key)
    if (route === undefined) return []
    const condition = failedCondition(candidate.match, request)
    const isSelected = condition === undefined && !isFound && candidate.value === found?.value
    isFound ||= isSelected
    return [candidateOf(route, candidate, condition ?? (isSelected ? SELECTED : OUTRANKED))]
  })
  const others = otherHosts(routes, covering)
  const all = [...candidates, ...others]
  return {
    candidates: all.slice(0, CANDIDATES_MAX),
    omitted: Math.max(0, all.length - CANDIDATES_MAX),
    ...(found === undefined ? { failure: FAILURES.routeNotFound.text } : delegated(request, found)),
  }
}

const SELECTED = { result: 'selected' } as const
const OUTRANKED = { result: 'outranked' } as const

/** `verdict`: the text of a condition that is false, or another result. */
function candidateOf(
  { key, name: { kind, namespace, name, ruleName } }: Route,
  { match, hostname }: Pick<RouterCandidate<LazyRoute>, 'match' | 'hostname'>,
  verdict: string | typeof SELECTED | typeof OUTRANKED,
): Candidate {
  return {
    key,
    kind,
    namespace,
    name,
    ...(ruleName !== undefined && { rule: ruleName }),
    ...(hostname !== undefined && { hostname }),
    match: matchText(match),
    ...(typeof verdict === 'string' ? { result: 'failed', failedCondition: verdict } : verdict),
  }
}

/** Rules of the listener whose host names do not cover the host. */
function otherHosts(routes: ReadonlyMap<string, Route>, covering: readonly RouterCandidate<LazyRoute>[]): Candidate[] {
  const known = new Set(covering.map(({ value }) => value.key))
  return [...routes.values()]
    .filter(({ key }) => !known.has(key))
    .map((route) => {
      const [match = {}] = route.matches
      return candidateOf(route, { match, hostname: undefined }, `host ${route.hostnames.join(' or ')}`)
    })
}

function delegated(
  request: HttpRequest,
  { value, matchedPrefix }: { readonly value: LazyRoute; readonly matchedPrefix: string | undefined },
): Pick<Explanation, 'delegatedTo' | 'failure'> {
  const last = value.delegate?.(request, matchedPrefix)
  if (last === undefined) return {}
  return 'failure' in last ? { failure: FAILURES[last.failure].text } : { delegatedTo: last.value.key }
}
