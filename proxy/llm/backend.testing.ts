// LLM backends on this thread, with a provider that answers at once; for tests and benchmarks, not used by the proxy.
import type { AIPolicy, AIProvider, OfferedModel, RouteType } from '#api/ir/types.gen.ts'
import type { BackendEnvironment, Endpoint, EndpointPicker } from '../backend/handler.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import type { BackendHandler } from '../chain/handler.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OutgoingBody, StreamBody } from '../message/body.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import { expression } from '../policy/exchange.testing.ts'
import type { CallOutcome, UpstreamRequest } from '../upstream/target.ts'
import { compileAiBackend } from './backend.ts'
import { compileModels } from './models.ts'

const BODY_BYTES_MAX = 2 ** 21
/** A response in the completions and in the messages format. */
const ANSWER = Buffer.from(
  '{"choices":[{"message":{"content":"x"}}],"content":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
)
const JSON_HEADERS = HeaderList.of([['content-type', 'application/json']])

// Only the called members of the interfaces exist: a test that calls others fails with a TypeError.
const ENDPOINT = {
  target: {},
  authority: 'x',
  label: 'x',
  score: 1,
  state: {},
  begin() {},
  end() {},
} as unknown as Endpoint
const ANSWER_BODY = { tryCollect: () => Promise.resolve(ANSWER), cancel() {} } as unknown as StreamBody

const PICKER: EndpointPicker = {
  isHostname: false,
  pick: () => ENDPOINT,
  other: () => undefined,
  hasActive: () => true,
  find: () => undefined,
}

const ROUTES: Readonly<Record<string, RouteType>> = {
  '/v1/chat/completions': 'Completions',
  '/v1/messages': 'Messages',
  '*': 'Passthrough',
}

export type BodySeen = (body: OutgoingBody) => void

/** `seen` gets the body of each call of the provider. */
export function llmBackend(provider: AIProvider['provider'], ai: AIPolicy, seen: BodySeen): BackendHandler {
  const policies: EffectiveBackend = { ai: { routes: ROUTES, ...ai }, mcpAuthorization: [] }
  const client = {
    call(_target: unknown, { body }: UpstreamRequest, _options: unknown, outcome: CallOutcome): void {
      seen(body)
      queueMicrotask(() => outcome.answered({ status: 200, headers: JSON_HEADERS, body: ANSWER_BODY }))
    },
    forward(exchange: Exchange, _target: unknown, _authority: string, done: (exchange: Exchange) => void): void {
      seen(exchange.request.body)
      exchange.response = HttpResponse.local(200, '')
      done(exchange)
    },
  }
  const environment = {
    client,
    resolveAddress: () => PICKER,
    sectionPolicies: () => policies,
    health: () => undefined,
    filters: () => ({ request: [], response: [] }),
    expression,
    bufferBytesMax: BODY_BYTES_MAX,
    textReads: { request: false, response: false },
  } as unknown as BackendEnvironment
  return compileAiBackend({ groups: [{ providers: [{ name: 'p', provider }] }] }, policies, environment)
}

/** The models of a listener, before these backends. */
export function offeringModels(
  models: OfferedModel[],
  backends: Readonly<Record<string, BackendHandler>>,
): BackendHandler {
  const handlerOf = (key: string): BackendHandler => {
    const handler = backends[key]
    if (handler === undefined) throw new Error(`no backend ${key}`)
    return handler
  }
  return compileModels({ models }, { expression, bufferBytesMax: BODY_BYTES_MAX, handlerOf, isServed: () => true })
}
