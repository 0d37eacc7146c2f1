// The errors of the gateway as official SDKs report them to their users.
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { ApiError as GoogleError, GoogleGenAI } from '@google/genai'
import OpenAI, { APIError as OpenAiError } from 'openai'

type Send = (base: string, headers: Record<string, string>) => Promise<unknown>

const openAiAt = (base: string, defaultHeaders: Record<string, string>): OpenAI =>
  new OpenAI({ baseURL: `${base}/v1`, apiKey: 'k', maxRetries: 0, defaultHeaders })

const anthropicAt = (baseURL: string, defaultHeaders: Record<string, string>): Anthropic =>
  new Anthropic({ baseURL, apiKey: 'k', maxRetries: 0, defaultHeaders })

const CLIENTS = {
  Completions: (base, headers) =>
    openAiAt(base, headers).chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  Responses: (base, headers) => openAiAt(base, headers).responses.create({ model: 'm', input: 'hi' }),
  Embeddings: (base, headers) => openAiAt(base, headers).embeddings.create({ model: 'm', input: 'hi' }),
  Messages: (base, headers) =>
    anthropicAt(base, headers).messages.create({
      model: 'm',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'hi' }],
    }),
  AnthropicTokenCount: (base, headers) =>
    anthropicAt(base, headers).messages.countTokens({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  GenerateContent: (baseUrl, headers) =>
    new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl, headers } }).models.generateContent({
      model: 'm',
      contents: 'hi',
    }),
} satisfies Record<string, Send>

type ClientName = keyof typeof CLIENTS

// Object.keys loses the type of the keys, which are exactly the names.
export const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[]

/** The error of a small request to `base`, which is the address in front of `/v1`. */
export async function reported(
  client: ClientName,
  base: string,
  headers: Record<string, string> = {},
): Promise<unknown> {
  try {
    await CLIENTS[client](base, headers)
  } catch (error) {
    if (error instanceof OpenAiError || error instanceof AnthropicError) {
      return { status: error.status, body: error.error, text: error.message, name: error.constructor.name }
    }
    // The SDK of Google reports the whole body as the message.
    if (error instanceof GoogleError)
      return { status: error.status, body: JSON.parse(error.message) as unknown, text: error.message }
    throw error
  }
  return 'no error'
}

/** The types of one error in the formats of the vendors. */
export type ErrorTypes = readonly [openai: string, anthropic: string, google: string]

/** The error as the SDK of the client has it. */
export function bodyFor(client: ClientName, message: string, [openai, anthropic, google]: ErrorTypes): object {
  if (client === 'GenerateContent') return { error: { message, status: google } }
  const isAnthropic = client === 'Messages' || client === 'AnthropicTokenCount'
  return isAnthropic ? { type: 'error', error: { type: anthropic, message } } : { type: openai, message }
}
