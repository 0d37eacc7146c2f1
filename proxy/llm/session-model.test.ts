// The model of a Realtime session that an event of the client names.
import { describe, expect, it } from 'vitest'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { RealtimeErrors } from './realtime-errors.ts'
import { SessionModel } from './session-model.ts'
import { emptyFacts } from './usage.ts'

const ALIASES: Readonly<Record<string, string>> = { fast: 'gpt-realtime-mini' }

function sessionOf(ofQuery?: string) {
  const facts = { ...emptyFacts('openai'), requestModel: ofQuery }
  const exchange = exchangeOf()
  const model = new SessionModel(facts, (asked) => ALIASES[asked] ?? asked, new RealtimeErrors(exchange))
  return { facts, exchange, check: (text: string) => model.check(text) }
}

const update = (model: string) => `{"type":"session.update", "session":{ "model":"${model}","speed":1.0}}`

describe('a session without a model in its query', () => {
  it('has the model of the first update that names one', () => {
    const { facts, check } = sessionOf()
    const settings = '{"type":"session.update","session":{"instructions":"be kind"}}'
    expect(check(settings)).toEqual({ kind: 'passed', text: settings })
    expect(facts.requestModel).toBeUndefined()
    expect(check(update('fast'))).toEqual({ kind: 'passed', text: update('gpt-realtime-mini') })
    expect(facts.requestModel).toBe('gpt-realtime-mini')
  })
})

describe('a session with a model', () => {
  it.each(['fast', 'gpt-realtime-mini'])('accepts updates with the same model: %s', (name) => {
    const { check } = sessionOf('gpt-realtime-mini')
    expect(check(update(name))).toEqual({ kind: 'passed', text: update('gpt-realtime-mini') })
  })

  it.each([
    ['as the vendor writes it', update('gpt-realtime')],
    ['with escapes', '{"type":"session\\u002eupdate","session":{"model":"gpt-realtime"}}'],
    ['in upper case', '{"type":"session.update","Session":{"MODEL":"gpt-realtime"}}'],
    ['of a type twice', '{"type":"session.update","type":"x","session":{"model":"gpt-realtime"}}'],
  ])('rejects updates with another model: %s', (_, text) => {
    const { facts, exchange, check } = sessionOf('gpt-realtime-mini')
    const { kind, error } = check(text.replace('{', '{"event_id":"e1",')) as { kind: string; error: string }
    expect([kind, JSON.parse(error)]).toEqual([
      'rejected',
      {
        type: 'error',
        event_id: 'event_gw_1',
        error: {
          type: 'invalid_request_error',
          code: 'invalid_value',
          message: 'the model of a session cannot be changed: open another session',
          param: 'session.model',
          event_id: 'e1',
        },
      },
    ])
    expect(facts.requestModel).toBe('gpt-realtime-mini')
    expect(exchange.errorDetail).toContain('cannot be changed')
  })

  it('accepts no update that is not valid JSON', () => {
    const { check } = sessionOf('m')
    expect(check('{"type":"session.update","x":NaN,"session":{"model":"y"}}')).toMatchObject({ kind: 'rejected' })
  })
})

it.each([
  '{"type":"input_audio_buffer.append","audio":"UklGRg=="}',
  '{"type":"conversation.item.create","item":{"content":[{"text":"a session.update \\n"}]}}',
  '{"type":"session.update","session":null}',
  '{"type":"session.update","session":{"model":null}}',
  'not JSON',
])('other messages pass unchanged: %s', (text) => {
  const { facts, check } = sessionOf()
  expect(check(text)).toEqual({ kind: 'passed', text })
  expect(facts.requestModel).toBeUndefined()
})
