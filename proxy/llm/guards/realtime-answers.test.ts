// Guards of responses on the events of a Realtime provider: texts, transcripts, sound, several answers at a time.
import { describe, expect, it } from 'vitest'
import { HeaderList } from '../../message/headers.ts'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { parseObject, type JsonObject } from '../json.ts'
import type { Guard } from './guard.ts'
import { RealtimeAnswers } from './realtime-answers.ts'
import { RealtimeErrors } from '../realtime-errors.ts'
import { regexGuard } from './regex.ts'

const REGEX = regexGuard({ action: 'Mask', builtins: ['Email'], patterns: ['secret-[0-9]+'] }, 'Response')
const REJECTING: Guard = {
  name: 'webhook',
  failureMode: 'FailClosed',
  check: ({ spans }) =>
    spans.some(({ text }) => text.includes('bad')) ? { kind: 'reject', matched: ['bad'] } : { kind: 'pass' },
}

function sessionOf(guard = REGEX, heldBytesMax = 2 ** 20) {
  const exchange = exchangeOf()
  const guards = [{ guard, rejection: { status: 403, body: 'Not allowed.' } }]
  const settings = { guards, exchange, upstreamHeaders: new HeaderList(), heldBytesMax }
  const answers = new RealtimeAnswers(settings, new RealtimeErrors(exchange))
  const toProvider: JsonObject[] = []
  const toClient: JsonObject[] = []
  const send = async (...events: readonly object[]): Promise<readonly JsonObject[]> => {
    const before = toClient.length
    for (const event of events) {
      const checked = await answers.check(JSON.stringify(event))
      toClient.push(...objectsIn(checked.toClient))
      toProvider.push(...objectsIn(checked.toProvider))
    }
    return toClient.slice(before)
  }
  return { exchange, answers, send, toClient, toProvider }
}

function objectsIn(texts: readonly string[]): readonly JsonObject[] {
  return texts.map((text) => parseObject(text) ?? { invalid: text })
}

const of = (response_id: string) => ({ response_id, item_id: `item_${response_id}`, output_index: 0, content_index: 0 })
const created = (id: string) => ({ type: 'response.created', response: { id, output: [] } })
const added = (id: string) => ({ type: 'response.output_item.added', response_id: id, item: { id: `item_${id}` } })
const text = (id: string, delta: string) => ({ type: 'response.output_text.delta', ...of(id), delta })
const spoken = (id: string, delta: string) => ({ type: 'response.output_audio_transcript.delta', ...of(id), delta })
const sound = (id: string) => ({ type: 'response.output_audio.delta', ...of(id), delta: 'UklGRg==' })
const soundDone = (id: string) => ({ type: 'response.output_audio.done', ...of(id) })
const spokenDone = (id: string, transcript: string) => ({
  type: 'response.output_audio_transcript.done',
  ...of(id),
  transcript,
})
const item = (id: string, transcript: string) => ({
  type: 'conversation.item.done',
  item: { id: `item_${id}`, type: 'message', role: 'assistant', content: [{ type: 'output_audio', transcript }] },
})
const done = (id: string, transcript: string) => ({
  type: 'response.done',
  response: {
    id,
    status: 'completed',
    status_details: null,
    output: [item(id, transcript).item],
    usage: { input_tokens: 3, output_tokens: 2 },
  },
})

const typesOf = (events: readonly JsonObject[]): readonly unknown[] => events.map(({ type }) => type)
const joined = (events: readonly JsonObject[], type: string): string =>
  events.map((event) => (event['type'] === type ? String(event['delta']) : '')).join('')

