// One LLM request before it is sent: read, edited, translated, addressed.
import type { AIProvider } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import type { EndpointPicker } from '../backend/handler.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { HealthRule, TextReads } from '../exchange/slots.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmParams } from '../exchange/facts.ts'
import { textBody } from '../message/arrived-body.ts'
import { changed, type DerivedByKey } from '../message/derived-headers.ts'
import type { HeaderList } from '../message/headers.ts'
import type { HttpResponse } from '../message/message.ts'
import type { FetchedCredential, NamedFilter } from '../chain/filter.ts'
import type { RequestEdits } from './edits.ts'
import type { GuardChains } from './guards/chain.ts'
import { checkRequest } from './guards/request.ts'
import type { CredentialKind } from './credential-kind.ts'
import { asString, type JsonObject } from './json.ts'
import type { ClientFraming, Format, UrlFields } from './formats/format.ts'
import type { RequestFacts } from './providers/provider.ts'
import type { ProviderProfile } from './providers/table.ts'
import { readRequestJson, RequestJson, takeRequestJson, type BodyFault } from './request-json.ts'
import type { Conversion } from './translate/table.ts'
import { DroppedFields } from './translate/dropped-fields.ts'
import { ToolNames } from './translate/tool-names.ts'
import { Untranslatable } from './translate/untranslatable.ts'
import { recordPrompt } from './texts.ts'
import { chargePrompt } from './tokens/charge-prompt.ts'
import { answerCount } from './tokens/own-count.ts'

export interface CompiledProvider {
  readonly settings: AIProvider
  readonly profile: ProviderProfile
  readonly policies: EffectiveBackend
  readonly picker: EndpointPicker
  /** For rerank requests; undefined: `picker`. */
  readonly rerankPicker?: EndpointPicker | undefined
  readonly health: HealthRule | undefined
  readonly edits: RequestEdits
  /** undefined: no guard checks requests or responses. */
  readonly guards: GuardChains | undefined
  readonly request: readonly NamedFilter[]
  readonly response: readonly NamedFilter[]
  readonly fetched: FetchedCredential | undefined
  readonly textReads: TextReads
  readonly credential: CredentialKind
  readonly requestHeaders: DerivedByKey<Conversion>
  /** By the content type that the proxy sets; undefined: it keeps that of the provider. */
  readonly answerHeaders: DerivedByKey<string | undefined>
}

export interface LlmCall {
  readonly conversion: Conversion
  readonly model: string
  readonly isStreaming: boolean
  readonly params: LlmParams | undefined
  /** Of a stream for the client. */
  readonly framing: ClientFraming
  /** The client requested a usage chunk. */
  readonly includeUsage: boolean
  /** Tools whose names were rewritten for the provider. */
  readonly toolNames: ToolNames
  readonly pathAndQuery: string
  readonly headers: HeaderList
  readonly body: Buffer | string
  /** The request of the client, where its translation needs it for the answer. */
  readonly asked?: JsonObject | undefined
  /** Fields of the request that its translation dropped. */
  readonly dropped: DroppedFields
}

const DROPPED_HEADERS = ['content-length', 'content-encoding', 'accept-encoding', 'expect']

const FAILURES: { readonly [K in BodyFault['kind']]: FailureCode } = {
  TooLarge: 'llmRequestTooLarge',
  UnknownEncoding: 'llmRequestEncoding',
  Invalid: 'llmRequestInvalid',
}

/** The call, or the failure that the client gets; a promise if it waits for the body, for guards or for counts. */
export function prepareCall(
  exchange: Exchange,
  provider: CompiledProvider,
  format: Format,
  bodyBytesMax: number,
): Prepared | Promise<Prepared> {
  const read = takeRequestJson(exchange) ?? readRequestJson(exchange.request, bodyBytesMax)
  return read instanceof Promise
    ? read.then((late) => readCall(exchange, late, { provider, format }))
    : readCall(exchange, read, { provider, format })
}

type Prepared = LlmCall | HttpResponse

