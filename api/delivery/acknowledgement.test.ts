// What the operator hears of the proxies of one Gateway, whatever their number.
import { describe, expect, it } from 'vitest'
import { type Acknowledgement, ACKNOWLEDGEMENTS_MAX, formatFor, readAcknowledgements } from './acknowledgement.ts'

const UID = '0c7a1c0e-4f0b-4a52-9c2f-6f3f6d1a7b11'

function word(more: Partial<Acknowledgement> = {}): Acknowledgement {
  return { generation: 12, gatewayGeneration: 3, gatewayUid: UID, revision: 'a'.repeat(64), reads: 2, ...more }
}

/** As the API server has them: sorted. */
function data(count: number): Record<string, string> {
  const pods = Array.from({ length: count }, (_, i) => `web-7d9c5b7d4f-${String(i).padStart(5, '0')}`)
  return Object.fromEntries(pods.map((pod) => [pod, JSON.stringify(word())]))
}

describe('readAcknowledgements', () => {
  it('counts every proxy of 500, also the last one, the only one that reads just the older format', () => {
    const said = { ...data(500), 'web-z': JSON.stringify(word({ reads: 1 })) }
    const found = readAcknowledgements(said)
    expect(found.size).toBe(501)
    expect(formatFor(found)).toBe(1)
    expect(formatFor(readAcknowledgements(data(500)))).toBe(2)
  })

  it('counts more than fit into a ConfigMap, up to the limit', () => {
    const mebibyte = 1024 * 1024
    const bytes = (count: number): number =>
      Object.entries(data(count)).reduce((sum, [pod, text]) => sum + pod.length + text.length, 0)
    expect(bytes(ACKNOWLEDGEMENTS_MAX)).toBeGreaterThan(mebibyte)
    expect(readAcknowledgements(data(ACKNOWLEDGEMENTS_MAX)).size).toBe(ACKNOWLEDGEMENTS_MAX)
    expect(readAcknowledgements(data(ACKNOWLEDGEMENTS_MAX + 1)).size).toBe(ACKNOWLEDGEMENTS_MAX)
  })

  it('parses an object once, and again when it has changed', () => {
    const said = data(1)
    expect(readAcknowledgements(said)).toBe(readAcknowledgements(said))
    expect(readAcknowledgements({ ...said })).not.toBe(readAcknowledgements(said))
    expect(readAcknowledgements(undefined)).toEqual(new Map())
  })

  it.each([
    ['no JSON', '{'],
    ['another shape', '{"generation":"1"}'],
    ['too long', JSON.stringify(word({ revision: 'r'.repeat(5000) }))],
  ])('does not believe what is %s', (_what, text) => {
    expect(readAcknowledgements({ ...data(1), other: text }).size).toBe(1)
  })
})
