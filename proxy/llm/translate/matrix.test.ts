// What each client can use with each format of a provider. docs/llm/matrix.md has the outcomes of these tests:
// UPDATE_MATRIX=1 vitest run proxy/llm/translate/matrix.test.ts writes the page.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { SentFormatName } from '#api/llm/formats.ts'
import { FORMATS } from '../formats/table.ts'
import { FRAMES } from '../frames.ts'
import { CLIENTS, jsonResponse, streamResponse } from './clients.testing.ts'
import { converseAnswer, converseException, converseStream } from './converse.testing.ts'
import { expected } from './expected.testing.ts'
import type { ChatClient } from './feature-parts.testing.ts'
import { FEATURES, PLAIN, type Feature } from './features.testing.ts'
import { conversionFrom } from './table.ts'
import { notesIn } from './translate.testing.ts'
import { ToolNames } from './tool-names.ts'
import type { AnswerSource, Translation } from './translation.ts'
import { Untranslatable } from './untranslatable.ts'
import { IMAGE_SCENARIO, SCENARIOS, VENDORS, type Scenario, type VendorName } from './vendors.testing.ts'

const PAGE = new URL('../../../docs/llm/matrix.md', import.meta.url)

/** With a model that has all features of its vendor. */
const PROVIDERS = [
  ['Completions', 'chat completions', 'gpt-5.1'],
  ['Messages', 'messages', 'claude-sonnet-4-5'],
  ['Responses', 'responses', 'gpt-5.1'],
  ['GenerateContent', 'generateContent', 'gemini-3-flash'],
  ['Converse', 'Converse', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
] as const satisfies readonly (readonly [SentFormatName, string, string])[]

type Provider = (typeof PROVIDERS)[number][0]

const TITLES: { readonly [C in ChatClient]: string } = {
  Completions: 'Clients of chat completions',
  Messages: 'Clients of messages',
  Responses: 'Clients of responses',
  GenerateContent: 'Clients of generateContent',
}

const CHAT_CLIENTS: readonly ChatClient[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']
const SOURCE: AnswerSource = { id: 'req-1', model: 'm', names: new ToolNames() }
const OPTIONS = { createdSeconds: 7, includeUsage: true, source: SOURCE }

/** undefined: the formats are the same. */
function translationOf(client: ChatClient, to: Provider): Translation | undefined {
  const conversion = conversionFrom(FORMATS[client], new Set([to]))
  if (conversion === undefined) throw new Error(`no way from ${client} to ${to}`)
  return conversion.translation
}

/** What becomes of a feature of a request. Fails if it is neither sent, nor reported as dropped, nor rejected. */
function requestOutcome({ markers, fields }: Feature, client: ChatClient, [to, , model]: (typeof PROVIDERS)[number]) {
  const own = fields[client]
  if (own === undefined) return '–'
  const translation = translationOf(client, to)
  if (translation === undefined) return 'unchanged'
  const send = (body: object) => {
    const dropped: string[] = []
    const request = translation.request({ model, ...PLAIN[client], ...body }, notesIn(dropped))
    return { text: JSON.stringify(request), dropped }
  }
  try {
    const { text, dropped } = send(own)
    if (dropped.length > 0) return 'dropped'
    expect(text).not.toBe(send({}).text)
    for (const marker of markers) {
      // Some formats have only base64 for files of text.
      const forms = [marker, Buffer.from(marker).toString('base64')]
      expect(
        forms.some((form) => text.includes(form)),
        `${marker} in ${text}`,
      ).toBe(true)
    }
    return 'yes'
  } catch (error) {
    if (error instanceof Untranslatable) return '400'
    throw error
  }
}

/** Frames of a provider's stream, and how they are read. */
function streamOf(to: Provider, scenario: Scenario): readonly Buffer[] {
  return to === 'Converse' ? converseStream(scenario) : VENDORS[to].stream(scenario).map((frame) => Buffer.from(frame))
}

function errorFrame(to: Provider): Buffer {
  if (to === 'Converse') return converseException('throttlingException', 'too busy')
  return Buffer.from(VENDORS[to].errorFrame('too busy'))
}

function streamed(translation: Translation, to: Provider, chunks: readonly Buffer[], source = SOURCE): string {
  const reader = FRAMES[to === 'Converse' ? 'AwsEventStream' : 'Sse'].reader(100_000)
  const translator = translation.stream({ ...OPTIONS, source })
  const out = chunks.flatMap((chunk) => reader.push(chunk)).map((event) => translator.event(event))
  return out.join('') + translator.end()
}

/** The outcome, if it is not that the client sees all. */
type AnswerTest = (client: VendorName, to: Provider, translation: Translation) => Promise<string | void>

const whole =
  (scenario: Scenario): AnswerTest =>
  async (name, to, translation) => {
    const client = CLIENTS[name]
    const answer = to === 'Converse' ? converseAnswer(scenario) : VENDORS[to].whole(scenario)
    const translated = translation.answer(answer, OPTIONS.createdSeconds, SOURCE)
    expect(await client.read(jsonResponse(translated), false)).toEqual(expected(scenario, client.stops[scenario.stop]))
  }

const stream =
  (scenario: Scenario): AnswerTest =>
  async (name, to, translation) => {
    const client = CLIENTS[name]
    const text = streamed(translation, to, streamOf(to, scenario))
    client.grammar(text)
    expect(await client.read(streamResponse(text), true)).toEqual(expected(scenario, client.stops[scenario.stop]))
  }

const errorBefore: AnswerTest = async (name, to, translation) => {
  const sent = to === 'Converse' ? { message: 'too busy' } : VENDORS[to].error('too busy')
  const reading = CLIENTS[name].read(jsonResponse(translation.error(sent, 429), 429), false)
  await expect(reading).rejects.toMatchObject({ status: 429, message: expect.stringContaining('too busy') as string })
}

const errorWithin: AnswerTest = async (name, to, translation) => {
  const frames = streamOf(to, SCENARIOS['text'] as Scenario)
  const text = streamed(translation, to, [...frames.slice(0, 2), errorFrame(to), ...frames.slice(2)])
  await expect(CLIENTS[name].read(streamResponse(text), true)).rejects.toThrow('too busy')
}

/** Providers in whose format answers have images. */
const WITH_IMAGES: ReadonlySet<Provider> = new Set<Provider>(['Completions', 'GenerateContent'])

const image =
  (isStream: boolean): AnswerTest =>
  async (name, to, translation) => {
    if (to === 'Converse') throw new Error('no images')
    const client = CLIENTS[name]
    const dropped: string[] = []
    const source = { ...SOURCE, notes: notesIn(dropped) }
    const answer = isStream
      ? streamResponse(streamed(translation, to, streamOf(to, IMAGE_SCENARIO), source))
      : jsonResponse(translation.answer(VENDORS[to].whole(IMAGE_SCENARIO), OPTIONS.createdSeconds, source))
    if (isStream) client.grammar(await answer.clone().text())
    const { images, ...rest } = await client.read(answer, isStream)
    const { images: sent, ...others } = expected(IMAGE_SCENARIO, client.stops.stop)
    expect(rest).toEqual(others)
    if (images === undefined) expect(dropped).toEqual([expect.stringMatching(/^answer\.image: /)])
    else expect([images, dropped]).toEqual([sent, []])
    return images === undefined ? 'dropped' : undefined
  }

const ANSWERS: readonly (readonly [string, AnswerTest])[] = [
  ...Object.entries(SCENARIOS).flatMap(([name, scenario]) => [
    [`${name}, whole`, whole(scenario)] as const,
    [`${name}, streamed`, stream(scenario)] as const,
  ]),
  ['image behind a text, whole', image(false)],
  ['image behind a text, streamed', image(true)],
  ['error before the answer', errorBefore],
  ['error within the stream', errorWithin],
]

async function answerOutcome(
  [name, test]: (typeof ANSWERS)[number],
  client: ChatClient,
  to: Provider,
): Promise<string> {
  if (name.startsWith('image') && !WITH_IMAGES.has(to)) return '–'
  const translation = translationOf(client, to)
  if (translation === undefined) return 'unchanged'
  return (await test(client, to, translation)) ?? 'yes'
}

type Row = readonly [name: string, cells: readonly string[]]
type Outcome = (provider: (typeof PROVIDERS)[number]) => string | Promise<string>

/** An error names its cell. */
async function rowsOf(client: ChatClient, rows: readonly (readonly [string, Outcome])[]): Promise<Row[]> {
  const cell = async (name: string, outcome: Outcome, provider: (typeof PROVIDERS)[number]): Promise<string> => {
    try {
      return await outcome(provider)
    } catch (error) {
      throw new Error(`${client} to ${provider[0]}, ${name}: ${String(error)}`, { cause: error })
    }
  }
  return Promise.all(
    rows.map(
      async ([name, outcome]) =>
        [name, await Promise.all(PROVIDERS.map((provider) => cell(name, outcome, provider)))] as const,
    ),
  )
}

function table(rows: readonly Row[], first: string): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const head = [first, ...PROVIDERS.map(([, title]) => title)]
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(([name, cells]) => line([name, ...cells])), '']
}