describe('an answer', () => {
  it('of text has masks in all events that repeat it', async () => {
    const { send, toClient, toProvider } = sessionOf()
    const whole = 'Write to a@b.example'
    const events = [
      created('r'),
      added('r'),
      text('r', 'Write to a@b'),
      text('r', '.example'),
      { type: 'response.output_text.done', ...of('r'), text: whole },
      { type: 'response.content_part.done', ...of('r'), part: { type: 'text', text: whole } },
      item('r', whole),
      done('r', whole),
    ]
    await send(...events)
    expect(typesOf(toClient)).toEqual(typesOf(events as unknown as JsonObject[]))
    expect(joined(toClient, 'response.output_text.delta')).toBe('Write to <EMAIL_ADDRESS>')
    expect(JSON.stringify(toClient)).not.toContain('b.example')
    expect(JSON.stringify(toClient).split('Write to <EMAIL_ADDRESS>')).toHaveLength(6)
    expect(toProvider).toEqual([])
  })

  it('of sound waits for its transcript, and keeps its order', async () => {
    const { send, toClient, exchange } = sessionOf()
    const events = [sound('r'), spoken('r', 'Hello '), sound('r'), spoken('r', 'you'), sound('r'), soundDone('r')]
    expect(await send(created('r'), ...events)).toEqual([created('r')])
    const rest = [spokenDone('r', 'Hello you'), done('r', 'Hello you')]
    await send(...rest)
    expect(toClient).toEqual([created('r'), ...events, ...rest])
    expect(exchange.errorDetail).toBeUndefined()
  })

  it.each([
    [
      'its transcript was masked',
      [spoken('r', 'call secret'), sound('r'), spoken('r', '-12 now')],
      'call <masked> now',
    ],
    ['it has no transcript', [sound('r'), sound('r')], ''],
  ])('has no sound if %s', async (_, events, transcript) => {
    const { send, toClient, exchange } = sessionOf()
    await send(created('r'), ...events, soundDone('r'), spokenDone('r', 'call secret-12 now'), done('r', ''))
    expect(typesOf(toClient)).not.toContain('response.output_audio.delta')
    expect(joined(toClient, 'response.output_audio_transcript.delta')).toBe(transcript)
    expect(JSON.stringify(toClient)).not.toContain('secret')
    expect(exchange.errorDetail).toBe('audio was dropped: guards masked its transcript, or it has none')
  })

  it('has the sound of former names of its events', async () => {
    const { send } = sessionOf()
    const former = (event: { readonly type: string }) => ({ ...event, type: event.type.replace('output_', '') })
    expect(await send(former(spoken('r', 'hi')), former(sound('r')))).toEqual([])
    expect(await send(former(spokenDone('r', 'hi')))).toHaveLength(3)
  })

  it('of several parts keeps the sound of those without a mask', async () => {
    const { send, toClient } = sessionOf()
    const second = { content_index: 1 }
    await send(
      created('r'),
      spoken('r', 'secret-1'),
      sound('r'),
      spokenDone('r', 'secret-1'),
      ...[spoken('r', 'fine'), sound('r'), spokenDone('r', 'fine')].map((event) => ({ ...event, ...second })),
      done('r', ''),
    )
    const sounds = toClient.filter(({ type }) => type === 'response.output_audio.delta')
    expect(sounds).toEqual([{ ...sound('r'), ...second }])
  })

  it('without ids is one text, and is cancelled without an id', async () => {
    const part = (delta: string) => ({ type: 'response.text.delta', delta })
    const { send, toClient } = sessionOf()
    await send(part('to a@b'), part('.example'), { type: 'response.done', response: {} })
    expect(joined(toClient, 'response.text.delta')).toBe('to <EMAIL_ADDRESS>')
    const heard = 'conversation.item.input_audio_transcription'
    await send({ type: `${heard}.delta`, delta: 'a@b' }, { type: `${heard}.delta`, delta: '.example' })
    await send({ type: `${heard}.completed`, transcript: 'a@b.example' })
    expect(joined(toClient, `${heard}.delta`)).toBe('<EMAIL_ADDRESS>')
    const rejecting = sessionOf(REJECTING)
    await rejecting.send(part(`bad ${'x'.repeat(1500)}`))
    expect(rejecting.toProvider).toEqual([{ type: 'response.cancel', event_id: 'event_gw_2' }])
  })

  it('has masked arguments of tools', async () => {
    const { send, toClient } = sessionOf()
    const call = (type: string, more: object) => ({ type, ...of('r'), call_id: 'c', ...more })
    await send(
      call('response.function_call_arguments.delta', { delta: '{"to":"a@b' }),
      call('response.function_call_arguments.delta', { delta: '.example"}' }),
      call('response.function_call_arguments.done', { arguments: '{"to":"a@b.example"}' }),
    )
    expect(joined(toClient, 'response.function_call_arguments.delta')).toBe('{"to":"<EMAIL_ADDRESS>"}')
    expect(toClient.at(-1)).toMatchObject({ arguments: '{"to":"<EMAIL_ADDRESS>"}' })
  })

  it('ends with the session: what was held is checked and sent', async () => {
    const { send, answers } = sessionOf()
    expect(await send(text('r', 'to a@b.example'), spoken('s', 'hi'), sound('s'))).toEqual([])
    const rest = objectsIn(await answers.end())
    expect(joined(rest, 'response.output_text.delta')).toBe('to <EMAIL_ADDRESS>')
    expect(rest.slice(-2)).toEqual([spoken('s', 'hi'), sound('s')])
  })
})

