// Where a chat format has its texts. The names of members decide, so that parts which a vendor adds are found as well;
// file contents, identifiers and settings have other names. Upper and lower case are the same, as for the JSON readers
// of some providers. A new format compiles only with an entry.
import type { SentFormatName } from '#api/llm/formats.ts'

/**
 * `text`: a string is a text, and lists and objects are searched. `values`: each string and number within is a text,
 * also those within a string that is a JSON object. `result`: like `values`, from a tool. `copy`: repeats other texts,
 * and is emptied where one of them is replaced.
 */
export type TextField = 'text' | 'values' | 'result' | 'copy'

type TextFields = Readonly<Record<string, TextField>>

export interface FormatTexts {
  /** Members of the request, with the role of their texts where they name none. */
  readonly request: Readonly<Record<string, 'system' | 'user'>>
  /** Members of the answer; the texts are those of the model. */
  readonly answer: readonly string[]
  /** Members of objects at any depth below, by their `folded` names. */
  readonly fields: ReadonlyMap<string, TextField>
}

const OPENAI: TextFields = {
  content: 'text',
  text: 'text',
  refusal: 'text',
  arguments: 'values',
  transcript: 'text',
  logprobs: 'copy',
}

/** A name without distinction of case. The upper case comes first: that of `ſ` is `S`. */
export function folded(name: string): string {
  return name.toUpperCase().toLowerCase()
}

function byName(fields: TextFields): FormatTexts['fields'] {
  return new Map(Object.entries(fields).map(([name, field]) => [folded(name), field]))
}

/** undefined: the format has no conversation, and no guard checks it. */
export const FORMAT_TEXTS: { readonly [N in SentFormatName]: FormatTexts | undefined } = {
  Completions: {
    request: { messages: 'user', prediction: 'user' },
    answer: ['choices'],
    fields: byName({
      ...OPENAI,
      reasoning_content: 'text',
      reasoning: 'text',
      // Of the blocks that repeat the reasoning with its signature.
      thinking: 'text',
      input: 'text',
    }),
  },
  Messages: {
    request: { system: 'system', messages: 'user' },
    answer: ['content'],
    fields: byName({
      content: 'text',
      text: 'text',
      // Reasoning with a signature: the provider rejects a history in which it was changed.
      thinking: 'text',
      input: 'values',
      cited_text: 'text',
      title: 'text',
      context: 'text',
      lines: 'text',
      stdout: 'text',
      stderr: 'text',
    }),
  },
  Responses: {
    request: { instructions: 'system', input: 'user', prompt: 'user' },
    // Some servers repeat the text of the answer in `output_text`.
    answer: ['output', 'output_text'],
    fields: byName({
      ...OPENAI,
      input: 'text',
      output: 'text',
      summary: 'text',
      variables: 'values',
      action: 'values',
      operation: 'values',
      queries: 'text',
      code: 'text',
      logs: 'text',
      error: 'text',
      reason: 'text',
      stdout: 'text',
      stderr: 'text',
    }),
  },
  GenerateContent: {
    request: { systemInstruction: 'system', system_instruction: 'system', contents: 'user' },
    answer: ['candidates'],
    fields: byName({
      text: 'text',
      args: 'values',
      response: 'result',
      code: 'text',
      logprobsResult: 'copy',
      output: 'text',
    }),
  },
  Embeddings: undefined,
  AnthropicTokenCount: undefined,
  // Events of the provider; those of the client: REALTIME_TEXTS.
  Realtime: {
    request: {},
    answer: [],
    fields: byName({ ...OPENAI, output: 'text', reason: 'text' }),
  },
  Rerank: undefined,
  // Requests of clients are never in this format.
  Converse: undefined,
  Predict: undefined,
  Rank: undefined,
  GeminiCountTokens: undefined,
  TitanEmbeddings: undefined,
  CohereEmbeddings: undefined,
  NovaEmbeddings: undefined,
  BedrockRerank: undefined,
  BedrockCountTokens: undefined,
}

/** Events of a client of the Realtime API. */
export const REALTIME_TEXTS: FormatTexts = {
  request: { session: 'system', response: 'system', item: 'user' },
  answer: [],
  fields: byName({
    ...OPENAI,
    instructions: 'text',
    input: 'text',
    output: 'result',
    prompt: 'text',
    variables: 'values',
  }),
}
