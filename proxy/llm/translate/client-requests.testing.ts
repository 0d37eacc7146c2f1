// The smallest request of each client, for tests that send them to a gateway.
import type { VendorName } from './vendors.testing.ts'

const BODIES: { readonly [N in VendorName]: object } = {
  Completions: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  Messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
  Responses: { model: 'm', input: 'hi' },
  GenerateContent: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
}

const PATHS: { readonly [N in VendorName]: string } = {
  Completions: '/v1/chat/completions',
  Messages: '/v1/messages',
  Responses: '/v1/responses',
  GenerateContent: '/v1beta/models/m:generateContent',
}

/** By path suffix, for all clients. */
export const CLIENT_ROUTES = {
  '/v1/messages': 'Messages',
  '/v1/responses': 'Responses',
  ':generateContent': 'GenerateContent',
  ':streamGenerateContent': 'GenerateContent',
} as const

export interface ClientRequest {
  readonly path: string
  readonly body: string
}

export function clientRequest(from: VendorName, fields: object, isStreaming: boolean): ClientRequest {
  const streaming =
    from === 'Completions'
      ? { stream: true, stream_options: { include_usage: true } }
      : from === 'GenerateContent'
        ? {}
        : { stream: true }
  const path = PATHS[from]
  return {
    path: isStreaming ? path.replace(':generateContent', ':streamGenerateContent?alt=sse') : path,
    body: JSON.stringify({ ...BODIES[from], ...(isStreaming && streaming), ...fields }),
  }
}