describe('an answer that guards reject', () => {
  it('becomes an error, is cancelled at the provider, and ends without its output', async () => {
    const { send, toClient, toProvider, exchange } = sessionOf(REJECTING)
    const long = 'x'.repeat(1500)
    await send(created('r'), added('r'), spoken('r', `bad ${long}`), sound('r'), spoken('r', 'more'), item('r', 'bad'))
    expect(typesOf(toClient)).toEqual(['response.created', 'response.output_item.added', 'error'])
    expect(toClient[2]).toMatchObject({
      event_id: 'event_gw_1',
      error: { code: 'guardrail_intervention', message: 'Not allowed.', event_id: null },
    })
    expect(toProvider).toEqual([{ type: 'response.cancel', event_id: 'event_gw_2', response_id: 'r' }])
    expect(await send(spokenDone('r', 'bad'), done('r', 'bad'))).toEqual([
      {
        type: 'response.done',
        response: {
          id: 'r',
          status: 'incomplete',
          status_details: { type: 'incomplete', reason: 'content_filter' },
          output: [],
          usage: { input_tokens: 3, output_tokens: 2 },
        },
      },
    ])
    expect(await send(created('s'), text('s', 'fine'), done('s', 'fine'))).toHaveLength(3)
    expect(exchange).toMatchObject({
      reason: 'Guardrail',
      errorDetail: 'the prompt guard webhook rejected the response (bad)',
    })
  })

  it('is not cancelled if it is complete', async () => {
    const { send, toProvider } = sessionOf(REJECTING)
    const sent = await send(created('r'), spoken('r', 'bad'), sound('r'), done('r', 'bad'))
    expect(typesOf(sent)).toEqual(['response.created', 'error', 'response.done'])
    expect(JSON.stringify(sent)).not.toContain('"bad"')
    expect(toProvider).toEqual([])
  })

  it('does not show the error of the provider for the cancellation', async () => {
    const { send } = sessionOf(REJECTING)
    expect(
      await send({ type: 'error', error: { code: 'response_cancel_not_active', event_id: 'event_gw_2' } }),
    ).toEqual([])
    expect(await send({ type: 'error', error: { code: 'x', event_id: 'event_1' } })).toHaveLength(1)
  })
})

