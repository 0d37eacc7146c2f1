// Sessions over several servers: opened by initialize, stored in the client's id, or created for one request.
import type { Exchange } from '../../exchange/exchange.ts'
import { InitializeRejected, introducedAsLegacy, modernServer } from '../bridge/modern-server.ts'
import type { McpEndpoint } from '../context.ts'
import { answerIn, deadlineOf, notify, onEach, type Answer, type Member } from '../fan-out.ts'
import type { JsonRpcRequest } from '../jsonrpc.ts'
import { principalOf } from '../principal.ts'
import { GATEWAY } from '../envelope.ts'
import { LEGACY_VERSION } from '../versions.ts'
import type { McpTarget, TargetSession } from '../targets/target.ts'
import type { McpSession, SessionClient } from './session-id.ts'

export interface OpenedSession {
  readonly members: readonly Member[]
  readonly answers: readonly Answer[]
  readonly session: McpSession
}

export async function openSession(
  exchange: Exchange,
  endpoint: McpEndpoint,
  request: JsonRpcRequest,
): Promise<OpenedSession> {
  const fresh = endpoint.targets.map((target): Member => ({ target, session: undefined }))
  const modern = new Set<string>()
  const opened: Answer[] = []
  const open = async (member: Member): Promise<Answer> => {
    try {
      const answer = await initializeOne(exchange, member, request)
      opened.push(answer)
      return answer
    } catch (failure) {
      const answer = await introducedAsLegacy(exchange, member.target, { initialize: request, failure })
      modern.add(member.target.name)
      return answer
    }
  }
  const done = await onEach(exchange, fresh, endpoint.settings.failureMode, open).catch((failure: unknown) => {
    // No client gets them.
    for (const answer of opened) endUnused(exchange, answer)
    throw failure
  })
  const byName = new Map(done.map(({ member, value }) => [member.target.name, value]))
  const targets = endpoint.targets.map((target) => ({
    ...sessionOf(target, byName.get(target.name)),
    isModern: modern.has(target.name),
  }))
  const session: McpSession = { scope: scopeOf(exchange), principal: principalOf(exchange), targets }
  return { members: membersOf(endpoint, session) ?? [], answers: done.map(({ value }) => value), session }
}

/** undefined: the session belongs elsewhere or to another client, or its servers changed and none can join. */
export function resumeSession(
  exchange: Exchange,
  endpoint: McpEndpoint,
  session: McpSession,
): readonly Member[] | undefined {
  const isOwn = session.scope === scopeOf(exchange) && session.principal === principalOf(exchange)
  return isOwn ? membersOf(endpoint, session, session.client !== undefined) : undefined
}

/** With one server, for one request of a client without sessions. */
export async function openTemporary(exchange: Exchange, target: McpTarget): Promise<TargetSession> {
  const { session } = await openOwn(exchange, target)
  return session
}

/** A session of the gateway itself; without capabilities, so that the server asks for nothing. */
export function openOwn(exchange: Exchange, target: McpTarget): Promise<OwnSession> {
  return openFor(exchange, target, { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: GATEWAY })
}

export interface OwnSession {
  readonly session: TargetSession
  readonly answer: Answer
}

/** A session that the gateway opens for a client. */
export async function openFor(exchange: Exchange, target: McpTarget, client: SessionClient): Promise<OwnSession> {
  const answer = await initializeOne(exchange, { target, session: undefined }, initializeOf(client))
  return initialized(exchange, target, answer)
}

/** As `openFor`; the server may have MCP 2026-07-28 only. */
export async function joinFor(exchange: Exchange, target: McpTarget, client: SessionClient): Promise<OwnSession> {
  const initialize = initializeOf(client)
  let isModern = false
  const answer = await initializeOne(exchange, { target, session: undefined }, initialize).catch((failure: unknown) => {
    isModern = true
    return introducedAsLegacy(exchange, target, { initialize, failure })
  })
  return isModern
    ? { answer, session: { ...sessionOf(target, answer), isModern } }
    : initialized(exchange, target, answer)
}

