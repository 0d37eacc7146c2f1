// The messages in the HTTP response of a server: one as JSON, or a stream of events.
import { jsonExcess } from '#api/bounded-json.ts'
import { onlyEventData, SseParser } from '../../http/sse.ts'
import { BodyAborted, BodyTooLarge, type StreamBody } from '../../message/body.ts'
import { arrivedBody } from '../../message/arrived-body.ts'
import { madeStream } from '../../message/made-stream.ts'
import { readRest } from '../../message/unread-rest.ts'
import type { UpstreamResponse } from '../../upstream/target.ts'
import { EVENT_STREAM } from '../http-reply.ts'
import { isResponse, parseMessage, type JsonRpcMessage } from '../jsonrpc.ts'
import type { Later } from '../later.ts'
import { type EventStream, MESSAGE_BYTES_MAX, type ServerEvent, TargetError, type WholeMessage } from './target.ts'

/**
 * The response to a notification has no content: it is read only if it is a stream. `arrived`: the body, if it has been
 * read.
 */
export function eventsIn(name: string, { body }: UpstreamResponse, arrived?: Buffer | string): EventStream {
  if (arrived !== undefined) return madeStream(read(name, [Buffer.from(arrived)]), () => {})
  const progress = { hasResponse: false }
  return madeStream(read(name, body, progress), () => {
    // The server ends its stream soon after the response.
    if (progress.hasResponse) readRest(body)
    else body.cancel()
  })
}

/** As `eventsIn`, also for a response in JSON; it is read with the events. */
export function eventsOrWhole(name: string, response: UpstreamResponse, arrived?: Buffer | string): EventStream {
  if (isStream(response)) return eventsIn(name, response, arrived)
  return madeStream(readWhole(name, response, arrived), () => response.body.cancel())
}

async function* readWhole(
  name: string,
  response: UpstreamResponse,
  arrived: Buffer | string | undefined,
): AsyncGenerator<ServerEvent> {
  const whole = await wholeOf(name, response, arrived)
  if (whole !== undefined) yield { message: whole.message }
}

function isStream({ headers }: UpstreamResponse): boolean {
  return headers.get('content-type')?.startsWith(EVENT_STREAM) === true
}

/** The response to a request, if the server sends nothing else; undefined: it sends a stream, or nothing. */
export function wholeReply(
  name: string,
  response: UpstreamResponse,
  arrived: Buffer | string | undefined,
): Later<WholeMessage | undefined> {
  if (!isStream(response)) return wholeOf(name, response, arrived)
  return arrived === undefined ? undefined : onlyResponseIn(arrived)
}

/**
 * The response in a stream that has arrived and holds nothing else: as the same response in JSON. undefined: the stream
 * has to be read event by event.
 */
function onlyResponseIn(arrived: Buffer | string): WholeMessage | undefined {
  const data = onlyEventData(arrived.toString('utf8'))
  const message = data === undefined ? undefined : parseMessage(data)
  if (data === undefined || message === undefined || !isResponse(message)) return undefined
  return { message, text: typeof arrived === 'string' ? data : Buffer.from(data) }
}

/** `arrived`: the body, if it has been read. undefined: no content. */
function wholeOf(
  name: string,
  { body }: UpstreamResponse,
  arrived = arrivedBody(body, MESSAGE_BYTES_MAX),
): Later<WholeMessage | undefined> {
  return arrived === undefined ? collected(name, body) : wholeIn(name, arrived)
}

function wholeIn(name: string, text: Buffer | string): WholeMessage | undefined {
  return text.length === 0 ? undefined : { message: messageOf(name, text.toString('utf8')), text }
}

async function collected(name: string, body: StreamBody): Promise<WholeMessage | undefined> {
  try {
    return wholeIn(name, await body.collect(MESSAGE_BYTES_MAX))
  } catch (error) {
    body.cancel()
    if (error instanceof BodyTooLarge || error instanceof BodyAborted)
      throw new TargetError(`${name}: ${error.message}`)
    throw error
  }
}

/** Official servers that send their events again send those without a message so. */
const NO_MESSAGE = '{}'

async function* read(
  name: string,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  progress = { hasResponse: false },
): AsyncGenerator<ServerEvent> {
  const parser = new SseParser(MESSAGE_BYTES_MAX)
  for await (const chunk of chunks) {
    for (const { data, id, retryMs } of parser.push(chunk)) {
      if (data !== '' && data !== NO_MESSAGE) {
        const message = messageOf(name, data)
        progress.hasResponse ||= isResponse(message)
        yield { message, id, retryMs }
      } else if (id !== undefined || retryMs !== undefined) yield { message: undefined, id, retryMs }
    }
  }
}

function messageOf(name: string, text: string): JsonRpcMessage {
  const message = parseMessage(text)
  if (message === undefined) throw new TargetError(`${name}: ${unreadable(text)}`)
  return message
}

/** Why the text is not a message. */
export function unreadable(text: string): string {
  const excess = jsonExcess(text)
  if (excess !== undefined) return `a message of the server cannot be read: ${excess}`
  return 'the server sent something that is not a JSON-RPC message'
}
