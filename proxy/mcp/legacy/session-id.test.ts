import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { SESSION_MS_MAX, sessionCodec, shownSessionId, type McpSession } from './session-id.ts'

const SESSION: McpSession = {
  scope: 'ns/gw ns/route ns/tools',
  principal: 'digest',
  targets: [
    { target: 'a', serverSession: 's-1', endpoint: '10.0.0.1:80', isSkipped: false, isModern: false },
    { target: 'b', serverSession: undefined, endpoint: undefined, isSkipped: true, isModern: true },
  ],
}
const key = randomBytes(32)
const other = randomBytes(32)

describe('sessionCodec', () => {
  it('round-trips', () => {
    const codec = sessionCodec([key])
    expect(codec.decode(codec.encode(SESSION))).toEqual(SESSION)
  })

  it('returns different ids for equal sessions and hides their content', () => {
    const codec = sessionCodec([key])
    expect(codec.encode(SESSION)).not.toBe(codec.encode(SESSION))
    const plain = Buffer.from(codec.encode(SESSION), 'base64url').toString('latin1')
    for (const part of ['s-1', 'digest', '10.0.0.1']) expect(plain).not.toContain(part)
  })

  it('opens ids of previous keys, and seals with the first', () => {
    const before = sessionCodec([other]).encode(SESSION)
    const rotated = sessionCodec([key, other])
    expect(rotated.decode(before)).toEqual(SESSION)
    expect(sessionCodec([key]).decode(rotated.encode(SESSION))).toEqual(SESSION)
    expect(sessionCodec([other]).decode(rotated.encode(SESSION))).toBe('Over')
  })

  it('has room for 128 servers in a field that Node.js clients read', () => {
    const targets = Array.from({ length: 128 }, (_, index) => ({
      target: `team-mcp-tools-${index}-http`,
      serverSession: randomUUID(),
      endpoint: `10.244.${index}.117:8080`,
      isSkipped: false,
      isModern: false,
    }))
    const client = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x'.repeat(1900), version: '1' },
    }
    const codec = sessionCodec([key])
    const id = codec.encode({ ...SESSION, targets, client })
    expect(id.length).toBeLessThan(16_000)
    expect(codec.decode(id)).toEqual({ ...SESSION, targets, client })
  })

  it('leaves out the client if the ids of the servers are long, and rejects ids that no field can hold', () => {
    const client = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x'.repeat(1900), version: '1' },
    }
    const targets = (bytes: number): McpSession['targets'] =>
      SESSION.targets.map((target) => ({ ...target, serverSession: randomBytes(bytes).toString('hex') }))
    const codec = sessionCodec([key])
    const long = { ...SESSION, targets: targets(4100) }
    expect(codec.decode(codec.encode({ ...long, client }))).toEqual(long)
    expect(() => codec.encode({ ...SESSION, targets: targets(8000) })).toThrow('too long for one id')
  })

  it('ends sessions after a day', () => {
    let nowMs = 1_750_000_000_000
    const codec = sessionCodec([key], () => nowMs)
    const id = codec.encode(SESSION)
    nowMs += SESSION_MS_MAX - 1
    expect(codec.decode(id)).toEqual(SESSION)
    nowMs += 1
    expect(codec.decode(id)).toBe('Over')
  })

  it('opens an id once, and rejects it where its key is not listed', () => {
    const keys = [key]
    const id = sessionCodec(keys).encode(SESSION)
    const opened = sessionCodec(keys).decode(id)
    // Of another backend.
    expect(sessionCodec(keys).decode(Buffer.from(id).toString())).toBe(opened)
    expect(sessionCodec([other]).decode(id)).toBe('Over')
    expect(sessionCodec(keys).decode(`${id.slice(0, -2)}AA`)).toBeUndefined()
  })

  it('rejects ids that are not sealed, changed in any byte, or of another shape', () => {
    const codec = sessionCodec([key])
    const bytes = Buffer.from(codec.encode(SESSION), 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      // Another id of a key is an unknown key.
      const expected = at >= 1 && at <= 4 ? 'Over' : undefined
      expect(codec.decode(changed.toString('base64url')), `byte ${at}`).toBe(expected)
    }
    const readable = Buffer.from(JSON.stringify({ t: 'mcp', k: SESSION.scope, p: '', expires: 9e9, s: [] }))
    const marked = Buffer.concat([bytes.subarray(0, 5), readable])
    for (const junk of [
      '',
      'a',
      'not valid!',
      'x'.repeat(20_000),
      ...[readable, marked].map((one) => one.toString('base64url')),
    ]) {
      expect(codec.decode(junk)).toBeUndefined()
    }
  })
})

it('shows an id only as its digest', () => {
  const id = sessionCodec([key]).encode(SESSION)
  expect(shownSessionId(id)).toMatch(/^[0-9a-f]{16}$/)
  expect(shownSessionId(id)).toBe(shownSessionId(id))
  expect(shownSessionId(id)).not.toBe(shownSessionId(`${id}A`))
  const codec = sessionCodec([key])
  const unopened = codec.shown(id)
  codec.decode(id)
  expect([unopened, codec.shown(id)]).toEqual([shownSessionId(id), shownSessionId(id)])
})