async function initialized(exchange: Exchange, target: McpTarget, answer: Answer): Promise<OwnSession> {
  const session = sessionOf(target, answer)
  try {
    await notify(exchange, { target, session }, { jsonrpc: '2.0', method: 'notifications/initialized' })
  } catch (error) {
    endUnused(exchange, answer)
    throw error
  }
  return { session, answer }
}

function initializeOf(client: SessionClient): JsonRpcRequest {
  return { jsonrpc: '2.0', id: 'gw-initialize', method: 'initialize', params: { ...client } }
}

async function initializeOne(exchange: Exchange, member: Member, request: JsonRpcRequest): Promise<Answer> {
  const { target } = member
  const reply = await target.send(exchange, request, undefined, deadlineOf(target))
  try {
    const answer = await answerIn(exchange, member, { request, reply })
    const { error } = answer.response
    if (error === undefined) return answer
    throw new InitializeRejected(`${target.name}: initialize failed: ${error.message}`)
  } catch (error) {
    endUnused(exchange, { member, ...reply })
    throw error
  }
}

type Opened = Pick<Answer, 'member' | 'serverSession' | 'endpoint'>

/** Does not wait for the end. */
function endUnused(exchange: Exchange, opened: Opened): void {
  const { target } = opened.member
  void endSession(exchange, [{ target, session: sessionOf(target, opened) }])
}

/** `answer` undefined: the server failed, and the session continues without it. */
function sessionOf({ name }: McpTarget, answer: Omit<Opened, 'member'> | undefined): TargetSession {
  return {
    target: name,
    serverSession: answer?.serverSession,
    endpoint: answer?.endpoint,
    isSkipped: answer === undefined,
    isModern: false,
  }
}

export async function endSession(exchange: Exchange, members: readonly Member[]): Promise<void> {
  await Promise.all(
    members.map(({ target, session }) =>
      session?.serverSession === undefined ? Promise.resolve() : target.end(exchange, session),
    ),
  )
}

/** `withSkipped`: with targets that failed at `initialize`. */
function membersOf(endpoint: McpEndpoint, session: McpSession, withSkipped = false): readonly Member[] | undefined {
  const known = hasItsServers(endpoint, session) ? session.targets : sessionsNow(endpoint, session)
  if (known === undefined) return undefined
  const members: Member[] = []
  for (let index = 0; index < endpoint.targets.length; index++) {
    const target = endpoint.targets[index]
    const own = known[index]
    if (target === undefined || own === undefined || (own.isSkipped && !withSkipped)) continue
    members.push({ target: own.isModern ? modernServer(target) : target, session: own })
  }
  return members
}

/** Whether the servers of the backend are those of the session. */
export function hasItsServers({ targets }: McpEndpoint, session: McpSession): boolean {
  const own = session.targets
  if (own.length !== targets.length) return false
  for (let index = 0; index < own.length; index++) if (own[index]?.target !== targets[index]?.name) return false
  return true
}

/** An added server joins the session as one that was down at its start. undefined: none can join. */
function sessionsNow({ targets }: McpEndpoint, session: McpSession): readonly TargetSession[] | undefined {
  if (session.client === undefined) return undefined
  const known = new Map(session.targets.map((one) => [one.target, one]))
  return targets.map((target) => known.get(target.name) ?? sessionOf(target, undefined))
}

/** A session is valid only on its route and backend. */
export function scopeOf({ place, backendName }: Exchange): string {
  if (last !== undefined && last.place === place && last.backendName === backendName) return last.scope
  const gateway = `${place?.gatewayNamespace}/${place?.gatewayName}`
  const scope = `${gateway} ${place?.routeNamespace}/${place?.routeName} ${backendName}`
  last = { place, backendName, scope }
  return scope
}

/** Most requests of a worker are for the place of the last one. */
let last: (Pick<Exchange, 'place' | 'backendName'> & { readonly scope: string }) | undefined
