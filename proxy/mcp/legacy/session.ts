// Sessions over several servers: opened by initialize, stored in the client's id, or created for one request.
import type { Exchange } from '../../exchange/exchange.ts'
import type { McpEndpoint } from '../context.ts'
import { ask, notify, onEach, type Answer, type Member } from '../fan-out.ts'
import type { JsonRpcRequest } from '../jsonrpc.ts'
import { principalOf } from '../principal.ts'
import { VERSION } from '#api/version.ts'
import { TargetError, type TargetSession } from '../targets/target.ts'
import type { McpSession } from './session-id.ts'

/** Sent by the gateway itself when it opens sessions for one request. */
const OWN_PROTOCOL_VERSION = '2025-11-25'

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
  const done = await onEach(exchange, fresh, endpoint.settings.failureMode, async (member) => {
    const answer = await ask(exchange, member, request)
    if (answer.response.error === undefined) return answer
    throw new TargetError(`${member.target.name}: initialize failed: ${answer.response.error.message}`)
  })
  const byName = new Map(done.map(({ member, value }) => [member.target.name, value]))
  const targets = endpoint.targets.map(({ name }): TargetSession => {
    const answer = byName.get(name)
    return {
      target: name,
      serverSession: answer?.serverSession,
      endpoint: answer?.endpoint,
      isSkipped: answer === undefined,
    }
  })
  const session: McpSession = { scope: scopeOf(exchange), principal: principalOf(exchange), targets }
  return { members: membersOf(endpoint, session) ?? [], answers: done.map(({ value }) => value), session }
}

/** undefined: the session belongs elsewhere or to another client, or its servers differ from those of the backend. */
export function resumeSession(
  exchange: Exchange,
  endpoint: McpEndpoint,
  session: McpSession,
): readonly Member[] | undefined {
  const isOwn = session.scope === scopeOf(exchange) && session.principal === principalOf(exchange)
  return isOwn ? membersOf(endpoint, session) : undefined
}

/** For one request of a client without sessions; end it with `endSession`. */
export async function temporarySession(exchange: Exchange, endpoint: McpEndpoint): Promise<readonly Member[]> {
  const { members } = await openSession(exchange, endpoint, {
    jsonrpc: '2.0',
    id: 'gw-initialize',
    method: 'initialize',
    params: { protocolVersion: OWN_PROTOCOL_VERSION, capabilities: {}, clientInfo: { name: 'gw', version: VERSION } },
  })
  await onEach(exchange, members, endpoint.settings.failureMode, (member) =>
    notify(exchange, member, { jsonrpc: '2.0', method: 'notifications/initialized' }),
  )
  return members
}

export async function endSession(exchange: Exchange, members: readonly Member[]): Promise<void> {
  await Promise.all(
    members.map(({ target, session }) =>
      session?.serverSession === undefined ? Promise.resolve() : target.end(exchange, session),
    ),
  )
}

function membersOf(endpoint: McpEndpoint, { targets }: McpSession): readonly Member[] | undefined {
  if (targets.length !== endpoint.targets.length) return undefined
  const members: Member[] = []
  for (const [index, session] of targets.entries()) {
    const target = endpoint.targets[index]
    if (target === undefined || target.name !== session.target) return undefined
    if (!session.isSkipped) members.push({ target, session })
  }
  return members
}

/** A session is valid only on its route and backend. */
function scopeOf({ place, backendName }: Exchange): string {
  return `${place?.gatewayNamespace}/${place?.gatewayName} ${place?.routeNamespace}/${place?.routeName} ${backendName}`
}
