// `server/discover`: the answers of all servers as one (data-plane supplement sections 4.2 and 4.4).
import type { HttpResponse } from '../../message/message.ts'
import type { McpCall } from '../context.ts'
import { GATEWAY, SERVER_KEY } from '../envelope.ts'
import { ask, onEach } from '../fan-out.ts'
import { guardRequest, guardResult } from '../guard.ts'
import { jsonAnswer } from '../http-reply.ts'
import { type Introduction, mergeCapabilities, mergeExtensions, mergeInstructions } from '../introduction.ts'
import type { JsonRpcRequest } from '../jsonrpc.ts'
import { ownResult } from '../results.ts'
import { TargetError, VersionRejected } from '../targets/target.ts'
import { SUPPORTED_VERSIONS } from '../versions.ts'

export async function discover(call: McpCall, request: JsonRpcRequest): Promise<HttpResponse> {
  const targets = call.members.map(({ target }) => target.name)
  const { params: _, ...withoutParams } = request
  const checked = await guardRequest(call, withoutParams, targets)
  if ('error' in checked) return jsonAnswer(checked)
  const introductions = await introduced(call, request)
  const result = ownResult(
    call,
    request.method,
    call.endpoint.naming.isMultiplexing ? merged(introductions) : only(introductions),
  )
  const response = await guardResult(call, { request, response: { jsonrpc: '2.0', id: request.id, result }, targets })
  return jsonAnswer(response)
}

/** A server that rejects the version fails the request under FailOpen too: its calls would fail later. */
async function introduced(call: McpCall, request: JsonRpcRequest): Promise<Introduction[]> {
  const { exchange, endpoint, members } = call
  let rejection: VersionRejected | undefined
  const answers = await onEach(exchange, members, endpoint.settings.failureMode, async (member) => {
    try {
      const { response } = await ask(exchange, member, request)
      if (response.result !== undefined) return response.result
      throw new TargetError(`${member.target.name}: server/discover failed: ${response.error?.message}`)
    } catch (error) {
      if (error instanceof VersionRejected) rejection ??= error
      throw error
    }
  })
  if (rejection !== undefined) throw rejection
  return answers.map(({ member, value }) => ({ target: member.target.name, result: value }))
}

/** Every server has these versions, natively or through the gateway: the same list as in errors about the version. */
const SUPPORTED = { supportedVersions: SUPPORTED_VERSIONS }

function only([introduction]: readonly Introduction[]): Introduction['result'] {
  return { ...introduction?.result, ...SUPPORTED }
}

function merged(introductions: readonly Introduction[]): Introduction['result'] {
  return {
    ...SUPPORTED,
    capabilities: { ...mergeCapabilities(introductions, true), ...mergeExtensions(introductions) },
    instructions: mergeInstructions(introductions),
    _meta: { [SERVER_KEY]: GATEWAY },
  }
}
