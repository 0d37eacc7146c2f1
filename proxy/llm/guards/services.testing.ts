// Services of guards for tests, written from the public documentation of their vendors: the moderation API of OpenAI,
// ApplyGuardrail of Amazon Bedrock, Model Armor of Google Cloud, and a webhook with any answer. Not used by the proxy.
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { closeServer, listening } from '#test/ports.ts'
import type { GuardService } from '#api/ir/types.gen.ts'
import { testService, type TestService } from '../../policy/external/service.testing.ts'
import { exchangeOf, type ExchangeParts } from '../../policy/exchange.testing.ts'
import type { NamedFilter } from '../../chain/filter.ts'
import { verifySignature, type Verified } from '../../credentials/cloud-a/verifier.testing.ts'
import { asArray, asObject, parseObject, type JsonObject } from '../json.ts'
import type { GuardEnvironment } from './external.ts'
import type { GuardedTexts, GuardPhase, TextSpan } from './guard.ts'

export interface Received {
  readonly method: string
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly json: JsonObject
}

export interface ServiceReply {
  readonly status?: number
  /** An object is sent as JSON; undefined: the service stays silent. */
  readonly body: object | string | undefined
}

export interface GuardTestService {
  readonly port: number
  readonly received: Received[]
  /** For the compilation of a guard. */
  readonly environment: Pick<GuardEnvironment, 'service' | 'vendor'>
  /** The services that guards asked for: their hosts and policies. */
  readonly vendors: { readonly host: string; readonly policies: GuardService }[]
  readonly service: TestService
  close(): void
}

/** Reads each request of a server, and answers it. */
export function answering(reply: (request: Received) => ServiceReply): RequestListener {
  return (message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const { method = '', url = '', headers } = message
      const bytes = Buffer.concat(chunks)
      const { status = 200, body } = reply({
        method,
        target: url,
        headers,
        bytes,
        json: parseObject(bytes.toString()) ?? {},
      })
      if (body === undefined) return
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  }
}

export async function guardTestService(
  reply: (request: Received) => ServiceReply,
  options: { readonly timeoutMs?: number; readonly filters?: readonly NamedFilter[] } = {},
): Promise<GuardTestService> {
  const received: Received[] = []
  const vendors: { host: string; policies: GuardService }[] = []
  const server = createServer(
    answering((request) => {
      received.push(request)
      return reply(request)
    }),
  )
  const port = await listening(server)
  const service = testService(port, { subtype: 'Guardrail', ...options })
  return {
    port,
    received,
    vendors,
    environment: {
      service: () => service.caller,
      vendor(host, policies) {
        vendors.push({ host, policies })
        return service.caller
      },
    },
    service,
    close() {
      service.close()
      closeServer(server)
    },
  }
}

/** The texts of a conversation, by default all of the user. */
export function textsOf(
  texts: readonly (string | readonly [role: TextSpan['role'], text: string])[],
  parts: ExchangeParts & {
    readonly phase?: GuardPhase
    readonly upstreamHeaders?: GuardedTexts['upstreamHeaders']
  } = {},
): GuardedTexts {
  const { phase = 'Request', upstreamHeaders, ...exchange } = parts
  const spans = texts.map((one, index) => {
    const [role, text] = typeof one === 'string' ? (['user', one] as const) : one
    return { role, text, at: `messages[${index}].content` }
  })
  return { phase, spans, exchange: exchangeOf({ method: 'POST', ...exchange }), upstreamHeaders }
}

const MODERATED = ['harassment', 'hate', 'self-harm/intent', 'violence'] as const

/** `POST /v1/moderations`: flags texts that contain `violence`. Requires the key `sk-moderation`. */
export function moderationReply({ method, target, headers, json }: Received): ServiceReply {
  if (method !== 'POST' || target !== '/v1/moderations') return openAiError(404, 'unknown URL')
  if (headers.authorization !== 'Bearer sk-moderation') return openAiError(401, 'incorrect API key')
  if (headers['content-type'] !== 'application/json') return openAiError(400, 'not JSON')
  const { input, model } = json
  const texts = typeof input === 'string' ? [input] : asArray(input)
  const areTexts = texts.length > 0 && texts.every((text) => typeof text === 'string' && text !== '')
  if (!areTexts || typeof model !== 'string') return openAiError(400, 'invalid input')
  const results = texts.map((text) => {
    const isViolent = String(text).includes('violence')
    const of = <T>(value: (name: string) => T) => Object.fromEntries(MODERATED.map((name) => [name, value(name)]))
    return {
      flagged: isViolent,
      categories: of((name) => isViolent && name === 'violence'),
      category_scores: of((name) => (isViolent && name === 'violence' ? 0.9 : 0.01)),
      category_applied_input_types: of(() => ['text']),
    }
  })
  return { body: { id: 'modr-1', model, results } }
}

