// Every field of a request that the SDK of Google declares is in a ledger of request-fields.ts, and each ledger is
// right: a mapped field has an effect, a dropped one has none and is noted, and an error names a rejected one.
import { describe, expect, it } from 'vitest'
import type { ChatRequest } from '../../canonical/request.ts'
import { isRecord } from '#api/json.ts'
import type { JsonObject } from '../../json.ts'
import { notesIn } from '../../translate/translate.testing.ts'
import { declaredMembers } from '../declared.testing.ts'
import type { FieldRules } from '../fields.ts'
import { decodeRequest } from './decode-request.ts'
import * as fields from './request-fields.ts'
import { GENAI_DECLARATIONS } from './sdk.testing.ts'

interface Ledger {
  /** Interfaces of the SDK that declare the fields. */
  readonly declared: readonly string[]
  /** Members of the interface that are elsewhere in a request, or nowhere. */
  readonly elsewhere?: readonly string[]
  readonly rules: FieldRules
  /** In front of the names in errors and notes. */
  readonly path: string
  /** The request with an object of this kind. */
  readonly request: (object: JsonObject) => JsonObject
  /** Fields that the object has in any case. */
  readonly base?: JsonObject
  readonly samples: JsonObject
}

const declaration = { name: 'f' }
const schema = { type: 'STRING' }
const user = (part: JsonObject): JsonObject => ({ contents: [{ parts: [part] }] })
const image = { mimeType: 'image/png', data: 'QUJD' }
const inConfig = (generationConfig: JsonObject): JsonObject => ({ generationConfig })

const LEDGERS: Readonly<Record<string, Ledger>> = {
  request: {
    // The SDK lists fields of the configuration and of itself with those of the request.
    declared: ['GenerateContentConfig'],
    elsewhere: [
      ...Object.keys(fields.CONFIG_FIELDS),
      'abortSignal',
      'automaticContinuation',
      'automaticFunctionCalling',
      'httpOptions',
      'generationOutputConfig',
      'continuationToken',
    ],
    rules: fields.REQUEST_FIELDS,
    path: '',
    request: (object) => object,
    samples: {
      cachedContent: 'cachedContents/x',
      contents: [{ parts: [{ text: 'x' }] }],
      generationConfig: { temperature: 1 },
      labels: { a: 'b' },
      model: 'm',
      stream: true,
      modelArmorConfig: {},
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      serviceTier: 'flex',
      store: true,
      systemInstruction: { parts: [{ text: 'x' }] },
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      tools: [{ functionDeclarations: [declaration] }],
    },
  },
  generationConfig: {
    declared: ['GenerationConfig'],
    rules: fields.CONFIG_FIELDS,
    path: 'generationConfig.',
    request: inConfig,
    base: { responseMimeType: 'application/json' },
    samples: {
      audioTimestamp: true,
      audioTranscriptionConfig: {},
      candidateCount: 2,
      enableAffectiveDialog: true,
      enableEnhancedCivicAnswers: true,
      frequencyPenalty: 1,
      imageConfig: {},
      logprobs: 1,
      maxOutputTokens: 9,
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
      modelSelectionConfig: {},
      presencePenalty: 1,
      responseFormat: [{}],
      responseJsonSchema: { type: 'string' },
      responseLogprobs: true,
      responseMimeType: 'text/plain',
      responseModalities: ['AUDIO'],
      responseSchema: schema,
      routingConfig: {},
      seed: 7,
      speechConfig: {},
      stopSequences: ['END'],
      temperature: 1,
      thinkingConfig: { thinkingBudget: 1024 },
      topK: 5,
      topP: 0.5,
      translationConfig: {},
    },
  },
  thinkingConfig: {
    declared: ['ThinkingConfig'],
    rules: fields.THINKING_FIELDS,
    path: 'generationConfig.thinkingConfig.',
    request: (thinkingConfig) => inConfig({ thinkingConfig }),
    samples: { includeThoughts: true, thinkingBudget: -1, thinkingLevel: 'LOW' },
  },
  part: {
    declared: ['Part'],
    rules: fields.PART_FIELDS,
    path: 'contents[0].parts[0].',
    request: user,
    base: { text: 'x' },
    samples: {
      audioTranscription: {},
      codeExecutionResult: {},
      executableCode: {},
      fileData: { fileUri: 'https://x.example/a.pdf' },
      functionCall: { name: 'f' },
      functionResponse: { id: 'c', name: 'f' },
      inlineData: image,
      mediaProcessing: {},
      mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
      partMetadata: { a: 1 },
      speechMetadata: {},
      text: 'y',
      thought: true,
      thoughtSignature: 'c2ln',
      toolCall: {},
      toolResponse: {},
      videoMetadata: {},
    },
  },
  functionCall: {
    declared: ['FunctionCall'],
    rules: fields.CALL_FIELDS,
    path: 'contents[0].parts[0].functionCall.',
    request: (functionCall) => ({ contents: [{ role: 'model', parts: [{ functionCall }] }] }),
    samples: { args: { a: 1 }, id: 'c', name: 'f', partialArgs: [{}], willContinue: true },
  },
  functionResponse: {
    declared: ['FunctionResponse'],
    rules: fields.RESULT_FIELDS,
    path: 'contents[1].parts[0].functionResponse.',
    request: (functionResponse) => ({
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'a' } }, { functionCall: { name: 'b' } }] },
        { parts: [{ functionResponse }] },
      ],
    }),
    base: { name: 'a' },
    samples: {
      id: 'c',
      name: 'b',
      parts: [{ inlineData: image }],
      response: { output: 'x' },
      scheduling: 'SILENT',
      willContinue: true,
    },
  },
  tool: {
    declared: ['Tool'],
    rules: fields.TOOL_FIELDS,
    path: 'tools[0].',
    request: (tool) => ({ tools: [tool] }),
    samples: {
      codeExecution: {},
      computerUse: {},
      enterpriseWebSearch: {},
      exaAiSearch: {},
      fileSearch: {},
      functionDeclarations: [declaration],
      googleMaps: {},
      googleSearch: {},
      googleSearchRetrieval: {},
      mcpServers: [{}],
      parallelAiSearch: {},
      retrieval: {},
      urlContext: {},
    },
  },
  functionDeclaration: {
    declared: ['FunctionDeclaration'],
    rules: fields.DECLARATION_FIELDS,
    path: 'tools[0].functionDeclarations[0].',
    request: (one) => ({ tools: [{ functionDeclarations: [one] }] }),
    samples: {
      behavior: 'NON_BLOCKING',
      description: 'd',
      name: 'f',
      parameters: schema,
      parametersJsonSchema: { type: 'string' },
      response: schema,
      responseJsonSchema: schema,
    },
  },
  toolConfig: {
    declared: ['ToolConfig'],
    rules: fields.TOOL_CONFIG_FIELDS,
    path: 'toolConfig.',
    request: (toolConfig) => ({ toolConfig }),
    samples: {
      functionCallingConfig: { mode: 'ANY' },
      includeServerSideToolInvocations: true,
      retrievalConfig: {},
    },
  },
  functionCallingConfig: {
    declared: ['FunctionCallingConfig'],
    rules: fields.CALLING_FIELDS,
    path: 'toolConfig.functionCallingConfig.',
    request: (functionCallingConfig) => ({ toolConfig: { functionCallingConfig } }),
    base: { mode: 'ANY' },
    samples: { allowedFunctionNames: ['f'], mode: 'NONE', streamFunctionCallArguments: true },
  },
}

