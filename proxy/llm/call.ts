// One LLM request on its way out: read, edited, translated, addressed.
import { isUtf8 } from 'node:buffer'
import { jsonExcess } from '#api/bounded-json.ts'
import type { AIProvider, RouteType } from '#api/ir/types.gen.ts'
import type { EffectiveBackendPolicies, EndpointPicker } from '../backend/handler.ts'
import type { CompiledHealth } from '../backend/health.ts'
import type { Exchange, LlmParams } from '../exchange.ts'
import { BodyTooLarge } from '../http/body.ts'
import type { HeaderList } from '../http/headers.ts'
import type { HttpResponse } from '../http/message.ts'
import type { NamedFilter } from '../plan.ts'
import type { RequestEdits } from './edits.ts'
import { decode, DecodedTooLarge, UnknownEncoding } from './encoding.ts'
import { asObject, asString, type JsonObject } from './json.ts'
import { editedText, readJsonText, type JsonText } from './json-text.ts'
import { paramsOf } from './params.ts'
import { wireFormatOf, type ProviderProfile, type WireFormat } from './provider.ts'
import { completionsToMessages } from './translate/completions-request.ts'
import { Untranslatable } from './translate/untranslatable.ts'

export interface CompiledProvider {
  readonly settings: AIProvider
  readonly profile: ProviderProfile
  readonly policies: EffectiveBackendPolicies
  readonly picker: EndpointPicker
  readonly health: CompiledHealth | undefined
  readonly edits: RequestEdits
  readonly request: readonly NamedFilter[]
  readonly response: readonly NamedFilter[]
}

export interface LlmCall {
  readonly clientFormat: WireFormat
  readonly sentFormat: WireFormat
  readonly model: string
  readonly isStreaming: boolean
  readonly params: LlmParams | undefined
  /** The client asked for a usage chunk of its own. */
  readonly includeUsage: boolean
  readonly pathAndQuery: string
  readonly headers: HeaderList
  readonly body: Buffer
}

/** Client formats that can be translated, in order of preference (data-plane supplement section 3.2). */
const TRANSLATIONS: Partial<Record<WireFormat, readonly WireFormat[]>> = { Completions: ['Completions', 'Messages'] }

const DROPPED_HEADERS = ['content-length', 'content-encoding', 'accept-encoding', 'expect']

/** The call, or the failure that the client gets. */
export async function prepareCall(
  exchange: Exchange,
  provider: CompiledProvider,
  type: RouteType,
  bodyBytesMax: number,
): Promise<LlmCall | HttpResponse> {
  const formats = chooseFormats(type, provider.profile)
  if (formats === undefined) {
    const { telemetryName } = provider.profile
    return exchange.failVisibly(
      'llmRequestInvalid',
      `unsupported conversion: from ${type} to provider ${telemetryName}`,
    )
  }
  const raw = await readBody(exchange, bodyBytesMax)
  if (!Buffer.isBuffer(raw)) return raw
  if (!isUtf8(raw)) return exchange.failVisibly('llmRequestInvalid', 'the body is not UTF-8 text')
  const text = raw.toString('utf8')
  const json = readJsonText(text)
  if (json === undefined) {
    return exchange.failVisibly('llmRequestInvalid', jsonExcess(text) ?? 'the body is not a JSON object')
  }
  const body = json.members
  const model = editBody(exchange, body, provider, formats.client)
  if (model === undefined) return exchange.failVisibly('llmRequestInvalid', 'missing field: model not specified')
  try {
    return {
      clientFormat: formats.client,
      sentFormat: formats.sent,
      model,
      isStreaming: body['stream'] === true,
      params: paramsOf(body),
      includeUsage: asObject(body['stream_options'])['include_usage'] === true,
      pathAndQuery: pathFor(exchange, provider, formats),
      headers: headersFor(exchange, provider),
      body: bodyToSend(json, raw, formats),
    }
  } catch (error) {
    if (error instanceof Untranslatable) return exchange.failVisibly('llmRequestInvalid', error.message)
    throw error
  }
}

interface Formats {
  readonly client: WireFormat
  readonly sent: WireFormat
}

/** undefined: the provider has no format that the request could be brought into. */
function chooseFormats(type: RouteType, profile: ProviderProfile): Formats | undefined {
  const client = wireFormatOf(type)
  // Realtime is a websocket, not a request with a body.
  if (client === undefined || client === 'Realtime') return undefined
  const sent = (TRANSLATIONS[client] ?? [client]).find((format) => profile.formats.has(format))
  return sent === undefined ? undefined : { client, sent }
}

/** A completions stream is always asked for usage, so that tokens are counted whatever the client wanted to see. */
function bodyToSend(json: JsonText, raw: Buffer, { client, sent }: Formats): Buffer {
  const { members, received } = json
  if (client !== sent) return Buffer.from(JSON.stringify(completionsToMessages(members)))
  if (sent === 'Completions' && members['stream'] === true) {
    members['stream_options'] = { ...asObject(members['stream_options']), include_usage: true }
  }
  const text = editedText(json)
  return text === received ? raw : Buffer.from(text)
}

async function readBody(exchange: Exchange, bytesMax: number): Promise<Buffer | HttpResponse> {
  const { body, headers } = exchange.request
  if (body === undefined) return exchange.failVisibly('llmRequestInvalid', 'the body is empty')
  try {
    const raw = Buffer.isBuffer(body) ? body : await body.collect(bytesMax)
    return await decode(raw, headers.get('content-encoding'), bytesMax)
  } catch (error) {
    if (error instanceof BodyTooLarge || error instanceof DecodedTooLarge) {
      return exchange.failVisibly('llmRequestTooLarge', error.message)
    }
    if (error instanceof UnknownEncoding) return exchange.failVisibly('llmRequestEncoding', error.message)
    return exchange.failVisibly('llmRequestInvalid', 'the body could not be read')
  }
}

/** The model to ask for; undefined when nobody names one. */
function editBody(
  exchange: Exchange,
  body: JsonObject,
  { edits, profile }: CompiledProvider,
  format: WireFormat,
): string | undefined {
  if (profile.model !== undefined) body['model'] = profile.model
  edits.apply(exchange, body)
  const asked = asString(body['model'])
  if (asked === undefined || asked === '') return undefined
  const model = edits.alias(asked)
  body['model'] = model
  edits.enrich(body, format)
  return model
}

/**
 * With a host override and no path of its own the client's path is kept, unless the request was translated: the
 * client's path then names another format.
 */
function pathFor(exchange: Exchange, provider: CompiledProvider, { client, sent }: Formats): string {
  const { settings, profile } = provider
  const { path, query } = exchange.request
  const isOwnPath = settings.pathOverride !== undefined || settings.pathPrefix !== undefined
  const keepsPath =
    settings.hostOverride !== undefined && !isOwnPath && settings.provider.custom === undefined && client === sent
  const chosen = keepsPath ? path : profile.path(sent)
  if (query === '') return chosen
  return `${chosen}${chosen.includes('?') ? '&' : '?'}${query}`
}

function headersFor(exchange: Exchange, { profile, policies }: CompiledProvider): HeaderList {
  const headers = exchange.request.headers.clone()
  for (const name of DROPPED_HEADERS) headers.remove(name)
  headers.set('content-type', 'application/json')
  headers.set('accept-encoding', 'identity')
  profile.prepareHeaders(headers, policies.auth?.location !== undefined)
  return headers
}
