// A chat request in no vendor's format. A format decodes the client's request to this form, and another encodes it for
// the provider: five formats need ten functions instead of twenty. Requests whose format is the provider's own are
// never decoded. What the form does not model is rejected or dropped by the ledger of the format, never in silence.
import type { SentFormatName } from '#api/llm/formats.ts'
import type { JsonObject } from '../json.ts'

/** Path of a value in the request of the client, such as `messages[2].content[0]`: an error names it. */
export type FieldPath = string

export interface ChatRequest {
  readonly model: string
  readonly isStreaming: boolean
  /** In order; system texts stand where the client put them, and a format that has one place for them moves them. */
  readonly turns: readonly Turn[]
  /** The field of the client that holds the turns. */
  readonly turnsAt: FieldPath
  readonly tools: readonly Tool[]
  /** Tools that the client groups, by the names that they have here; absent: none. The answer has both names again. */
  readonly namespaces?: ReadonlyMap<string, NamespacedName> | undefined
  readonly toolChoice: Setting<ToolChoice> | undefined
  readonly settings: Settings
  /** For the whole request; the vendor chooses its place. */
  readonly cache: CacheMark | undefined
}

/** Neighbours may have the same role. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly parts: readonly Part[]
}

/** Marks the end of what the provider keeps in its prompt cache, as the messages format spells it. */
export type CacheMark = JsonObject

interface PartBase {
  readonly at: FieldPath
  readonly cache?: CacheMark | undefined
}

export type Part = TextPart | MediaPart | ToolCallPart | ToolResultPart | ReasoningPart | RefusalPart | OpaquePart

export interface TextPart extends PartBase {
  readonly kind: 'text'
  readonly text: string
  readonly citations?: readonly Citation[] | undefined
}

export interface Citation {
  readonly url: string | undefined
  readonly title: string | undefined
  readonly quote: string | undefined
  /** UTF-16 offsets in the text, end exclusive. */
  readonly start: number | undefined
  readonly end: number | undefined
  /** As its format had it, which restores it. */
  readonly original: OpaqueValue | undefined
}

export interface OpaqueValue {
  readonly format: SentFormatName
  readonly value: JsonObject
}

export interface MediaPart extends PartBase {
  readonly kind: 'image' | 'document' | 'audio'
  readonly source: MediaSource
  /** File name or title. */
  readonly name?: string | undefined
  /** How closely an image is read, as OpenAI spells it. */
  readonly detail?: string | undefined
}

/** `mediaType` is lower-case and normal (`image/jpeg`, never `image/jpg`). */
export type MediaSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'url'; readonly url: string }
  /** A file that the vendor of the format keeps: only that format can send it on. */
  | { readonly kind: 'file'; readonly format: SentFormatName; readonly id: string }

export interface ToolCallPart extends PartBase {
  readonly kind: 'toolCall'
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it; it need not be valid JSON. Empty stands for `{}`. */
  readonly argumentsText: string
}

export interface ToolResultPart extends PartBase {
  readonly kind: 'toolResult'
  readonly callId: string
  readonly isError: boolean
  readonly content: readonly (TextPart | MediaPart | OpaquePart)[]
}

export interface ReasoningPart extends PartBase {
  readonly kind: 'reasoning'
  /** Empty where the vendor sent only an encrypted form. */
  readonly text: string
  readonly signature: Signature | undefined
  /** `text` is a summary of the reasoning, not the reasoning. */
  readonly isSummary: boolean
}

/**
 * What a vendor demands back with its reasoning. Only the vendor that made it can read it: formats of other vendors
 * drop the reasoning. carrier.ts has its form in the formats of clients.
 */
export interface Signature {
  readonly format: SentFormatName
  /** In a form that only the format reads. */
  readonly value: string
}

export interface RefusalPart extends PartBase {
  readonly kind: 'refusal'
  readonly text: string
}

/** A part that only one format knows, as it was, such as blocks of server tools. */
export interface OpaquePart extends PartBase, OpaqueValue {
  readonly kind: 'opaque'
}

/** Of a tool within a group. */
export interface NamespacedName {
  readonly namespace: string
  readonly name: string
}

export interface Tool {
  readonly at: FieldPath
  readonly name: string
  readonly description: string | undefined
  /** JSON Schema; undefined: the tool takes no arguments. */
  readonly schema: JsonObject | undefined
  readonly isStrict: boolean | undefined
  readonly cache?: CacheMark | undefined
}

export type ToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required'; readonly allowed?: ReadonlySet<string> | undefined }
  | { readonly mode: 'tool'; readonly name: string }

/** A value of the client and where it was. */
export interface Setting<T> {
  readonly value: T
  readonly at: FieldPath
  /** For errors: the path, and the value where it is short, such as `n 2`. */
  readonly shown: string
}

/** Each format has one rule for each of them (fields.ts of the format): a new one compiles only with all rules. */
export interface SettingValues {
  readonly maxOutputTokens: number
  readonly temperature: number
  readonly topP: number
  readonly topK: number
  readonly stopSequences: readonly string[]
  readonly seed: number
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  readonly logitBias: JsonObject
  /** Number of alternatives for each token; 0: only the chosen one. */
  readonly logprobs: number
  /** Number of answers. */
  readonly candidates: number
  /** The answer may have images beside its text. */
  readonly images: true
  readonly reasoning: Reasoning
  readonly output: OutputFormat
  /** `low`, `medium` or `high`. */
  readonly verbosity: string
  readonly parallelToolCalls: boolean
  /** As OpenAI spells it. */
  readonly serviceTier: string
  /** Identifies the end user to the vendor. */
  readonly user: string
  readonly metadata: JsonObject
}

export type Settings = { readonly [K in keyof SettingValues]?: Setting<SettingValues[K]> | undefined }

/** How much the model may think. Formats derive what they lack (data-plane supplement section 3.9). */
export interface Reasoning {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; undefined: not given. */
  readonly effort: string | undefined
  /** Tokens; has precedence over the effort. */
  readonly budgetTokens: number | undefined
  /** The model decides how much it thinks. */
  readonly isAdaptive: boolean
  /** `auto`, `concise` or `detailed`: the kind of summary that the client asks for. */
  readonly summary: string | undefined
  /** `thinking` and the effort as the messages format has them, which restores them. */
  readonly original: { readonly thinking: JsonObject | undefined; readonly effort: string | undefined } | undefined
}

export type OutputFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema'
      readonly schema: JsonObject
      readonly name: string | undefined
      readonly description: string | undefined
      /** `ifPossible`: in formats that always hold answers to their schemas. */
      readonly isStrict: boolean | 'ifPossible' | undefined
    }