interface Decoded {
  readonly request: ChatRequest
  readonly dropped: readonly string[]
}

function decode(request: JsonObject): Decoded {
  const dropped: string[] = []
  return { request: decodeRequest(request, notesIn(dropped)), dropped }
}

/** As older programs and the documentation spell names. */
function underscored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(underscored)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      underscored(one),
    ]),
  )
}

describe.each(Object.entries(LEDGERS))('the ledger of %s', (_, { declared, elsewhere = [], rules, ...ledger }) => {
  const { path, request, base = {}, samples } = ledger

  it('has each field that the SDK declares', () => {
    const names = declared.flatMap((name) => declaredMembers(GENAI_DECLARATIONS, name))
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((name) => !Object.hasOwn(rules, name) && !elsewhere.includes(name))).toEqual([])
  })

  it.each(Object.entries(rules))('%s', (name, rule) => {
    expect(Object.hasOwn(samples, name)).toBe(true)
    const sample = request({ ...base, [name]: samples[name] })
    if (typeof rule === 'function') {
      expect(() => decode(sample)).toThrow(path + name)
      expect(() => decode(underscored(sample) as JsonObject)).toThrow(path + name)
      return
    }
    const decoded = decode(sample)
    expect(decode(underscored(sample) as JsonObject)).toEqual(decoded)
    const without = decode(request(Object.hasOwn(base, name) ? base : { ...base, [name]: null }))
    if (rule === 'mapped') {
      expect(decoded.dropped).toEqual([])
      expect(decoded.request).not.toEqual(without.request)
    } else {
      expect(decoded.dropped).toEqual([`${path}${name}: ${rule.dropped}`])
      expect(decoded.request).toEqual(without.request)
    }
  })
})

it.each([
  ['a field', { odd: 1 }, '"odd"'],
  ['a field of the configuration', { generationConfig: { odd: 1 } }, 'generationConfig."odd"'],
  ['a tool', { tools: [{ odd: {} }] }, 'tools[0]."odd"'],
  ['a part', user({ odd: {} }), 'contents[0].parts[0] with "odd"'],
])('%s that the ledger does not know is rejected by its name', (_, request, text) => {
  expect(() => decode(request)).toThrow(`${text} is not supported by this provider`)
})