describe('events beside answers', () => {
  it('pass at once while an answer is held', async () => {
    const { send } = sessionOf()
    await send(created('r'), spoken('r', 'hel'), sound('r'))
    const started = { type: 'input_audio_buffer.speech_started', item_id: 'u', audio_start_ms: 1 }
    expect(await send(started, created('s'))).toEqual([started, created('s')])
  })

  it('have masked transcripts of users, and the texts that the client has sent', async () => {
    const { send, toClient } = sessionOf()
    const heard = (type: string, more: object) => ({
      type: `conversation.item.input_audio_transcription.${type}`,
      item_id: 'u',
      content_index: 0,
      ...more,
    })
    await send(
      heard('delta', { delta: 'I am a@b' }),
      heard('delta', { delta: '.example' }),
      heard('completed', { transcript: 'I am a@b.example' }),
      {
        type: 'conversation.item.added',
        item: {
          id: 'v',
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'a@b.example' },
            { type: 'input_audio', transcript: 'c@d.example' },
          ],
        },
      },
      { type: 'session.updated', session: { instructions: 'write to a@b.example' } },
    )
    expect(
      toClient.map((event) => event['delta'] ?? event['transcript'] ?? event['item'] ?? event['session']),
    ).toMatchObject([
      'I am <EMAIL_ADDRESS>',
      '',
      'I am <EMAIL_ADDRESS>',
      { content: [{ text: 'a@b.example' }, { transcript: '<EMAIL_ADDRESS>' }] },
      { instructions: 'write to a@b.example' },
    ])
  })

  it('have no sound in whole items', async () => {
    const { send } = sessionOf()
    const content = [{ type: 'output_audio', transcript: 'hi', audio: 'UklGRg==' }]
    const retrieved = { type: 'conversation.item.retrieved', item: { id: 'i', role: 'assistant', content } }
    expect(await send(retrieved)).toMatchObject([{ item: { content: [{ transcript: 'hi', audio: '' }] } }])
  })

  it('are replaced by an error if guards reject them', async () => {
    const { send, toProvider } = sessionOf(REJECTING)
    const heard = 'conversation.item.input_audio_transcription'
    const sent = await send(
      item('old', 'bad'),
      { type: `${heard}.delta`, item_id: 'u', delta: 'bad' },
      { type: `${heard}.completed`, item_id: 'u', transcript: 'bad' },
    )
    expect(typesOf(sent)).toEqual(['error', 'error'])
    expect(toProvider).toEqual([])
  })
})

describe('limits of a session', () => {
  it('drop an answer whose events are too many to hold', async () => {
    const { send, toProvider } = sessionOf(REGEX, 2000)
    const sent = await send(...Array.from({ length: 30 }, () => sound('r')))
    expect(sent).toMatchObject([{ type: 'error', error: { message: 'prompt guard failed' } }])
    expect(toProvider).toMatchObject([{ type: 'response.cancel' }])
  })

  it('apply to all its answers together', async () => {
    const { send, exchange } = sessionOf(REGEX, 2000)
    const sent = await send(...Array.from({ length: 30 }, (_, index) => sound(`r${index}`)))
    expect(sent).toMatchObject([{ type: 'error' }, ...sent.slice(1)])
    expect(exchange.errorDetail).toBe('the held events of a session are larger than 2000 bytes')
  })

  it('end it: texts that are not objects, too many answers, too many items', async () => {
    const { answers } = sessionOf()
    await expect(answers.check('[1]')).rejects.toThrow('guards cannot check a message that is not a JSON object')
    await expect(sessionOf().send(...Array.from({ length: 65 }, (_, index) => created(`r${index}`)))).rejects.toThrow(
      'more than 64 answers at the same time',
    )
    const items = Array.from({ length: 1025 }, (_, index) => ({ ...text('r', ''), item_id: `i${index}` }))
    await expect(sessionOf().send(...items)).rejects.toThrow('an answer has more than 1024 items')
  })

  it('do not add up over the answers of a long session', async () => {
    const { send, toClient } = sessionOf(REGEX, 4000)
    for (let turn = 0; turn < 200; turn++) {
      const id = `r${turn}`
      await send(created(id), spoken(id, 'hello'), sound(id), spokenDone(id, 'hello'), done(id, 'hello'))
    }
    expect(toClient).toHaveLength(1000)
    expect(typesOf(toClient)).not.toContain('error')
  })
})