const HEAD = `# What works with which provider

Find the format of your SDK, then the column of your provider's format. Each cell is the outcome of a test with a model that has all
features of its vendor (${[...new Set(PROVIDERS.map(([, , model]) => `\`${model}\``))].join(', ')});
[model traits](model-traits.md) lists what others lack. Repeat the tests and write this page with:

\`\`\`sh
UPDATE_MATRIX=1 npx vitest run proxy/llm/translate/matrix.test.ts
\`\`\`

| cell | meaning |
|---|---|
| unchanged | the formats are the same: all bytes are forwarded |
| yes | the provider gets it, or the SDK of the client reads it as it reads answers of its own vendor |
| dropped | the answer is valid without it: it is left out, and log and trace name the field |
| 400 | the answer would differ: the request is rejected, and the error names the field |
| – | the format of the client has no field for it, or that of the provider no such answer |
`

it('docs/llm/matrix.md has the outcome of every client, provider, feature and kind of answer', async () => {
  const lines = [HEAD]
  for (const client of CHAT_CLIENTS) {
    const requests = await rowsOf(
      client,
      FEATURES.map((one) => [one.name, (to) => requestOutcome(one, client, to)]),
    )
    const answers = await rowsOf(
      client,
      ANSWERS.map((one) => [one[0], ([to]) => answerOutcome(one, client, to)]),
    )
    lines.push(`## ${TITLES[client]}\n`, ...table(requests, 'request'), ...table(answers, 'answer'))
  }
  const page = `${lines.join('\n').trimEnd()}\n`
  if (process.env['UPDATE_MATRIX'] === '1') writeFileSync(PAGE, page)
  expect(readFileSync(PAGE, 'utf8')).toBe(page)
})
