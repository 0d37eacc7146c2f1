// One chat-completions request, without an SDK: for cases that check status and headers.
import type { Answer } from './ask.ts'
import type { SampleGateway } from './gateway.ts'

export interface ChatOptions {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

export function chat(gateway: SampleGateway, content: string, options: ChatOptions = {}): Promise<Answer> {
  const { path = '/v1/chat/completions', headers = {} } = options
  const body = JSON.stringify({ model: 'any', messages: [{ role: 'user', content }] })
  return gateway.ask(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
}
