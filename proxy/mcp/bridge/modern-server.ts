// A server of MCP 2026-07-28 for clients of former versions: its requests get an envelope without capabilities, so that
// it asks for no input, and its notifications come from a subscription to its lists.
import { recordOf, type JsonRecord } from '#api/json.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { madeStream } from '../../message/made-stream.ts'
import { SERVER_KEY, withEnvelope } from '../envelope.ts'
import type { Answer } from '../fan-out.ts'
import { single } from '../http-reply.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  METHOD_NOT_FOUND,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../jsonrpc.ts'
import { eventsOf } from '../targets/events.ts'
import { LISTEN, LISTS, subscriptionTo } from '../subscription.ts'
import { type McpTarget, type MessageStream, TargetError, TargetHttpError, replyOf } from '../targets/target.ts'
import { LEGACY_VERSION, LEGACY_VERSIONS } from '../versions.ts'
import { discovered, eraIn } from './era.ts'

/** Nothing is left to do for the server. */
const ANSWERED: ReadonlySet<string> = new Set(['ping', 'logging/setLevel'])
/** They need a session with the server. */
const NOT_BRIDGED: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe'])

/** Without sessions: what the gateway has no counterpart for ends here. */
export function modernServer(target: McpTarget): McpTarget {
  return {
    name: target.name,
    answerMs: target.answerMs,
    send: async (exchange, message, _session, deadlineMs) => {
      // Notifications and responses of clients belong to sessions.
      if (!isRequest(message)) return replyOf(madeStream(none(), () => {}))
      const own = ownAnswer(message)
      if (own !== undefined) return replyOf(single(own))
      return target.send(exchange, withEnvelope(message), undefined, deadlineMs)
    },
    listen: async (exchange) => eventsOf(await listsOf(exchange, target)),
    end: () => Promise.resolve(),
  }
}

function ownAnswer({ id, method }: JsonRpcRequest): JsonRpcResponse | undefined {
  if (ANSWERED.has(method)) return { jsonrpc: '2.0', id, result: {} }
  if (!NOT_BRIDGED.has(method)) return undefined
  return errorResponse(id, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` })
}

/**
 * Asks a server that rejected `initialize` for its version. `failure`: its rejection.
 * @returns its answer as one to `initialize`
 * @throws `failure` if the server does not have 2026-07-28
 */
export async function introducedAsLegacy(
  exchange: Exchange,
  target: McpTarget,
  options: { readonly initialize: JsonRpcRequest; readonly failure: unknown },
): Promise<Answer> {
  const { initialize, failure } = options
  if (!isRejection(failure)) throw failure
  const request = withEnvelope({ jsonrpc: '2.0', id: initialize.id, method: 'server/discover' })
  const answer = await discovered(exchange, target, request)
  if (answer.result === undefined || eraIn(target.name, answer) === 'Legacy') throw failure
  const asked = initialize.params?.['protocolVersion']
  const protocolVersion = typeof asked === 'string' && LEGACY_VERSIONS.includes(asked) ? asked : LEGACY_VERSION
  const response: JsonRpcResponse = {
    jsonrpc: '2.0',
    id: initialize.id,
    result: { protocolVersion, ...initializeResult(answer.result) },
  }
  return { member: { target, session: undefined }, response, serverSession: undefined, endpoint: undefined }
}

/** Of `initialize`. A server that cannot be reached has rejected nothing. */
export function isRejection(failure: unknown): boolean {
  return failure instanceof TargetHttpError ? failure.status < 500 : failure instanceof InitializeRejected
}

/** The server answered `initialize` with an error. */
export class InitializeRejected extends TargetError {}

function initializeResult({ capabilities, instructions, _meta: meta }: JsonRecord): JsonRecord {
  const { resources, ...others } = recordOf(capabilities)
  return {
    capabilities: {
      ...others,
      ...(resources !== undefined && { resources: { ...recordOf(resources), subscribe: false } }),
    },
    serverInfo: recordOf(meta)[SERVER_KEY] ?? { name: 'unknown', version: '' },
    ...(instructions !== undefined && { instructions }),
  }
}

/** Changes of lists, as the server's own stream. */
async function listsOf(exchange: Exchange, target: McpTarget): Promise<MessageStream> {
  const params = { notifications: subscriptionTo(LISTS, []) }
  const request = withEnvelope({ jsonrpc: '2.0', id: 'gw-listen', method: LISTEN, params })
  const { messages } = await target.send(exchange, request, undefined)
  return madeStream(changes(messages), () => messages.cancel())
}

async function* changes(messages: MessageStream): AsyncGenerator<JsonRpcMessage> {
  for await (const message of messages) {
    if (isRequest(message) || isResponse(message) || !message.method.endsWith('/list_changed')) continue
    yield { jsonrpc: '2.0', method: message.method }
  }
}

async function* none(): AsyncGenerator<JsonRpcMessage> {
  // A reply without messages.
}
