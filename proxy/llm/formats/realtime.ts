// The Realtime API of OpenAI: a WebSocket.
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const realtime: Format = {
  ...OPENAI,
  name: 'Realtime',
  path: '/realtime',
  transport: 'Socket',
  /** Its events are messages of a socket, never a response. */
  recognises: () => false,
}
