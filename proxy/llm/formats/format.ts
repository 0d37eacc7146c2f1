// The properties of a format of model APIs: one file each, in the table of formats/table.ts. A format does
// not depend on providers. Docs: docs/contributing/adding-a-provider.md.
import type { PromptMessage } from '#api/ir/types.gen.ts'
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import type { LlmFacts, LlmParams } from '../../exchange/facts.ts'
import type { FailureText } from '../../exchange/slots.ts'
import type { HeaderList } from '../../message/headers.ts'
import type { ModelError } from '../canonical/answer.ts'
import type { CredentialKind } from '../credential-kind.ts'
import type { JsonObject } from '../json.ts'

/** A format in which requests are sent to providers. */
export interface SentFormat {
  readonly name: SentFormatName
  /** End of the path; the base path of a provider, such as `/v1`, stands before it. Unused by `modelPath`. */
  readonly path: string
  /** Base and end of a path that names the model; absent: the body names it. */
  readonly modelPath?: ModelPath | undefined
  /** How events of a stream are framed: `text/event-stream`, or `application/vnd.amazon.eventstream`. */
  readonly frames: 'Sse' | 'AwsEventStream'
  /** Header of a response with the id of the answer; undefined: the body has it. */
  readonly idHeader: string | undefined
  /** Header of a response with the number of input tokens; absent: the body has it. */
  readonly inputTokensHeader?: string
  /** Makes a request for a stream request the usage, so that tokens are counted in any case. */
  askForUsage(request: JsonObject): void
  /** Reads model and usage of a response, or of one event of a stream. Absent values do not change `facts`. */
  observe(facts: LlmFacts, answer: JsonObject): void
  /** `gen_ai.operation.name`. */
  readonly operation: LlmFacts['operation']
  /** Whether a response, or an event of a stream, has this format: for requests whose format is not known. */
  recognises(answer: JsonObject): boolean
  /** Whether an event of a stream has content: the first one is the first token. */
  hasContent(event: JsonObject): boolean
  /** Matches the last event of a complete stream; undefined: nothing marks the end. */
  readonly lastEvent: RegExp | undefined
}

/** The path of a format with the model in the path. */
export interface ModelPath {
  /** If nothing else is set, such as `/v1beta`. */
  readonly base: string
  pathOf(model: string, isStreaming: boolean): string
}

/** How the client of a stream reads it: events, or one JSON array of them. */
export type ClientFraming = 'Sse' | 'JsonArray'

export interface UrlFields {
  readonly model: string
  readonly isStreaming: boolean
  readonly framing: ClientFraming
}

/** What requests of a format have in their URL, where others have it in their body and header fields. */
export interface FormatUrl {
  /** undefined: the path names no model. */
  read(path: string, query: string): UrlFields | undefined
  /** The path for another model. */
  withModel(path: string, model: string): string
  /** The path to send in place of `path`; without the query. */
  sentPath(path: string, sent: Pick<UrlFields, 'model' | 'isStreaming'>): string
  /** The query to send, without what the sent path sets. A key moves to `headers`. */
  sentQuery(query: string, options: SentQueryOptions): string
}

export interface SentQueryOptions {
  /** The query has no parameter of the format any more. */
  readonly isTranslated: boolean
  /** The user set the place of the key, which may be the query. */
  readonly isPlaced: boolean
  readonly headers: HeaderList
}

/** A format that clients use. */
export interface Format extends SentFormat {
  readonly name: FormatName
  /** `Socket`: a WebSocket, whose messages pass unchanged. */
  readonly transport: 'Message' | 'Socket'
  /** undefined: the body names the model, and whether the answer is a stream. */
  readonly url: FormatUrl | undefined
  /** Parameters of the query that only this format has: a translated request is sent without them. */
  readonly ownQuery?: ReadonlySet<string>
  /**
   * Makes the header fields of a client of this format those of any format, for a request that is translated: a key is
   * a bearer token unless there is one, and fields for the vendor are removed. A placed credential stays where it is.
   */
  leave(headers: HeaderList, credential: CredentialKind): void
  /** Adds the messages of a policy to a request; undefined: the format has none, or none is added. */
  readonly enrich: Enrich | undefined
  /** Settings of a request for logs, spans and expressions; undefined: it has none. */
  params(request: JsonObject): LlmParams | undefined
  /** How the proxy answers a request that counts tokens in place of a provider that cannot; absent: it does not. */
  readonly ownCount?: OwnCount
  /** Whether the client of a stream requests an event with the usage. */
  wantsUsage(request: JsonObject): boolean
  /** Some providers serve it at the host of `rerankPicker`; absent: at the host of their chats. */
  readonly usesRerankHost?: true
  /** The body of an error that the gateway reports, with the message of the failure. */
  failure(failure: FailureText): JsonObject
  /** An error of a provider with another format. `status`: of HTTP. */
  error(error: ModelError, status: number | undefined): JsonObject
  /** Event that reports an error to the client of a stream. */
  errorEvent(message: string): string
}

export interface OwnCount {
  /** The format of the conversation in the request. */
  readonly of: FormatName
  answer(tokens: number): JsonObject
}

/** Mutates `request` on its first level. */
export type Enrich = (request: JsonObject, prepend: readonly PromptMessage[], append: readonly PromptMessage[]) => void

/** A copy: requests may be changed later, the policy never. */
export function messageOf({ role, content }: PromptMessage): JsonObject {
  return { role, content }
}
