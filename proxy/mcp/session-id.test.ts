import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sessionCodec, type McpSession } from './session-id.ts'

const SESSION: McpSession = {
  scope: 'ns/gw ns/route ns/tools',
  targets: [
    { target: 'a', serverSession: 's-1', endpoint: '10.0.0.1:80', isSkipped: false },
    { target: 'b', serverSession: undefined, endpoint: undefined, isSkipped: true },
  ],
}
const key = randomBytes(32)

describe('sessionCodec', () => {
  it('round-trips with and without a key', () => {
    for (const codec of [sessionCodec(undefined), sessionCodec(key)]) {
      expect(codec.decode(codec.encode(SESSION))).toEqual(SESSION)
    }
  })

  it('gives different ids for equal sessions and hides their content under a key', () => {
    const codec = sessionCodec(key)
    expect(codec.encode(SESSION)).not.toBe(codec.encode(SESSION))
    expect(Buffer.from(codec.encode(SESSION), 'base64url').toString('latin1')).not.toContain('s-1')
    expect(sessionCodec(undefined).encode(SESSION)).not.toBe(sessionCodec(undefined).encode(SESSION))
  })

  it('refuses ids of another key, without seal, changed in any byte, or of another shape', () => {
    const codec = sessionCodec(key)
    const id = codec.encode(SESSION)
    expect(sessionCodec(randomBytes(32)).decode(id)).toBeUndefined()
    expect(codec.decode(sessionCodec(undefined).encode(SESSION))).toBeUndefined()
    const bytes = Buffer.from(id, 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(codec.decode(changed.toString('base64url')), `byte ${at}`).toBeUndefined()
    }
    for (const junk of ['', 'a', 'not valid!', 'x'.repeat(20_000), Buffer.from('{"t":"mcp"}').toString('base64url')]) {
      expect(codec.decode(junk)).toBeUndefined()
      expect(sessionCodec(undefined).decode(junk)).toBeUndefined()
    }
  })
})
