// Which switches of protocols a client may ask for: any, but those that carry HTTP past routes and policies.
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from './handler.ts'
import { parseRequestHead } from './request-parser.ts'

function upgradeOf(value: string): string | undefined {
  const text = `GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: ${value}\r\n\r\n`
  const head = parseRequestHead(text, DEFAULT_LIMITS, 'http')
  if ('code' in head) throw new Error(head.detail)
  return head.request.upgrade
}

describe('upgrade', () => {
  it.each(['websocket', 'WebSocket', 'SPDY/3.1', 'tcp', 'custom/1', 'connect-udp', 'httpx'])(
    '%s is passed on',
    (value) => {
      expect(upgradeOf(value)).toBe(value.toLowerCase())
    },
  )

  it.each([
    'h2c',
    'H2C',
    'h2',
    'HTTP/2.0',
    'http',
    'TLS/1.0',
    'tls',
    'websocket, h2c',
    'a b',
    'a/b/c',
    '',
    '/',
    'x'.repeat(65),
  ])('%j is not, and the request goes its normal way', (value) => {
    expect(upgradeOf(value)).toBeUndefined()
  })
})