function openAiError(status: number, message: string): ServiceReply {
  return { status, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } }
}

const APPLY = /^\/guardrail\/([^/]+)\/version\/([^/]+)\/apply$/
const ADDRESS = /[a-z]+@example\.com/g

/** `POST /guardrail/{id}/version/{version}/apply`: anonymises e-mail addresses, blocks texts that contain `weapon`. */
export function guardrailReply(secretOf: (keyId: string) => string, verified: Verified[] = []) {
  return ({ method, target, headers, bytes, json }: Received): ServiceReply => {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    try {
      verified.push(verifySignature({ method, target, headers: lower, body: bytes }, secretOf))
    } catch {
      return awsError(403, 'the signature does not match')
    }
    const [, identifier = ''] = APPLY.exec(target) ?? []
    if (method !== 'POST' || identifier === '') return awsError(404, 'unknown operation')
    const source = json['source']
    const content = asArray(json['content']).map((block) => asObject(asObject(block)['text'])['text'])
    const isValid = (source === 'INPUT' || source === 'OUTPUT') && content.length > 0
    if (!isValid || !content.every((text) => typeof text === 'string' && text !== '')) {
      return awsError(400, 'invalid content')
    }
    return { body: assess(content.map(String)) }
  }
}

function assess(texts: readonly string[]): object {
  const usage = {
    topicPolicyUnits: 1,
    contentPolicyUnits: 1,
    wordPolicyUnits: 0,
    sensitiveInformationPolicyUnits: 1,
    sensitiveInformationPolicyFreeUnits: 0,
    contextualGroundingPolicyUnits: 0,
  }
  const found = texts.flatMap((text) => text.match(ADDRESS) ?? [])
  const isBlocked = texts.some((text) => text.includes('weapon'))
  if (!isBlocked && found.length === 0) return { usage, action: 'NONE', outputs: [], assessments: [{}] }
  const piiEntities = found.map((match) => ({ type: 'EMAIL', match, action: 'ANONYMIZED', detected: true }))
  const topics = [{ name: 'arms', type: 'DENY', action: 'BLOCKED', detected: true }]
  return {
    usage,
    action: 'GUARDRAIL_INTERVENED',
    outputs: isBlocked ? [{ text: 'blocked' }] : texts.map((text) => ({ text: text.replace(ADDRESS, '{EMAIL}') })),
    assessments: [
      {
        sensitiveInformationPolicy: { piiEntities, regexes: [] },
        // A filter that only detects.
        contentPolicy: { filters: [{ type: 'HATE', confidence: 'LOW', action: 'NONE', detected: true }] },
        ...(isBlocked && { topicPolicy: { topics } }),
      },
    ],
  }
}

function awsError(status: number, message: string): ServiceReply {
  return { status, body: { message } }
}

const SANITIZE = /^\/v1\/projects\/p1\/locations\/[a-z0-9-]+\/templates\/t1:(sanitizeUserPrompt|sanitizeModelResponse)$/
const DATA = new Map([
  ['sanitizeUserPrompt', 'userPromptData'],
  ['sanitizeModelResponse', 'modelResponseData'],
])

/** The methods of Model Armor for the template `t1` of `p1`: matches texts that contain `ignore all instructions`. */
export function modelArmorReply({ method, target, headers, json }: Received): ServiceReply {
  const [, operation = ''] = SANITIZE.exec(target) ?? []
  if (method !== 'POST' || operation === '') return googleError(404, 'NOT_FOUND')
  if (headers.authorization !== 'Bearer google-token') return googleError(401, 'UNAUTHENTICATED')
  const text = asObject(json[DATA.get(operation) ?? ''])['text']
  if (typeof text !== 'string' || text === '') return googleError(400, 'INVALID_ARGUMENT')
  return { body: { sanitizationResult: sanitized(text.includes('ignore all instructions')) } }
}

function sanitized(isAttack: boolean): object {
  const executionState = 'EXECUTION_SUCCESS'
  const matchState = 'NO_MATCH_FOUND'
  const state = isAttack ? 'MATCH_FOUND' : matchState
  return {
    filterMatchState: state,
    invocationResult: 'SUCCESS',
    filterResults: {
      csam: { csamFilterFilterResult: { executionState, matchState } },
      pi_and_jailbreak: { piAndJailbreakFilterResult: { executionState, matchState: state } },
      sdp: { sdpFilterResult: { inspectResult: { executionState, matchState } } },
    },
  }
}

function googleError(code: number, status: string): ServiceReply {
  return { status: code, body: { error: { code, message: status, status } } }
}
