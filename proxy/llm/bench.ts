// CPU time of a chat request through the models of a listener to the call of its provider: `node proxy/llm/bench.ts`.
import type { GuardBuiltin } from '#api/ir/types.gen.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { llmBackend, offeringModels } from './backend.testing.ts'

const BODY_BYTES = 16 * 1024
const CALLS = 5000
const ROUNDS = 5

const BUILTINS: GuardBuiltin[] = ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin']
const TEXT = 'The quick brown fox jumps over the lazy dog, "twice"; then it sleeps.\n'

function chatBody(more: object = {}): string {
  const messages: object[] = [{ role: 'system', content: 'You are brief.' }]
  let text = ''
  do {
    messages.push({ role: messages.length % 2 === 1 ? 'user' : 'assistant', content: TEXT.repeat(6) })
    text = JSON.stringify({ model: 'gpt-5', temperature: 0.2, messages, ...more })
  } while (text.length < BODY_BYTES)
  return text
}

const openai = llmBackend({ openai: {} }, {}, () => {})
const guarded = llmBackend(
  { openai: {} },
  {
    promptGuard: { request: [{ rejection: { status: 403, body: '' }, regex: { action: 'Mask', builtins: BUILTINS } }] },
  },
  () => {},
)
const anthropic = llmBackend({ anthropic: {} }, {}, () => {})
const virtual = offeringModels([{ name: 'gpt-5', weighted: [{ backend: 'openai', model: 'gpt-5-mini', weight: 1 }] }], {
  openai,
})
const modelOf = (backend: BackendHandler): BackendHandler =>
  offeringModels([{ name: 'gpt-5', backend: 'only' }], { only: backend })

const CHAT = '/v1/chat/completions'

const cases: readonly (readonly [string, BackendHandler, string, path?: string])[] = [
  ['a backend without models, as it is', openai, chatBody()],
  ['a backend with a guard of all built-in patterns, as it is', guarded, chatBody()],
  ['a model, as it is', modelOf(openai), chatBody()],
  ['a model, streaming: usage asked for', modelOf(openai), chatBody({ stream: true })],
  ['a virtual model: another model asked for', virtual, chatBody()],
  ['a model, translated to messages', modelOf(anthropic), chatBody({ max_tokens: 9 })],
  ['a model, translated from messages', modelOf(openai), chatBody({ max_tokens: 9 }), '/v1/messages'],
]

async function call(handler: BackendHandler, body: string, path: string): Promise<void> {
  const headers: [string, string][] = [['content-type', 'application/json']]
  const exchange = exchangeOf({ method: 'POST', path, headers, body })
  await new Promise<void>((resolve) => handler(exchange, () => resolve()))
  if (exchange.failure !== undefined) throw new Error(exchange.errorDetail)
}

for (const [name, handler, body, path = CHAT] of cases) {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage()
    for (let i = 0; i < CALLS; i++) await call(handler, body, path)
    const { user, system } = process.cpuUsage(start)
    best = Math.min(best, user + system)
  }
  console.log(`${(best / CALLS).toFixed(1).padStart(8)} µs  ${name} (${body.length} bytes)`)
}
