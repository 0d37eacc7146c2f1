// Requests through a listener of the gateway, by `/debug/send` of the admin server: a browser does not let a page call
// a listener, which is another origin.
import type { components } from '#api/admin/types.gen.ts'
import { ApiError, ask, type TraceEvent } from './api.ts'

export type GatewayRequest = components['schemas']['PageRequest']
type Frame = components['schemas']['SendFrame']

export interface GatewayAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** As it arrives. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>
}

export interface CallOptions {
  readonly signal: AbortSignal
  /** Also after the end of the body. */
  readonly onEvent: (event: TraceEvent) => void
}

/** Resolves with the head of the response. @throws {ApiError} */
export async function callGateway(request: GatewayRequest, { signal, onEvent }: CallOptions): Promise<GatewayAnswer> {
  const { body } = await ask('debug/send', { signal, isStream: true, body: request })
  if (body === null) throw new ApiError('the proxy sent no response')
  const frames = framesOf(body)
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done === true) throw new ApiError('the proxy ended the connection')
    if (frame.type === 'trace' && frame.event !== undefined) onEvent(frame.event)
    else if (frame.type === 'head') {
      const { status = 0, headers = [] } = frame
      return { status, headers: pairsOf(headers), body: bodyOf(frames, onEvent) }
    } else if (frame.type === 'error') throw new ApiError(frame.message ?? 'the request failed')
  }
}

function pairsOf(headers: readonly (readonly string[])[]): [string, string][] {
  return headers.map(([name = '', value = '']) => [name, value])
}

function bodyOf(
  frames: AsyncGenerator<Frame, undefined>,
  onEvent: CallOptions['onEvent'],
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const { value: frame, done } = await frames.next()
        if (done === true || frame.type === 'error') {
          controller.error(new ApiError(frame?.message ?? 'the proxy ended the connection'))
          return
        }
        if (frame.type === 'trace' && frame.event !== undefined) onEvent(frame.event)
        else if (frame.type === 'end') {
          controller.close()
          return
        } else if (frame.type === 'body') {
          controller.enqueue(Uint8Array.from(atob(frame.data ?? ''), (character) => character.charCodeAt(0)))
          return
        }
      }
    },
    cancel: async () => {
      await frames.return(undefined)
    },
  })
}

async function* framesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Frame, undefined> {
  for await (const line of linesOf(body)) if (line !== '') yield JSON.parse(line) as Frame // api/admin/openapi.yaml
  return undefined
}

/** Without their ends. */
export async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, undefined> {
  const texts = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await texts.read()
      if (done) break
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield line.replace(/\r$/, '')
    }
    if (rest !== '') yield rest
  } finally {
    await texts.cancel()
  }
  return undefined
}

export async function textOf({ body }: Pick<GatewayAnswer, 'body'>): Promise<string> {
  const lines: string[] = []
  for await (const line of linesOf(body)) lines.push(line)
  return lines.join('\n')
}