function readCall(
  exchange: Exchange,
  read: RequestJson | BodyFault,
  { provider, format }: Omit<PromptContext, 'model'>,
): Prepared | Promise<Prepared> {
  if (!(read instanceof RequestJson)) return exchange.failVisibly(FAILURES[read.kind], read.detail)
  const body = read.members
  const inUrl = format.url?.read(exchange.request.path, exchange.request.query)
  const isAdded = addModel(body, inUrl)
  const model = editBody(exchange, body, provider, format)
  if (model === undefined) return exchange.failVisibly('llmRequestInvalid', 'missing field: model not specified')
  const context = { provider, format, model }
  const conversion = provider.profile.conversion(format.name, model)
  if (conversion === undefined) return withoutProvider(exchange, body, context)
  const stream = inUrl ?? streamIn(body)
  settleModel(body, { isAdded, isStreaming: stream.isStreaming, conversion, inUrl })
  const checked = checkPrompt(exchange, read, context)
  const call = (): Prepared => callFor(exchange, read, { ...context, conversion, stream })
  return checked === undefined ? call() : checked.then((rejected) => rejected ?? call())
}

interface CallContext extends PromptContext {
  readonly conversion: Conversion
  readonly stream: Pick<UrlFields, 'isStreaming' | 'framing'>
}

function callFor(
  exchange: Exchange,
  read: RequestJson,
  { provider, format, model, conversion, stream: { isStreaming, framing } }: CallContext,
): Prepared {
  const body = read.members
  const dropped = new DroppedFields()
  const toolNames = new ToolNames()
  try {
    const { pathAndQuery, headers } = addressFor(exchange, provider, conversion, { model, isStreaming })
    return {
      conversion,
      model,
      isStreaming,
      params: format.params(body),
      framing,
      includeUsage: format.wantsUsage(body),
      toolNames,
      pathAndQuery,
      headers,
      body: bodyToSend(read, conversion, {
        dropped,
        toolNames,
        finish: finishFor(provider, { model, headers: exchange.request.headers, sent: conversion.sent.name }),
      }),
      dropped,
      asked: conversion.translation?.keepsRequest === true ? body : undefined,
    }
  } catch (error) {
    if (error instanceof Untranslatable) return exchange.failVisibly('llmRequestInvalid', error.message)
    throw error
  }
}

/** The answer of the proxy itself, or the failure. */
async function withoutProvider(
  exchange: Exchange,
  body: JsonObject,
  { provider: { settings, profile }, format: { name, ownCount }, model }: PromptContext,
): Promise<HttpResponse> {
  const counted =
    settings.tokenize === true && ownCount !== undefined
      ? await answerCount(exchange, ownCount, { body, model })
      : undefined
  return (
    counted ??
    exchange.failVisibly(
      'llmRequestInvalid',
      `unsupported conversion: from ${name} to provider ${profile.telemetryName}`,
    )
  )
}

interface PromptContext {
  readonly provider: CompiledProvider
  readonly format: Format
  readonly model: string
}

/** By guards, which may mask texts, and by token limits. undefined: neither is configured. */
function checkPrompt(
  exchange: Exchange,
  json: RequestJson,
  context: PromptContext,
): Promise<HttpResponse | undefined> | undefined {
  const { provider, format } = context
  if (provider.guards !== undefined || provider.settings.tokenize === true)
    return checkedPrompt(exchange, json, context)
  recordPrompt(exchange, provider.textReads, json.members, format.name)
  return undefined
}

/** The response, if one of them rejects it. */
async function checkedPrompt(
  exchange: Exchange,
  json: RequestJson,
  { provider, format: { name }, model }: PromptContext,
): Promise<HttpResponse | undefined> {
  const { guards } = provider
  const rejected = guards && (await checkRequest(exchange, json, guards, name))
  if (rejected !== undefined) return rejected
  recordPrompt(exchange, provider.textReads, json.members, name)
  if (provider.settings.tokenize !== true) return undefined
  return chargePrompt(exchange, { body: json.members, format: name, model })
}

/** Edits and translations read the model in the body. Whether it was not there. */
function addModel(body: JsonObject, inUrl: UrlFields | undefined): boolean {
  if (inUrl === undefined || Object.hasOwn(body, 'model')) return false
  body['model'] = inUrl.model
  return true
}

interface UrlModel {
  readonly isAdded: boolean
  readonly isStreaming: boolean
  readonly conversion: Conversion
  readonly inUrl: UrlFields | undefined
}

/** A body that is forwarded stays without what its URL has; a translation reads both in the body. */
function settleModel(body: JsonObject, { isAdded, isStreaming, conversion, inUrl }: UrlModel): void {
  if (inUrl === undefined) return
  if (conversion.translation !== undefined) body['stream'] = isStreaming
  else if (isAdded) delete body['model']
}

function streamIn(body: JsonObject): Pick<UrlFields, 'isStreaming' | 'framing'> {
  return { isStreaming: body['stream'] === true, framing: 'Sse' }
}

interface SendContext {
  readonly dropped: DroppedFields
  readonly toolNames: ToolNames
  /** Adds what only the provider has; undefined: nothing. */
  readonly finish: ((body: JsonObject) => void) | undefined
}

/** @throws {Untranslatable} */
function bodyToSend(
  json: RequestJson,
  { sent, translation }: Conversion,
  { dropped, toolNames, finish }: SendContext,
): Buffer | string {
  if (translation !== undefined) {
    const translated = translation.request(json.exactMembers(), dropped, toolNames)
    finish?.(translated)
    return textBody(JSON.stringify(translated))
  }
  const { members } = json
  if (members['stream'] === true) sent.askForUsage(members)
  if (finish === undefined) return json.toBody()
  const exact = json.exactMembers()
  const before = { ...exact }
  finish(exact)
  return exact === members || isSame(before, exact) ? json.toBody() : textBody(JSON.stringify(exact))
}

function isSame(before: JsonObject, after: JsonObject): boolean {
  const names = Object.keys(after)
  return names.length === Object.keys(before).length && names.every((name) => before[name] === after[name])
}

function finishFor(
  { profile: { finish }, policies }: CompiledProvider,
  facts: Omit<RequestFacts, 'promptCaching'>,
): SendContext['finish'] {
  const { promptCaching } = policies.ai ?? {}
  return finish && ((body) => finish(body, { ...facts, promptCaching }))
}

/** The model to request; undefined if no name is set. */
function editBody(
  exchange: Exchange,
  body: JsonObject,
  { edits, profile }: CompiledProvider,
  format: Format,
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

interface SentModel {
  readonly model: string
  readonly isStreaming: boolean
}

/** Path, query and header fields. */
function addressFor(
  { request }: Exchange,
  provider: CompiledProvider,
  conversion: Conversion,
  model: SentModel,
): Pick<LlmCall, 'pathAndQuery' | 'headers'> {
  const { client, sent, translation } = conversion
  const { profile, credential } = provider
  const isTranslated = translation !== undefined
  let query = isTranslated ? withoutOwn(request.query, client.ownQuery) : request.query
  const change = (headers: HeaderList): void => {
    for (const name of DROPPED_HEADERS) headers.remove(name)
    headers.set('content-type', 'application/json')
    headers.set('accept-encoding', 'identity')
    const options = { isTranslated, isPlaced: credential === 'Placed', headers }
    if (client.url !== undefined) query = client.url.sentQuery(request.query, options)
    if (isTranslated) client.leave(headers, credential)
    profile.prepareHeaders(headers, credential, sent)
  }
  // A credential in the query becomes a header field: the same fields may then lead to others.
  const headers =
    client.url === undefined
      ? provider.requestHeaders.of(conversion).of(request.headers, change)
      : changed(request.headers, change)
  return { pathAndQuery: pathFor({ path: request.path, query }, provider, conversion, model), headers }
}

/**
 * With a host override and no path of its own the client's path is kept, unless the request was translated: the
 * client's path then names another format.
 */
export function pathFor(
  { path, query }: { readonly path: string; readonly query: string },
  { settings, profile }: CompiledProvider,
  { client, sent, translation }: Conversion,
  { model, isStreaming }: SentModel,
): string {
  const isOwnPath = settings.pathOverride !== undefined || settings.pathPrefix !== undefined
  const keepsPath =
    settings.hostOverride !== undefined && !isOwnPath && profile.keepsClientPath && translation === undefined
  const kept = client.url?.sentPath(path, { model, isStreaming }) ?? path
  const chosen = keepsPath ? kept : profile.path(sent, model, isStreaming)
  const added = keepsPath ? query : withoutOwn(query, profile.ownQuery)
  if (added === '') return chosen
  return `${chosen}${chosen.includes('?') ? '&' : '?'}${added}`
}

/** The query of the client without the parameters that the provider sets. */
function withoutOwn(query: string, own: ReadonlySet<string> | undefined): string {
  if (own === undefined || query === '') return query
  const kept = query.split('&').filter((parameter) => !own.has(parameter.split('=', 1)[0] ?? ''))
  return kept.join('&')
}
